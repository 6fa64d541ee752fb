// SPDX-License-Identifier: Apache-2.0
// Levels of scopes in long chains on machines of many levels: five to the power of 31 choices,
// which no memory holds.
#include <gtest/gtest.h>

#include <set>

#include "mapper/fusion/chain_search.hpp"
#include "mapper/fusion/group_model.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim::group_levels_test {
namespace {

TEST(GroupLevels, AreVisitedPerEinsum) {
  const auto& [arch, chain] = longest_chain();
  fusion::Surroundings around;
  around.sources.assign(kMaxEinsums, PerTensor<LevelId>(3));
  const Deadline deadline{SearchOptions{}};
  const fusion::GroupModel model{arch, chain, {0, kMaxEinsums - 1}, around, std::nullopt, deadline};
  ASSERT_TRUE(model.has_scope_levels());
  fusion::LevelChoices choices = model.scope_levels();
  const auto visits = [&](std::size_t e) {
    std::set<ScopeLevels> all;
    model.for_each_levels(e, choices, [&](const ScopeLevels& levels) {
      EXPECT_EQ(levels.size(), kMaxEinsums - 1);
      EXPECT_TRUE(all.insert(levels).second);
    });
    return all;
  };
  EXPECT_EQ(visits(0).size(), 5U);
  EXPECT_EQ(visits(7).size(), 25U);  // what it reads, what it makes
  choices[6] = {LevelId{3}};
  EXPECT_EQ(visits(7).size(), 5U);
  for (const ScopeLevels& levels : visits(2)) {
    EXPECT_EQ(levels[6], LevelId{3});  // decided, whoever asks
    EXPECT_FALSE(levels[7]);
    EXPECT_TRUE(levels[1] && levels[2]);
  }
}

TEST(GroupLevels, LeaveTimeAndMemoryToTheirLimits) {
  const auto& [arch, chain] = longest_chain();
  SearchOptions options;
  options.budget.seconds = 0.5;
  const ChainResult in_time = search_chain(arch, chain, {}, options);
  EXPECT_FALSE(in_time.proven);
  EXPECT_LT(in_time.peak_bytes, std::size_t{32} << 20U);
  ASSERT_TRUE(in_time.cost);
  EXPECT_LE(in_time.lower_bound, in_time.cost->energy.count());
  options.budget.seconds = 60;
  options.budget.bytes = 1 << 18U;
  EXPECT_TRUE(search_chain(arch, chain, {}, options).out_of_memory);
}

}  // namespace
}  // namespace mapsim::group_levels_test
