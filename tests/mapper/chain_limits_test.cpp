// SPDX-License-Identifier: Apache-2.0
// Limits on the mapping trees of a chain, against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "mapper/fusion/chain_search.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim::chain_limits_test {
namespace {

// Limits that bind and limits that do not: of every point of the front the best that keeps them.
TEST(Fusion, KeepsLimitsAsBruteForceDoes) {
  std::int64_t trees = 0;
  std::int64_t bound = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'012U, 3'000'012U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, true, trees);
    std::vector<Objective> limits(1);
    limits[0].max_energy = Picojoules{1e12};
    for (const TreePoint& point : front) {
      limits.emplace_back().max_energy = Picojoules{point.energy};
      limits.emplace_back().max_latency = Cycles{point.cycles};
      limits.emplace_back().max_latency = Cycles{point.cycles - 1};
    }
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp,
                                       Objective{ObjectiveFunction::weighted_sum(20)}}) {
      for (SearchOptions options; const Objective& limit : limits) {
        options.objective = limit;
        options.objective.function = objective.function;
        const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, options);
        EXPECT_TRUE(best.proven);
        double least = std::numeric_limits<double>::infinity();
        double whatever = least;
        for (const TreePoint& point : front) {
          const auto cycles = static_cast<double>(point.cycles);
          const double value = objective.function.value(point.energy, cycles);
          whatever = std::min(whatever, value);
          least = is_within_limits(limit, point.energy, cycles) ? std::min(least, value) : least;
        }
        bound += least > whatever ? 1 : 0;
        ASSERT_EQ(best.cost.has_value(), least < std::numeric_limits<double>::infinity());
        if (best.cost) {
          EXPECT_NEAR(value_of(objective, *best.cost), least, 1e-9 * least) << "seed " << seed;
          EXPECT_NEAR(best.lower_bound, least, 1e-9 * least) << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(bound, 0);
}

}  // namespace
}  // namespace mapsim::chain_limits_test
