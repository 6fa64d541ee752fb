// SPDX-License-Identifier: Apache-2.0
// Bounds of unrollings whatever the effort: a check that is given less of it may show less, but
// nothing that is not so.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "optima.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::coarse_bounds_test {
namespace {

constexpr std::array kGoals{Objective::kEnergy, Objective::kLatency, Objective::kEdp};

class CoarseBounds : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, CoarseBounds, testing::Range<std::uint64_t>(0, 4));

TEST_P(CoarseBounds, NeverExceedAnOptimum) {
  int compared = 0;
  int raised = 0;  // above the closed form
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 110'000 + 1'000 * GetParam() + i;
    SCOPED_TRACE(seed);
    const SearchCase random =
        i % 5 == 4 ? random_ruled_imperfect_space(seed, 800) : random_imperfect_space(seed, 800);
    const Objective& objective = kGoals[i % kGoals.size()];
    check::Certificate one =
        check::parse_certificate(proof_of(random.problem, random.constraints, objective), "proof");
    const std::vector<check::Claim> claims = one.claims;
    const std::map<Instances, double> least =
        optima(Mapspace{random.problem, random.constraints}, objective);
    one.value = HUGE_VAL;
    for (const check::Claim& claim : claims) {
      const auto optimum = least.find(instances_of(claim.unrolling));
      if (optimum == least.end()) {
        continue;  // nothing fits
      }
      one.claims = {claim};
      const auto bound = [&](std::size_t tiles, std::int64_t labels) {
        check::CheckOptions options;
        options.effort = {tiles, labels};
        return check::provable_bounds(one, options).front();
      };
      const double closed_form = bound(0, 0);
      for (const std::size_t tiles : std::array<std::size_t, 5>{0, 2, 5, 12, 40}) {
        for (const std::int64_t labels : std::array<std::int64_t, 2>{0, 40}) {
          const double found = bound(tiles, labels);
          EXPECT_LE(found, optimum->second * (1 + 1e-10)) << tiles << ' ' << labels;
          raised += found > closed_form * (1 + 1e-10) ? 1 : 0;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(raised, compared / 20);
}

// Windows whose dims run in parallel: problems in which bounds are too high if tiles of a run are
// those behind a fanout, or if tiles that lie apart are counted as if they touched.
TEST(WindowBounds, OfParallelDimsNeverExceedAnOptimum) {
  int compared = 0;
  for (const std::uint64_t seed : {510'030, 510'858, 511'217, 510'280, 510'426, 510'660}) {
    SCOPED_TRACE(seed);
    const SearchCase random = random_imperfect_space(seed, 500);
    const Objective& objective = kGoals[seed % kGoals.size()];
    check::Certificate one =
        check::parse_certificate(proof_of(random.problem, random.constraints, objective), "proof");
    const std::vector<check::Claim> claims = one.claims;
    const std::map<Instances, double> least =
        optima(Mapspace{random.problem, random.constraints}, objective);
    one.value = HUGE_VAL;
    for (const check::Claim& claim : claims) {
      const auto optimum = least.find(instances_of(claim.unrolling));
      if (optimum == least.end()) {
        continue;
      }
      one.claims = {claim};
      for (const std::size_t tiles : std::array<std::size_t, 4>{0, 3, 12, 1'000}) {
        check::CheckOptions options;
        options.effort = {tiles, tiles == 1'000 ? 100'000 : 30};
        EXPECT_LE(check::provable_bounds(one, options).front(), optimum->second * (1 + 1e-10))
            << tiles;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace mapsim::coarse_bounds_test
