// SPDX-License-Identifier: Apache-2.0
// Bounds by phases (mapper/bounds/phases.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "exact_check.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "phase_cases.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::phases_test {
namespace {

// Per class of unrollings the least value of all mappings.
std::vector<double> optima_of(const Mapspace& space, const Objective& objective) {
  std::vector<double> best(space.unrolling_classes().size(), exact::kInfinity);
  space.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(space.problem(), mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      const auto used = used_instances(space.problem(), mapping);
      for (std::size_t g = 0; g < best.size(); ++g) {
        if (space.unrolling_classes()[g].factors == used) {
          best[g] = std::min(best[g], objective_value(objective, *cost));
        }
      }
    }
    return true;
  });
  return best;
}

// Holds the bounds of all classes to all mappings. Returns how many are at least a thousandth above
// the bound without phases.
int closer_bounds(const Mapspace& space, const Objective& objective, const std::string& name) {
  const exact::UnrollingTasks classes{space, objective};
  const std::vector<double> best = optima_of(space, objective);
  std::vector<double> bounds;
  int closer = 0;
  for (std::size_t g = 0; g < classes.size(); ++g) {
    const double bound = classes.bound_by_phases(g, exact::kInfinity).first;
    bounds.push_back(bound);
    EXPECT_GE(bound, classes.bound(g).first * (1 - 3 * kRounding)) << name;
    closer += bound > classes.bound(g).first * 1.001 ? 1 : 0;
    const double enough = 0.9 * bound;
    EXPECT_GE(classes.bound_by_phases(g, enough).first, enough * (1 - kRounding)) << name;
  }
  for (std::size_t g = 0; g < classes.size(); ++g) {
    double least = bounds[g];  // of the classes from which the mappings cannot be told
    for (std::size_t h = 0; h < classes.size(); ++h) {
      least = classes.unrolling(h).factors == classes.unrolling(g).factors
                  ? std::min(least, bounds[h])
                  : least;
    }
    EXPECT_LE(least, best[g] * (1 + kRounding)) << name << ", class " << g;
  }
  return closer;
}

// Whatever the tiles and loops, with windows, partial tiles and idle instances.
TEST(Phases, AreNoMoreThanAnyMappingOfTheirClassCosts) {
  int closer = 0;
  constexpr std::uint64_t kFirst = 90'000;
  for (std::uint64_t seed = kFirst; seed < kFirst + tried_of(200U); ++seed) {
    const SearchCase random = random_imperfect_space(seed, 1'500);
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      closer += closer_bounds(Mapspace{random.problem, random.constraints}, objective,
                              "seed " + std::to_string(seed));
    }
  }
  EXPECT_GT(closer, 5);
}

TEST(Phases, AreNoMoreThanMappingsOfSmallArraysCost) {
  Rng rng{7};
  int closer = 0;
  for (int i = 0; i < tried_of(24); ++i) {
    const SearchCase at = small_array_case(rng, i);
    closer += closer_bounds(Mapspace{at.problem, at.constraints}, Objective::kEnergy,
                            "case " + std::to_string(i));
  }
  EXPECT_GT(closer, tried_of(24) / 4);
}

double least_energy(const SearchCase& at) {
  const SearchResult result = search_exact(Mapspace{at.problem, at.constraints}, {});
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  return result.cost ? result.cost->energy.total.count() : 0;
}

TEST(Phases, KnowThatInstancesMayWorkOnIndicesThatAreNoNeighbours) {
  EXPECT_NEAR(least_energy(case_of_blocks_apart()), 58'123.5, 0.1);
}

TEST(Phases, KnowThatInstancesTogetherHaveOtherExtentsThanTiles) {
  EXPECT_NEAR(least_energy(case_of_extents_together()), 586'613.8, 0.1);
}

}  // namespace
}  // namespace mapsim::phases_test
