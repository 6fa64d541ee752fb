// SPDX-License-Identifier: Apache-2.0
#include "mapper/why.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/mapper/random_space.hpp"

namespace mapsim::why_test {
namespace {

TEST(CompareEnergy, AddsUpToTheDifferenceOfTheTotals) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SearchCase drawn = random_space(seed);
    const Mapspace space(drawn.problem, drawn.constraints);
    const SearchResult best = search_exact(space, {});
    SearchOptions options;
    options.evaluations = 50;
    options.objective = Objective::kLatency;
    const SearchResult other = search_random(space, options);
    if (!best.cost || !other.cost) {
      continue;
    }
    double sum = 0;
    double last = std::numeric_limits<double>::infinity();
    for (const EnergyShare& share : compare_energy(drawn.problem, *other.cost, *best.cost)) {
      EXPECT_LE(share.difference_pj, last);
      last = share.difference_pj;
      sum += share.difference_pj;
    }
    const double difference = other.cost->energy.total.count() - best.cost->energy.total.count();
    EXPECT_NEAR(sum, difference, 1e-9 * other.cost->energy.total.count());
  }
}

TEST(WhatWouldHelp, IsWhatSearchingTheLargerMachineFinds) {
  int gained = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const SearchCase drawn = random_space(seed);
    const Mapspace space(drawn.problem, drawn.constraints);
    const SearchResult best = search_exact(space, {});
    if (!best.cost) {
      continue;
    }
    for (const Relief& relief : what_would_help(space, {}, *best.cost)) {
      EXPECT_GE(relief.gain, -1e-9) << relief.resource;  // more room never hurts
      gained += relief.gain > 1e-9 ? 1 : 0;
      for (const LevelId l : drawn.problem.arch().levels.ids()) {
        if (relief.resource == drawn.problem.arch().levels[l].name + " capacity") {
          Arch arch = drawn.problem.arch();
          arch.levels[l].capacity.shared = Bits{2 * arch.levels[l].capacity.shared->count()};
          const Problem larger(arch, drawn.problem.workload());
          const SearchResult again = search_exact(Mapspace(larger, drawn.constraints), {});
          EXPECT_EQ(again.cost->energy.total.count(), relief.value);
        }
      }
    }
  }
  EXPECT_GT(gained, 0);
}

TEST(WhatWouldHelp, ClaimsNothingThatItHadNoTimeFor) {
  const SearchCase drawn = random_space(1);
  const Mapspace space(drawn.problem, drawn.constraints);
  const SearchResult best = search_exact(space, {});
  ASSERT_TRUE(best.cost);
  SearchOptions options;
  options.budget.seconds = 0;
  const std::vector<Relief> reliefs = what_would_help(space, options, *best.cost);
  EXPECT_EQ(reliefs.size(), what_would_help(space, {}, *best.cost).size());
  for (const Relief& relief : reliefs) {
    EXPECT_FALSE(relief.known) << relief.resource;
  }
}

}  // namespace
}  // namespace mapsim::why_test
