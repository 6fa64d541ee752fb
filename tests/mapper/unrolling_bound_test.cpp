// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "arch/load.hpp"
#include "costmodel/nest.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"
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
TEST(UnrollingBound, KnowsWhatPassesTheOutermostPort) {
  const Problem problem = product_with_one_row();
  double bits = 0;
  for (const Tensor& tensor : problem.workload().tensors) {
    bits +=
        static_cast<double>(footprint(tensor, bounds_of(problem.workload())) * tensor.bits.count());
  }
  const Mapspace space{problem, {}};
  const exact::UnrollingTasks classes(space, Objective::kLatency);
  ASSERT_GT(classes.size(), 10U);
  for (std::size_t g = 0; g < classes.size(); ++g) {
    EXPECT_GE(classes.bound(g).first, std::ceil(bits / 16));
  }
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult found = search_exact(space, options);
  ASSERT_TRUE(found.cost);
  EXPECT_EQ(static_cast<double>(found.cost->latency.steady.count()), std::ceil(bits / 16));
}

}  // namespace
}  // namespace mapsim
