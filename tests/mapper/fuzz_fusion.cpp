// SPDX-License-Identifier: Apache-2.0
// Compares search_chain() with brute force on tiny chains: fuzz_fusion FIRST COUNT. From seed
// 2,000,000 on the machines have ports, so that objectives with time are compared, too.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check/fused_bound.hpp"
#include "mapper/fusion/chain_front.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace {

using namespace mapsim;

double least_of(const std::vector<TreePoint>& front, const Objective& objective) {
  double least = HUGE_VAL;
  for (const TreePoint& point : front) {
    least =
        std::min(least, objective.function.value(point.energy, static_cast<double>(point.cycles)));
  }
  return least;
}

struct FuzzStatistics {
  int wrong = 0;
  int fused = 0;
  std::int64_t trees = 0;
};
// The checker's own bounds of sums, too, are what brute force finds.
void compare_checker(const TinyChain& tiny, std::uint64_t seed,
                     const std::vector<Objective>& objectives, const std::vector<TreePoint>& front,
                     FuzzStatistics& statistics) {
  for (const Objective& objective : objectives) {
    if (front.empty() || !check::is_sum_over_einsums(objective.function)) {
      continue;
    }
    const double expected = least_of(front, objective);
    const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
    const double bound =
        check::bound_trees(tiny.arch, tiny.chain, space, objective.function, 2 * expected, {})
            .value;
    if (!(std::abs(bound - expected) <= 1e-9 * expected)) {
      ++statistics.wrong;
      fmt::print("seed {}: {}: the checker's bound is {}, brute force {}\n{}", seed,
                 to_string(objective), bound, expected, describe(tiny));
      std::fflush(stdout);
    }
  }
}
void compare(const TinyChain& tiny, std::uint64_t seed, FuzzStatistics& statistics) {
  const bool is_large = seed >= kFirstLarge && seed < kFirstLargeTimed;
  const bool is_timed =
      seed >= kFirstDeepTimed || (seed >= kFirstTimed && !is_large && seed < kFirstWide);
  std::vector<Objective> objectives{Objective::kEnergy};
  if (is_timed) {
    objectives = {Objective::kLatency, Objective::kEdp,
                  Objective{ObjectiveFunction::weighted_sum(20)},
                  Objective{ObjectiveFunction::product(1, 2)}};
  }
  const std::vector<TreePoint> front =
      front_by_force(tiny.arch, tiny.chain, is_timed, statistics.trees);
  bool pays = false;
  for (const Objective& objective : objectives) {
    SearchOptions options;
    options.objective = objective;
    const double expected = least_of(front, objective);
    const auto value = [&](const FusionLimits& limits) {
      const ChainResult found = search_chain(tiny.arch, tiny.chain, limits, options);
      const double least = found.cost ? value_of(objective, *found.cost) : HUGE_VAL;
      return found.proven ? least : -least;
    };
    const double found = value({});
    pays = pays || found < value({1, true}) * (1 - 1e-9);
    if (!(std::abs(found - expected) <= 1e-9 * expected) && found != expected) {
      ++statistics.wrong;
      fmt::print("seed {}: {}: found {}, brute force {}\n{}", seed, to_string(objective), found,
                 expected, describe(tiny));
      std::fflush(stdout);
    }
  }
  statistics.fused += pays ? 1 : 0;
  compare_checker(tiny, seed, objectives, front, statistics);
  if (is_timed) {
    const ChainFront found = search_chain_front(tiny.arch, tiny.chain, {}, {});
    bool same = found.complete && found.points.size() == front.size();
    for (std::size_t i = 0; same && i < front.size(); ++i) {
      const TreeCost& cost = found.points[i].cost;
      same = cost.latency.count() == front[i].cycles &&
             std::abs(cost.energy.count() - front[i].energy) <= 1e-9 * front[i].energy;
    }
    if (!same) {
      ++statistics.wrong;
      fmt::print("seed {}: a front of {} points, brute force {}\n{}", seed, found.points.size(),
                 front.size(), describe(tiny));
    }
  }
}

// Sums wider than what comes of them: no brute force, but what the search finds must fit and come
// to what it is said to come to, and what is found layer by layer is no better.
void look_at_widths(std::uint64_t seed, FuzzStatistics& statistics) {
  const TinyChain tiny = wide_tiny_chain(seed, 6);
  const ChainResult apart = search_chain(tiny.arch, tiny.chain, {1, 0, true}, {});
  const ChainResult found = search_chain(tiny.arch, tiny.chain, {}, {});
  const auto least = [](const ChainResult& result) {
    return result.cost ? result.cost->energy.count() : HUGE_VAL;
  };
  statistics.fused += least(found) < least(apart) ? 1 : 0;
  const bool is_right =
      found.proven && least(found) <= least(apart) &&
      (!found.cost || std::abs(found.lower_bound - least(found)) <= 1e-9 * least(found));
  if (!is_right) {
    ++statistics.wrong;
    fmt::print("seed {}: {} pJ, bound {}, layer by layer {} pJ\n{}", seed, least(found),
               found.lower_bound, least(apart), describe(tiny));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100;
  FuzzStatistics statistics;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    if (seed >= kFirstWide + kFirstSpread && seed < kFirstDeep) {
      look_at_widths(seed, statistics);
    } else {
      compare(tiny_chain(seed), seed, statistics);
    }
  }
  fmt::print("{} chains, {} branches costed, fused best in {}, {} wrong\n", count, statistics.trees,
             statistics.fused, statistics.wrong);
  return statistics.wrong > 0 ? 1 : 0;
}
