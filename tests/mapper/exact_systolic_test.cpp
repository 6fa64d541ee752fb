// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "costmodel/timing/systolic.hpp"
#include "exact_check.hpp"
#include "front_check.hpp"
#include "mapper/front.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::exact_systolic_test {
namespace {

constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kAllSpacesPerShard = 100;
const std::uint64_t kSpacesPerShard = tried_of(kAllSpacesPerShard);
const std::uint64_t kFrontsPerShard = tried_of(25U);
constexpr std::int64_t kMaxSize = 3'000;
std::uint64_t seed_of(std::uint64_t shard, std::uint64_t i) { return 40'000 + 1'000 * shard + i; }

class ExactOnSystolicArrays : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnSystolicArrays, testing::Range<std::uint64_t>(0, kShards));

// Fold sizes, overlaps, one tensor in the array or several, and unrollings with which none may
// stay: the same optimum as every mapping evaluated, at what eval says of it, and a proof.
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

// What the fastest mappings of the spaces have to do with the array.
TEST(ExactOnSystolicArraysMix, HasEverythingThatTheModelTellsApart) {
  std::map<std::string, int> counts;
  for (std::uint64_t i = 0; i < kAllSpacesPerShard; ++i) {
    const SearchCase random = random_systolic_space(seed_of(0, i), kMaxSize);
    const Problem& problem = random.problem;
    const auto& timing = std::get<SystolicTiming>(problem.arch().compute.timing);
    const SearchResult fastest = search_exact(Mapspace{problem, random.constraints},
                                              {Objective::kLatency, 1, 0, 0, nullptr});
    if (!fastest.best) {
      ++counts["infeasible"];
      continue;
    }
    const ComputeTime& time = fastest.cost->latency.compute;
    const Nest nest = make_nest(problem.workload(), *fastest.best);
    int candidates = 0;
    for (const auto& candidate : stationary_candidates(problem, timing, nest)) {
      candidates += candidate ? 1 : 0;
    }
    ++counts[fmt::format("{} candidates", std::min(candidates, 2))];
    ++counts[to_string(problem.workload().tensors[time.stationary.value()].role)];
    ++counts[time.folds > 1 ? "several folds" : "one fold"];
    ++counts[timing.full_folds ? "full" : "used"];
    counts["the array binds"] += fastest.cost->latency.bottleneck == 0 ? 1 : 0;
    counts["a load is hidden"] += time.hidden_load > Cycles{0} ? 1 : 0;
    counts["a load shows"] += time.load > Cycles{0} ? 1 : 0;
  }
  EXPECT_EQ(counts.size(), 13U);
  for (const auto& [feature, count] : counts) {
    EXPECT_GE(count, 3) << feature;
  }
}

}  // namespace
}  // namespace mapsim::exact_systolic_test
