// SPDX-License-Identifier: Apache-2.0
// The closed form against its definition, count for count.
#include <gtest/gtest.h>

#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::count_oracle_test {
namespace {

constexpr std::uint64_t kShards = 20;
constexpr std::uint64_t kCasesPerShard = 1500;

class CountOracle : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CountOracle, CountsWhatTheSimulatorCounts) {
  for (std::uint64_t i = 0; i < kCasesPerShard; ++i) {
    const std::uint64_t seed = GetParam() * kCasesPerShard + i;
    const RandomCase random = random_case(seed);
    ASSERT_EQ(count_mismatch(random), "") << "seed " << seed << '\n' << describe(random);
  }
}

TEST_P(CountOracle, CountsWhatTheSimulatorCountsOnManyLevels) {
  for (std::uint64_t i = 0; i < kCasesPerShard / 10; ++i) {
    const std::uint64_t seed = GetParam() * kCasesPerShard + i;
    const RandomCase random = random_deep_case(seed);
    ASSERT_EQ(count_mismatch(random), "") << "seed " << seed << '\n' << describe(random);
  }
}

// The corner where unions of several fanouts slide: everything merges, the fanouts disagree about
// forwarding, and tiles stay where they can.
TEST_P(CountOracle, AgreesWhereMergingFanoutsDisagree) {
  for (std::uint64_t i = 0; i < kCasesPerShard; ++i) {
    const std::uint64_t seed = 1'000'000 + GetParam() * kCasesPerShard + i;
    RandomCase random = random_case(seed);
    bool forwards = seed % 2 == 0;
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.multicast = kAllRoles;
      fanout.spatial_reduction = true;
      fanout.forwarding = forwards;
      forwards = !forwards;
    }
    random.arch.compute.register_reuse = kAllRoles;
    ASSERT_EQ(count_mismatch(random), "") << "seed " << seed << '\n' << describe(random);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, CountOracle, testing::Range(std::uint64_t{0}, kShards));

}  // namespace
}  // namespace mapsim::count_oracle_test
