// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "exact_check.hpp"
#include "front_check.hpp"
#include "mapper/front.hpp"
#include "random_space.hpp"

namespace mapsim {
namespace {

constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kSpacesPerShard = 100;
constexpr std::uint64_t kFrontsPerShard = 25;
constexpr std::int64_t kMaxSize = 3'000;
std::uint64_t seed_of(std::uint64_t shard, std::uint64_t i) { return 40'000 + 1'000 * shard + i; }

class ExactOnSystolicArrays : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnSystolicArrays, testing::Range<std::uint64_t>(0, kShards));

// Fold sizes, overlaps, one tensor in the array, several, or none: the same optimum as every
// mapping evaluated, at what eval says of it, and a proof.
TEST_P(ExactOnSystolicArrays, FindsTheOptimumOfEveryObjectiveAndProvesIt) {
  for (std::uint64_t i = 0; i < kSpacesPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), i);
    EXPECT_EQ(exact_mismatch(random_systolic_space(seed, kMaxSize), i % 2 == 0), "")
        << "seed " << seed;
  }
}

TEST_P(ExactOnSystolicArrays, FindsTheFrontOfEnergyAndLatency) {
  for (std::uint64_t i = 0; i < kFrontsPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), 500 + i);
    EXPECT_EQ(front_mismatch(random_systolic_space(seed, kMaxSize),
                             i % 2 == 0 ? LatencyMode::kSteady : LatencyMode::kRamped),
              "")
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace mapsim
