// SPDX-License-Identifier: Apache-2.0
// The oracle is as good as its cases: they must be mappings, and of every kind.
#include "tests/costmodel/random_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/shrink.hpp"

namespace mapsim::random_case_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Pair;
using testing::SizeIs;

constexpr std::uint64_t kCases = 2000;

bool is_perfect(const RandomCase& random) {
  PerDim<std::int64_t> above(random.workload.dims.size());
  for (const DimId d : above.ids()) {
    above[d] = random.workload.dims[d].bound;
  }
  bool perfect = true;
  const auto cut = [&](DimId d, std::int64_t extent) {
    perfect = perfect && above[d] % extent == 0;
    above[d] = extent;
  };
  for (const MappingNode& node : random.mapping.nodes) {
    if (const Temporal* loop = std::get_if<Temporal>(&node)) {
      cut(loop->dim, loop->extent);
    } else if (const Parallel* block = std::get_if<Parallel>(&node)) {
      cut(block->dim, block->extent);
    }
  }
  return perfect;
}

TEST(RandomCase, IsAMappingOfItsProblem) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase random = random_case(seed);
    ASSERT_THAT(check_structure(random.arch, random.workload, random.mapping), SizeIs(0))
        << describe(random);
    ASSERT_LE(random.workload.macs(), kMaxCaseMacs);
  }
}

TEST(RandomCase, DependsOnItsSeedAlone) {
  EXPECT_EQ(random_case(7), random_case(7));
  EXPECT_NE(random_case(7), random_case(8));
}

TEST(RandomCase, IsOfEveryKind) {
  std::map<std::string, int> einsums;
  std::map<std::size_t, int> levels;
  std::map<std::size_t, int> fanouts;
  std::map<bool, int> perfect;
  std::map<std::size_t, int> parallel_nodes;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase random = random_case(seed);
    ++einsums[random.workload.name];
    ++levels[random.arch.levels.size()];
    ++fanouts[random.arch.fanouts.size()];
    ++perfect[is_perfect(random)];
    std::size_t parallel = 0;
    for (const MappingNode& node : canonical(random.workload, random.mapping).nodes) {
      parallel += std::holds_alternative<Parallel>(node) ? 1 : 0;
    }
    ++parallel_nodes[std::min<std::size_t>(parallel, 3)];
  }
  EXPECT_THAT(einsums, AllOf(SizeIs(11), Each(Pair(testing::_, Ge(100)))));
  EXPECT_THAT(levels, AllOf(SizeIs(4), Each(Pair(testing::_, Ge(300)))));
  EXPECT_THAT(fanouts, AllOf(SizeIs(3), Each(Pair(testing::_, Ge(300)))));
  EXPECT_THAT(perfect, AllOf(SizeIs(2), Each(Pair(testing::_, Ge(600)))));
  EXPECT_THAT(parallel_nodes, AllOf(SizeIs(4), Each(Pair(testing::_, Ge(100)))));
}

TEST(Shrink, KeepsWhatMakesACaseFail) {
  const auto fails = [](const RandomCase& c) {
    return c.workload.macs() >= 4 && c.mapping.nodes.size() >= 3;
  };
  std::uint64_t seed = 0;
  while (!fails(random_case(seed))) {
    ++seed;
  }
  const RandomCase smallest = shrink(random_case(seed), fails);
  EXPECT_TRUE(fails(smallest));
  EXPECT_LE(smallest.workload.macs(), 6);
  EXPECT_LE(smallest.mapping.nodes.size(), 3U);
}

TEST(FirstDifference, NamesTheFieldAndBothValues) {
  const RandomCase random = random_case(7);
  const Counts counts = count({random.arch, random.workload}, random.mapping);
  Counts other = counts;
  EXPECT_EQ(first_difference(random, counts, other), "");
  other.steps += 1;
  EXPECT_EQ(first_difference(random, counts, other),
            "steps: " + std::to_string(counts.steps) + " by the walk, " +
                std::to_string(other.steps) + " in closed form");
}

}  // namespace
}  // namespace mapsim::random_case_test
