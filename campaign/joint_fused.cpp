// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "campaign/fused_network.hpp"
#include "campaign/limited_choice.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "mapper/shared_budget.hpp"

// Total energy and total latency are sums over chains, so the least of energy + weight * latency is
// the sum of the chains' least, and the least product of the totals is a vertex of the hull of such
// sums (mapper/fusion/chain_hull.hpp). All copies of a chain have one tree: where two have
// different ones, giving both one of the two moves the totals along a line, on which no point
// between is better than both ends. Where a chain may have its layers one by one instead, its least
// sum is the less of that of its trees and that of its layers.
//
// Within limits on the totals the best choice need not be a vertex, and copies of a chain may have
// different trees. The hull bounds all choices; the best one is chosen among what the searches for
// the hull have found of each chain (campaign/limited_choice.hpp).

namespace mapsim {

namespace {

using fusion::ChainSums;
using fusion::Hull;
using fusion::HullPoint;
using fusion::LeastSum;

constexpr std::size_t kWays = 3;
constexpr double kCloseEnough = 1e-9;  // relative gap of a proof

// The layers of a chain one by one, and what crosses memory beside them; no layers: the chain has
// no other way.
struct Layers {
  std::vector<std::pair<ChainSums*, double>> sums;  // how often
  HullPoint streams{};
};

// What a chain has in a choice: a tree, or its layers one by one.
struct Chosen {
  HullPoint figures;
  std::optional<ChainPoint> tree;
};
// ... and how many of its copies.
struct Share {
  Chosen chosen;
  std::int64_t count = 1;
};

// A way to run the network: what is known of its chains, and the best choice so far.
struct Way {
  std::vector<ChainSums*> sums;
  fusion::Hull hull;
  HullPoint chains{};          // the sums of the best choice, without streams
  std::vector<Chosen> choice;  // of the chains that count
};

fusion::HullLimits limits_of(const Objective& objective) {
  fusion::HullLimits limits;
  if (objective.max_energy) {
    limits.energy = objective.max_energy->count();
  }
  if (objective.max_latency) {
    limits.cycles = static_cast<double>(objective.max_latency->count());
  }
  return limits;
}

HullPoint sum_of(const HullPoint& a, const HullPoint& b, double count) {
  return {a.energy + count * b.energy, a.cycles + count * b.cycles};
}

class JointChains {
 public:
  JointChains(const Arch& arch, const FusionLimits& limits, const SearchOptions& options,
              const ChainProgress& progress, FusedNetwork& fused)
      : options_{options},
        limits_{limits_of(options.objective)},
        budget_{options},
        progress_{progress},
        fused_{fused} {
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
    for (const NetworkChain& chain : fused.graph.chains) {
      add_layers(arch, chain);
    }
  }

  void run() {
    const std::size_t chains = fused_.graph.chains.size();
    counts_.assign(chains, true);
    known_.resize(chains);
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
        least_cycles += counts_[i] ? count_of(i) * least_cycles_of(w, i) : 0;
      }
      ways_[w].hull = fusion::search_hull(
          options_.objective.function, w + 1 == kWays ? limits_ : fusion::HullLimits{},
          least_cycles, [&](double weight) { return least(w, weight); });
    }
    report(first);
  }

 private:
  // Layers that several chains have are searched once. Where the only einsum of a chain is its
  // layer, and nothing else crosses memory, both ways are one.
  void add_layers(const Arch& arch, const NetworkChain& chain) {
    Layers& layers = layers_.emplace_back();
    const bool is_alike =
        chain.chain.einsums.size() == 1 && chain.unfused.layers.size() == 1 &&
        chain.unfused.streams.empty() &&
        is_alike_but_for_names(chain.chain.einsums[0], chain.unfused.layers[0].workload);
    if (is_alike) {
      return;
    }
    layers.streams = mapsim::streams_of(arch, chain.unfused);
    for (const NodeLayer& layer : chain.unfused.layers) {
      auto known = std::find_if(alone_.begin(), alone_.end(), [&](const auto& one) {
        return is_alike_but_for_names(one.first.einsums[0], layer.workload);
      });
      if (known == alone_.end()) {
        const EinsumChain& single = alone_.emplace_back(chain_of(layer.workload), nullptr).first;
        known = std::prev(alone_.end());
        known->second = &sums_.emplace_back(arch, single, FusionLimits{1, 0, false});
      }
      layers.sums.emplace_back(known->second, static_cast<double>(layer.count));
    }
  }
  static bool is_alike_but_for_names(Workload a, const Workload& b) {
    a.name = b.name;
    a.note = b.note;
    return a == b;
  }
  // Has a chain its layers one by one for another way? Only where it may be fused.
  bool has_layers(std::size_t w, std::size_t i) const {
    return w + 1 == kWays && !layers_[i].sums.empty();
  }
  double least_cycles_of(std::size_t w, std::size_t i) const {
    double least = ways_[w].sums[i]->least_cycles();
    if (has_layers(w, i)) {
      double layers = layers_[i].streams.cycles;
      for (const auto& [sums, count] : layers_[i].sums) {
        layers += count * sums->least_cycles();
      }
      least = std::min(least, layers);
    }
    return least;
  }

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
    const auto searches = 2 * static_cast<double>(fused_.graph.chains.size() - i);
    return ways_[w].sums[i]->least(weight, budget_.share(searches));
  }
  // Of the layers of a chain one by one.
  LeastSum least_of_layers(std::size_t i, double weight) {
    LeastSum sum{layers_[i].streams, layers_[i].streams.along(weight), true};
    for (const auto& [sums, count] : layers_[i].sums) {
      const auto searches = 2 * static_cast<double>((layers_.size() - i) * layers_[i].sums.size());
      const LeastSum one = sums->least(weight, budget_.share(searches));
      sum.bound += count * one.bound;
      sum.proven = sum.proven && one.proven;
      sum.best =
          sum.best && one.best ? std::optional(sum_of(*sum.best, *one.best, count)) : std::nullopt;
    }
    return sum;
  }
  // ... or of a tree, whichever is less, and which one that is.
  LeastSum least_of_chain(std::size_t w, std::size_t i, double weight, Chosen& chosen) {
    LeastSum least = least_of(w, i, weight);
    chosen = {*least.best, ways_[w].sums[i]->best(weight)};
    if (has_layers(w, i)) {
      const LeastSum layers = least_of_layers(i, weight);
      least.bound = std::min(least.bound, layers.bound);
      least.proven = least.proven && layers.proven;
      if (layers.best && is_less(layers.best->along(weight), least.best->along(weight))) {
        least.best = layers.best;
        chosen = {*layers.best, std::nullopt};
      }
    }
    return least;
  }
  LeastSum least(std::size_t w, double weight) {
    LeastSum sum{streams_of(w), 0, true};
    sum.bound = sum.best->along(weight);
    HullPoint chains;
    std::vector<Chosen> choice;
    for (std::size_t i = 0; i < fused_.graph.chains.size(); ++i) {
      if (!counts_[i]) {
        continue;
      }
      const LeastSum one = least_of_chain(w, i, weight, choice.emplace_back());
      if (limits_.any()) {
        known_[i].push_back(choice.back());
      }
      chains = sum_of(chains, *one.best, count_of(i));
      sum.bound += count_of(i) * one.bound;
      sum.proven = sum.proven && one.proven;
    }
    sum.best = sum_of(*sum.best, chains, 1);
    if (ways_[w].choice.empty() || value_of(chains, w) < value_of(ways_[w].chains, w)) {
      ways_[w].chains = chains;
      ways_[w].choice = std::move(choice);
    }
    return sum;
  }
  // A search that was stopped may have less than what every layer by itself has.
  void know_layers_by_themselves() {
    HullPoint chains;
    std::vector<Chosen> choice;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const UnfusedChain* apart = i < fused_.apart.size() ? &fused_.apart[i] : nullptr;
      if (counts_[i] && (apart == nullptr || !apart->figures)) {
        return;
      }
      if (counts_[i]) {
        chains = sum_of(chains, *apart->figures, count_of(i));
        choice.push_back({*apart->figures, std::nullopt});
      }
    }
    Way& way = ways_.back();
    if (!choice.empty() && is_less(value_of(chains, kWays - 1), value_of(way.chains, kWays - 1))) {
      way.chains = chains;
      way.choice = std::move(choice);
    }
  }

  // What the copies of each chain have, of the way that is the least for the widest one: one
  // choice for all, unless limits divide them. Empty: no choice keeps the limits.
  std::vector<std::vector<Share>> shares_of(std::size_t last) {
    std::vector<std::vector<Share>> shares;
    if (limits_.any() && last + 1 == kWays) {
      return shares_within_limits();
    }
    const auto least =
        std::min_element(ways_.begin(), ways_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                         [&](const Way& a, const Way& b) {
                           return value_of(a.chains, last) < value_of(b.chains, last);
                         });
    std::size_t place = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      shares.emplace_back();
      if (counts_[i]) {
        shares.back().push_back({least->choice[place++], fused_.graph.chains[i].count});
      }
    }
    return shares;
  }

  std::vector<std::vector<Share>> shares_within_limits() {
    const HullPoint streams = streams_of(kWays - 1);
    std::vector<CopiesOfChain> chains;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] && i < fused_.apart.size() && fused_.apart[i].figures) {
        known_[i].push_back({*fused_.apart[i].figures, std::nullopt});
      }
      chains.push_back({fused_.graph.chains[i].count, {}});
      for (const Chosen& known : known_[i]) {
        chains.back().points.push_back(known.figures);
      }
    }
    const auto choice = choose_copies(options_.objective.function, limits_, streams, chains);
    std::vector<std::vector<Share>> shares;
    for (std::size_t i = 0; choice && i < counts_.size(); ++i) {
      shares.emplace_back();
      for (const auto& [point, copies] : choice->copies[i]) {
        shares.back().push_back({known_[i][point], copies});
      }
    }
    if (choice) {
      Hull& hull = ways_.back().hull;
      hull.best = choice->total;
      const double value = options_.objective.function.value(hull.best->energy, hull.best->cycles);
      hull.proven = value <= hull.lower_bound * (1 + kCloseEnough);
    }
    return shares;
  }

  // A row for each share of the copies of a chain.
  void report(const std::vector<std::array<LeastSum, kWays>>& first) {
    if (!limits_.any()) {
      know_layers_by_themselves();
    }
    const std::array<std::vector<std::vector<Share>>, kWays> shares{shares_of(0), shares_of(1),
                                                                    shares_of(2)};
    std::vector<NetworkChain> chains;
    std::vector<UnfusedChain> apart;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const bool is_divided = counts_[i] && !shares.back().empty();
      const std::size_t rows = is_divided ? shares.back()[i].size() : 1;
      for (std::size_t row = 0; row < rows; ++row) {
        chains.push_back(fused_.graph.chains[i]);
        apart.push_back(i < fused_.apart.size() ? fused_.apart[i] : UnfusedChain{});
        ChainComparison comparison{options_.objective, {}, {}, {}};
        const std::array<ChainResult*, kWays> results{&comparison.spilled, &comparison.on_chip,
                                                      &comparison.fused};
        for (std::size_t w = 0; w < kWays; ++w) {
          if (row == 0) {  // what the searches took counts once
            *results[w] = ways_[w].sums[i]->effort();
          }
          results[w]->proven = first[i][w].proven;
          const bool is_last = w + 1 == kWays;
          if (!counts_[i] || (is_last && !is_divided)) {
            continue;
          }
          const Share& share = shares[w][i][is_last ? row : 0];
          if (is_last) {
            chains.back().count = share.count;
          }
          if (share.chosen.tree) {
            results[w]->best = share.chosen.tree->tree;
            results[w]->cost = share.chosen.tree->cost;
          } else {
            apart.back().chosen = share.chosen.figures;
          }
          results[w]->proven = ways_.back().hull.proven;
        }
        fused_.found.push_back(std::move(comparison));
      }
    }
    fused_.graph.chains = std::move(chains);
    fused_.apart = std::move(apart);
    fused_.joint = ways_.back().hull;
  }

  const SearchOptions& options_;
  fusion::HullLimits limits_;
  SharedBudget budget_;
  const ChainProgress& progress_;
  FusedNetwork& fused_;
  std::deque<ChainSums> sums_;
  std::deque<std::pair<EinsumChain, ChainSums*>> alone_;  // layers
  std::vector<Layers> layers_;                            // per chain
  std::array<Way, kWays> ways_;
  std::vector<bool> counts_;
  std::vector<std::vector<Chosen>> known_;  // of each chain, where there are limits
};

}  // namespace

void choose_trees_jointly(const Arch& arch, const FusionLimits& limits,
                          const SearchOptions& options, const ChainProgress& progress,
                          FusedNetwork& fused) {
  JointChains{arch, limits, options, progress, fused}.run();
}

}  // namespace mapsim
