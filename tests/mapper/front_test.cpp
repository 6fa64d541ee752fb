// SPDX-License-Identifier: Apache-2.0
#include "mapper/front.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "front_check.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::front_test {
namespace {

using exact::Incumbent;
using exact::ObjectiveKey;

TEST(Incumbent, OfAFrontKeepsWhatNothingCovers) {
  Incumbent front = Incumbent::front(false);
  front.insert({2, 20}, 0);
  front.insert({1, 30}, 1);
  front.insert({3, 20}, 2);  // dominated
  front.insert({3, 10}, 3);
  front.insert({1.5, 15}, 4);  // dominates the first
  std::vector<std::int64_t> tags;
  for (const Incumbent::Point& point : front.points()) {
    tags.push_back(point.tag);
  }
  EXPECT_EQ(tags, (std::vector<std::int64_t>{1, 4, 3}));
  EXPECT_TRUE(front.dominates({3, 10}));
  EXPECT_TRUE(front.dominates({2, 15}));
  EXPECT_FALSE(front.dominates({2, 14}));
  EXPECT_FALSE(front.dominates({0.5, 100}));
  EXPECT_TRUE(front.dominates({1 - 1e-14, 30}));  // equal but for rounding
}

TEST(Incumbent, OfOneMappingIsTheNewestOfTheBest) {
  Incumbent best{ObjectiveKey{3, 10}};
  EXPECT_FALSE(best.dominates({3, 10}));
  EXPECT_TRUE(best.dominates({3, 11}));
  EXPECT_TRUE(best.dominates({3.1, 1}));
  EXPECT_FALSE(best.dominates({2, 99}));
  best.insert({3 + 1e-14, 10}, 1);  // equal but for rounding
  EXPECT_EQ(best.limit(), (ObjectiveKey{3, 10}));
  ASSERT_EQ(best.points().size(), 1U);
  EXPECT_EQ(best.points().front().tag, 1);
  best.insert({2, 20}, 2);
  best.insert({2, 20}, 3);
  best.insert({2, 21}, 4);
  EXPECT_EQ(best.limit(), (ObjectiveKey{2, 20}));
  EXPECT_EQ(best.points().front().tag, 3);
  EXPECT_TRUE(Incumbent{}.points().empty());
  EXPECT_TRUE(Incumbent{}.dominates({exact::kInfinity, 0}));
}

// Of a measured front bounds know the first figure alone.
TEST(Incumbent, OfAMeasuredFrontRulesOutByTheFirstFigure) {
  Incumbent curve = Incumbent::front(true);
  curve.insert({2, 20}, 0);
  EXPECT_TRUE(curve.dominates({3, 30}));
  EXPECT_FALSE(curve.rules_out({3, 30}));
  curve.insert({4, 0}, 1);
  EXPECT_TRUE(curve.rules_out({4, 30}));
  EXPECT_FALSE(curve.rules_out({3, 30}));
}

constexpr std::uint64_t kShards = 4;

class FrontOnRandomSpaces : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, FrontOnRandomSpaces, testing::Range<std::uint64_t>(0, kShards));

TEST_P(FrontOnRandomSpaces, IsThatOfAllMappings) {
  std::size_t longest = 0;
  for (std::uint64_t i = 0; i < tried_of(150U); ++i) {
    const std::uint64_t seed = 60'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_space(seed, 3'000);
    const LatencyMode mode = i % 2 == 0 ? LatencyMode::kSteady : LatencyMode::kRamped;
    EXPECT_EQ(front_mismatch(random, mode), "") << "seed " << seed;
    const Mapspace space(random.problem, random.constraints);
    longest = std::max(longest, search_front(space, {}).points.size());
  }
  EXPECT_GE(longest, 4U);
}

// By residency patterns alone: the same points.
TEST_P(FrontOnRandomSpaces, ByPatternsIsTheSame) {
  std::size_t longest = 0;
  for (std::uint64_t i = 0; i < tried_of(60U); ++i) {
    const std::uint64_t seed = 65'000 + 1'000 * GetParam() + i;
    const SearchCase random =
        i % 2 == 0 ? random_tall_space(seed, 4'000) : random_ruled_space(seed, 4'000);
    const Mapspace space(random.problem, random.constraints);
    const Front whole = search_front(space, {});
    const Front parts = search_front(space, {}, 0);
    EXPECT_EQ(parts.complete, whole.complete) << "seed " << seed;
    ASSERT_EQ(parts.points.size(), whole.points.size()) << "seed " << seed;
    for (std::size_t p = 0; p < whole.points.size(); ++p) {
      EXPECT_NEAR(parts.points[p].value, whole.points[p].value, 1e-9 * whole.points[p].value);
      EXPECT_EQ(parts.points[p].measure, whole.points[p].measure) << "seed " << seed;
    }
    longest = std::max(longest, whole.points.size());
  }
  EXPECT_GE(longest, 2U);
}

SearchCase some_imperfect_space(std::uint64_t seed, std::int64_t max_size) {
  return seed % 3 == 0 ? random_ruled_imperfect_space(seed, max_size)
                       : random_imperfect_space(seed, max_size);
}

TEST_P(FrontOnRandomSpaces, OfImperfectFactorsIsThatOfAllMappings) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t seed = 90'000 + 1'000 * GetParam() + i;
    const SearchCase random = some_imperfect_space(seed, i % 4 == 0 ? 300 : 1'500);
    const LatencyMode mode = i % 4 == 0 ? LatencyMode::kRamped : LatencyMode::kSteady;
    EXPECT_EQ(front_mismatch(random, mode), "") << "seed " << seed;
  }
}

// The innermost room: where tiles compete most.
std::optional<CurveCapacity> some_room(const Arch& arch) {
  for (std::size_t l = arch.levels.size(); l-- > 1;) {
    const auto level = static_cast<LevelId>(l);
    const Capacity& capacity = arch.levels[level].capacity;
    if (!capacity.per_role.empty()) {
      return CurveCapacity{level, capacity.per_role.begin()->first};
    }
    if (capacity.shared) {
      return CurveCapacity{level, std::nullopt};
    }
  }
  return std::nullopt;
}

TEST_P(FrontOnRandomSpaces, OfAnObjectiveAndACapacityIsWhatSearchesFindAtEachStep) {
  int steps = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 70'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_space(seed, 100'000);
    const auto room = some_room(random.problem.arch());
    const Objective objective = i % 3 == 0   ? Objective::kEdp
                                : i % 3 == 1 ? Objective::kLatency
                                             : Objective::kEnergy;
    if (room) {
      EXPECT_EQ(curve_mismatch(random, objective, *room, steps), "") << "seed " << seed;
    }
  }
  EXPECT_GT(steps, 60);
}

TEST_P(FrontOnRandomSpaces, OfACapacityAndImperfectFactorsIsWhatSearchesFindAtEachStep) {
  int steps = 0;
  for (std::uint64_t i = 0; i < 15; ++i) {
    const std::uint64_t seed = 95'000 + 1'000 * GetParam() + i;
    const SearchCase random = some_imperfect_space(seed, 1'000);
    const auto room = some_room(random.problem.arch());
    if (room) {
      EXPECT_EQ(
          curve_mismatch(random, i % 2 == 0 ? Objective::kEnergy : Objective::kEdp, *room, steps),
          "")
          << "seed " << seed;
    }
  }
  EXPECT_GT(steps, 10);
}

// Bounds that trade energy for time once left out three of these points.
TEST(Front, BehindSlowPortsHasAllOfItsPoints) {
  const std::string root = source_path("");
  const Problem problem{load_arch(root + "bench/machines/slow_ports.yaml"),
                        load_workload(root + "configs/workloads/gemm/512.yaml")};
  const Front front = search_front(Mapspace{problem, {}}, {});
  std::vector<std::int64_t> cycles;
  for (const FrontPoint& point : front.points) {
    cycles.push_back(point.measure);
  }
  EXPECT_TRUE(front.complete);
  EXPECT_EQ(cycles, (std::vector<std::int64_t>{804'519'936, 670'302'208, 540'016'640, 537'919'488,
                                               536'870'912}));
}

TEST(Front, IsTheSameOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 80'000; seed < 80'030; ++seed) {
    const SearchCase random = random_space(seed, 1'000'000);
    const Mapspace space(random.problem, random.constraints);
    SearchOptions options;
    const Front one = search_front(space, options);
    options.threads = 4;
    EXPECT_EQ(front_difference(one, search_front(space, options)), "") << "seed " << seed;
  }
}

TEST(Front, StoppedEarlyHoldsNothingBelowTheWholeOne) {
  int cut = 0;
  for (std::uint64_t seed = 80'000; seed < 80'030; ++seed) {
    const SearchCase random = random_space(seed, 1'000'000);
    const Mapspace space(random.problem, random.constraints);
    SearchOptions options;
    const Front whole = search_front(space, options);
    options.budget.labels = 30;
    const Front part = search_front(space, options);
    cut += part.complete ? 0 : 1;
    for (const FrontPoint& point : part.points) {
      EXPECT_TRUE(std::any_of(whole.points.begin(), whole.points.end(),
                              [&](const FrontPoint& p) {
                                return p.value <= point.value * (1 + 1e-9) &&
                                       p.measure <= point.measure;
                              }))
          << "seed " << seed;
    }
  }
  EXPECT_GT(cut, 5);
}

// A small space is enumerated where memory is short for a search; or a part of it, once time is
// over.
TEST(Front, IsThatOfAllMappingsWhereMemoryIsShort) {
  int enumerated = 0;
  for (std::uint64_t seed = 96'000; seed < 96'010; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 6'000);
    const Mapspace space(random.problem, random.constraints);
    SearchOptions options;
    const Front whole = search_front(space, options);
    options.budget.bytes = 1;
    const Front tried = search_front(space, options);
    EXPECT_TRUE(tried.complete) << "seed " << seed;
    ASSERT_EQ(tried.points.size(), whole.points.size()) << "seed " << seed;
    for (std::size_t p = 0; p < whole.points.size(); ++p) {
      EXPECT_NEAR(tried.points[p].value, whole.points[p].value, 1e-9 * whole.points[p].value);
      EXPECT_EQ(tried.points[p].measure, whole.points[p].measure) << "seed " << seed;
    }
    constexpr std::int64_t kBetweenLooks = 1024;
    enumerated += tried.statistics.evaluations > kBetweenLooks ? 1 : 0;
    const std::atomic<bool> stop{true};
    options.stop = &stop;
    EXPECT_EQ(search_front(space, options).complete,
              std::stoll(whole.mapspace_size) < kBetweenLooks)
        << "seed " << seed;
  }
  EXPECT_GT(enumerated, 2);
}

}  // namespace
}  // namespace mapsim::front_test
