// SPDX-License-Identifier: Apache-2.0
// Phases: bounds of unrollings whose tensors wait for each other.
#include "check/phases.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "check/closed_form_bound.hpp"
#include "optima.hpp"
#include "proven.hpp"
#include "tests/mapper/phase_cases.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::check_phases_test {
namespace {

using check::Paths;

// Holds the bounds of all unrollings to all mappings. Returns how many are at least a thousandth
// above the bound without phases.
int closer_bounds(const SearchCase& at, const Objective& objective, const std::string& name) {
  const check::Certificate read =
      check::parse_certificate(proof_of(at.problem, at.constraints, objective), "proof");
  const std::map<Instances, double> least = optima(Mapspace{at.problem, at.constraints}, objective);
  int closer = 0;
  for (const check::Claim& claim : read.claims) {
    const auto bound = [&](Paths paths) {
      return closed_form_bound(read.problem, read.rules, read.goal, claim.unrolling, paths).first;
    };
    const double by_phases = bound(Paths::kByPhases);
    closer += by_phases > bound(Paths::kTogether) * 1.001 ? 1 : 0;
    const auto found = least.find(instances_of(claim.unrolling));
    if (found != least.end()) {
      EXPECT_LE(by_phases, found->second * (1 + 1e-10)) << name;
    }
  }
  return closer;
}

TEST(CheckPhases, AreNoMoreThanAnyMappingCosts) {
  int closer = 0;
  for (std::uint64_t seed = 94'000; seed < 94'000 + tried_of(200U); ++seed) {
    closer += closer_bounds(random_imperfect_space(seed, 1'500),
                            seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp,
                            "seed " + std::to_string(seed));
  }
  EXPECT_GT(closer, 0);
}

TEST(CheckPhases, AreNoMoreThanMappingsOfSmallArraysCost) {
  Rng rng{7};
  int closer = 0;
  for (int i = 0; i < tried_of(24); ++i) {
    closer +=
        closer_bounds(small_array_case(rng, i), Objective::kEnergy, "case " + std::to_string(i));
  }
  EXPECT_GT(closer, tried_of(24) / 4);
}

// Windows whose blocks in an array are apart, and extents that only several instances have
// together.
TEST(CheckPhases, KnowWhatInstancesHaveTogether) {
  for (const auto& [at, optimum] : {std::pair{case_of_blocks_apart(), 58'123.5},
                                    std::pair{case_of_extents_together(), 586'613.8}}) {
    const Mapspace space{at.problem, at.constraints};
    const SearchResult found = search_exact(space, {});
    const check::Certificate read = check::parse_certificate(
        certificate_file({"search", {}}, space, Objective::kEnergy, found), "proof");
    double least = HUGE_VAL;
    for (const check::Claim& claim : read.claims) {
      least = std::min(least, closed_form_bound(read.problem, read.rules, read.goal,
                                                claim.unrolling, Paths::kByPhases)
                                  .first);
    }
    EXPECT_LE(least, optimum + 0.1);
    EXPECT_GT(least, 0);
  }
}

}  // namespace
}  // namespace mapsim::check_phases_test
