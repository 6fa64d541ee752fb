// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mapper/mapper.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::leakage_test {
namespace {

// A machine whose leakage over a cycle is of the order of an access.
Problem leaking(const Problem& problem, std::uint64_t seed) {
  Arch arch = problem.arch();
  arch.clock = Hertz{1e9};
  arch.leaks = true;
  for (const LevelId l : arch.levels.ids()) {
    const auto microwatts = static_cast<double>((seed + index_of(l)) % 5) * 100000;
    arch.levels[l].physical.leakage = Milliwatts{microwatts / 1000};
  }
  arch.compute.physical.leakage = Milliwatts{20};
  return {arch, problem.workload()};
}

class Leakage : public ::testing::TestWithParam<int> {};

TEST_P(Leakage, IsPartOfTheProvenOptimum) {
  int moved = 0;
  for (int i = 0; i < 30; ++i) {
    const auto seed = static_cast<std::uint64_t>(1000 * GetParam() + i);
    const SearchCase drawn = random_space(seed, 3000);
    const Problem problem = leaking(drawn.problem, seed);
    ASSERT_GT(problem.leakage(Cycles{1}), Picojoules{0});
    const Mapspace space(problem, drawn.constraints);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      const SearchResult exact = search_exact(space, options);
      const SearchResult all = search_exhaustive(space, options);
      ASSERT_EQ(exact.cost.has_value(), all.cost.has_value()) << "seed " << seed;
      if (exact.cost) {
        const double optimum = objective_value(objective, *all.cost);
        EXPECT_NEAR(objective_value(objective, *exact.cost), optimum, 1e-9 * optimum)
            << "seed " << seed;
      }
    }
    const SearchResult without = search_exact(Mapspace(drawn.problem, drawn.constraints), {});
    const SearchResult with = search_exact(space, {});
    if (with.cost) {
      moved += with.cost->latency.steady < without.cost->latency.steady ? 1 : 0;
    }
  }
  EXPECT_GT(moved, 0) << "leakage never made a faster mapping the better one";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Leakage, testing::Range(0, 4));

}  // namespace
}  // namespace mapsim::leakage_test
