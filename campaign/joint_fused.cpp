// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "campaign/fused_network.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "mapper/fusion/shared_budget.hpp"

// Total energy and total latency are sums over chains, so the least of energy + weight * latency is
// the sum of the chains' least, and the least product of the totals is a vertex of the hull of such
// sums (mapper/fusion/chain_hull.hpp). All copies of a chain have one tree: where two have
// different ones, giving both one of the two moves the totals along a line, on which no point
// between is better than both ends.

namespace mapsim {

namespace {

using fusion::ChainSums;
using fusion::HullPoint;
using fusion::LeastSum;

constexpr std::size_t kWays = 3;

// A way to run the network: what is known of its chains, and the best choice so far.
struct Way {
  std::vector<ChainSums*> sums;
  fusion::Hull hull;
  HullPoint chains{};              // the sums of the best choice, without streams
  std::vector<ChainPoint> choice;  // of the chains that count
};

class JointChains {
 public:
  JointChains(const Arch& arch, const FusionLimits& limits, const SearchOptions& options,
              const ChainProgress& progress, FusedNetwork& fused)
      : options_{options}, budget_{options}, progress_{progress}, fused_{fused} {
    const std::array<FusionLimits, kWays> spaces{FusionLimits{1, 0, false},
                                                 FusionLimits{1, 0, true}, limits};
    for (std::size_t w = 0; w < kWays; ++w) {
      for (const NetworkChain& chain : fused.graph.chains) {
        const std::size_t i = ways_[w].sums.size();
        if (w > 0 && chain.chain.einsums.size() == 1) {  // all ways are one
          ways_[w].sums.push_back(ways_[0].sums[i]);
        } else {
          ways_[w].sums.push_back(&sums_.emplace_back(arch, chain.chain, spaces[w]));
        }
      }
    }
  }

  void run() {
    const std::size_t chains = fused_.graph.chains.size();
    counts_.assign(chains, true);
    // Chains without a mapping are in no sum.
    std::vector<std::array<LeastSum, kWays>> first(chains);
    for (std::size_t w = 0; w < kWays; ++w) {
      inherit(w);
      for (std::size_t i = 0; i < chains; ++i) {
        first[i][w] = least_of(w, i, 0);
        counts_[i] = counts_[i] && first[i][w].best.has_value();
      }
    }
    const bool any = std::find(counts_.begin(), counts_.end(), true) != counts_.end();
    for (std::size_t w = 0; any && w < kWays; ++w) {
      inherit(w);
      double least_cycles = streams_of(w).cycles;
      for (std::size_t i = 0; i < chains; ++i) {
        least_cycles += counts_[i] ? count_of(i) * ways_[w].sums[i]->least_cycles() : 0;
      }
      ways_[w].hull = fusion::search_hull(options_.objective.function, least_cycles,
                                          [&](double weight) { return least(w, weight); });
    }
    report(first);
  }

 private:
  // Only the widest way lets sums of branches ride.
  HullPoint streams_of(std::size_t w) const { return mapsim::streams_of(fused_, w + 1 == kWays); }
  double value_of(const HullPoint& chains, std::size_t w) const {
    const HullPoint streams = streams_of(w);
    return options_.objective.function.value(streams.energy + chains.energy,
                                             streams.cycles + chains.cycles);
  }
  double count_of(std::size_t i) const { return static_cast<double>(fused_.graph.chains[i].count); }
  // What the way before found is in this one's space.
  void inherit(std::size_t w) {
    for (std::size_t i = 0; w > 0 && i < ways_[w].sums.size(); ++i) {
      if (ways_[w].sums[i] != ways_[w - 1].sums[i]) {
        ways_[w].sums[i]->know(*ways_[w - 1].sums[i]);
      }
    }
  }
  LeastSum least_of(std::size_t w, std::size_t i, double weight) {
    progress_(fused_.graph, i);
    // Half of the time that is left is for this weight; each chain has an even share of it.
    SearchOptions share = budget_.rest();
    share.budget.seconds /= 2 * static_cast<double>(fused_.graph.chains.size() - i);
    return ways_[w].sums[i]->least(weight, share);
  }
  LeastSum least(std::size_t w, double weight) {
    LeastSum sum{streams_of(w), 0, true};
    sum.bound = sum.best->along(weight);
    HullPoint chains;
    std::vector<ChainPoint> choice;
    for (std::size_t i = 0; i < fused_.graph.chains.size(); ++i) {
      if (!counts_[i]) {
        continue;
      }
      const LeastSum one = least_of(w, i, weight);
      chains.energy += count_of(i) * one.best->energy;
      chains.cycles += count_of(i) * one.best->cycles;
      sum.bound += count_of(i) * one.bound;
      sum.proven = sum.proven && one.proven;
      choice.push_back(ways_[w].sums[i]->best(weight));
    }
    sum.best->energy += chains.energy;
    sum.best->cycles += chains.cycles;
    if (ways_[w].choice.empty() || value_of(chains, w) < value_of(ways_[w].chains, w)) {
      ways_[w].chains = chains;
      ways_[w].choice = std::move(choice);
    }
    return sum;
  }

  void report(const std::vector<std::array<LeastSum, kWays>>& first) {
    const auto least_way = [&](std::size_t last) {
      return std::min_element(ways_.begin(), ways_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                              [&](const Way& a, const Way& b) {
                                return value_of(a.chains, last) < value_of(b.chains, last);
                              });
    };
    std::size_t place = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      ChainComparison comparison{options_.objective, {}, {}, {}};
      const std::array<ChainResult*, kWays> results{&comparison.spilled, &comparison.on_chip,
                                                    &comparison.fused};
      for (std::size_t w = 0; w < kWays; ++w) {
        *results[w] = ways_[w].sums[i]->effort();
        results[w]->proven = first[i][w].proven;
        if (counts_[i]) {
          // A way that was stopped early may take what a narrower one found.
          const ChainPoint& chosen = least_way(w)->choice[place];
          results[w]->best = chosen.tree;
          results[w]->cost = chosen.cost;
          results[w]->proven = ways_[2].hull.proven;
        }
      }
      place += counts_[i] ? 1 : 0;
      fused_.found.push_back(std::move(comparison));
    }
    fused_.joint = ways_[2].hull;
  }

  const SearchOptions& options_;
  SharedBudget budget_;
  const ChainProgress& progress_;
  FusedNetwork& fused_;
  std::deque<ChainSums> sums_;
  std::array<Way, kWays> ways_;
  std::vector<bool> counts_;
};

}  // namespace

void choose_trees_jointly(const Arch& arch, const FusionLimits& limits,
                          const SearchOptions& options, const ChainProgress& progress,
                          FusedNetwork& fused) {
  JointChains{arch, limits, options, progress, fused}.run();
}

}  // namespace mapsim
