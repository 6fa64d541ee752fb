// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arch/load.hpp"
#include "costmodel/nest.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/mapper.hpp"
#include "random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

// A product with one row: each weight serves one operation, and the outermost port all of them.
Problem product_with_one_row() {
  return {parse_arch(R"(name: two_levels
nodes:
  - {storage: DRAM, capacity: unlimited, bandwidth: {shared: 16 b/cycle}, energy: {read: 8 pJ/b, write: 8 pJ/b}}
  - {storage: buffer, capacity: 4096 b, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: units, x: 4, y: 4, multicast: [input, weight], spatial_reduction: true}
  - {compute: MAC, energy: 1 pJ}
)",
                     "arch"),
          gemm("row", {1, 32, 32, {}, false})};
}

// Elements take longer than the steps of any unrolling.
TEST(GroupFloor, KnowsWhatPassesTheOutermostPort) {
  const Problem problem = product_with_one_row();
  double bits = 0;
  for (const Tensor& tensor : problem.workload().tensors) {
    bits +=
        static_cast<double>(footprint(tensor, bounds_of(problem.workload())) * tensor.bits.count());
  }
  const Mapspace space{problem, {}};
  const exact::Groups groups(space, Objective::kLatency);
  ASSERT_GT(groups.size(), 10U);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    EXPECT_GE(groups.floor(g).first, std::ceil(bits / 16));
  }
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult found = search_exact(space, options);
  ASSERT_TRUE(found.cost);
  EXPECT_EQ(static_cast<double>(found.cost->latency.steady.count()), std::ceil(bits / 16));
}

// What no nest within the optimum of a group can use is not what its best nest uses.
TEST(GroupFloor, LeavesTheOptimumOfEachGroupWithinItsLimit) {
  const SearchOptions options;
  std::int64_t found = 0;
  std::int64_t placings = 0;
  std::int64_t left_out = 0;
  for (std::uint64_t seed = 40'000; seed < 40'900; ++seed) {
    const SearchCase random = seed % 3 == 0   ? random_ruled_space(seed, 5'000)
                              : seed % 3 == 1 ? random_systolic_space(seed, 5'000)
                                              : random_space(seed, 5'000);
    const Mapspace space{random.problem, random.constraints};
    const Objective objective = seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp;
    const exact::Groups groups(space, objective);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto all = groups.build(g);
      const exact::LabelResult best = exact::search_labels(*all, {}, Patience(options));
      if (best.endings.empty()) {
        continue;
      }
      exact::Quest quest;
      quest.limit = best.endings.front().key;
      const auto within = groups.build(g, quest.limit);
      const exact::LabelResult same = exact::search_labels(*within, quest, Patience(options));
      ASSERT_EQ(same.endings.size(), 1U) << "seed " << seed << ", group " << g;
      EXPECT_EQ(same.endings.front().key, quest.limit) << "seed " << seed << ", group " << g;
      ++found;
      for (std::size_t p = 0; p < within->skeleton.placings().size(); ++p) {
        ++placings;
        left_out += within->costs.is_left_out(p) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 2'000);
  EXPECT_GT(left_out, placings / 20);
}

}  // namespace
}  // namespace mapsim
