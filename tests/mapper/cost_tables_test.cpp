// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "random_space.hpp"

namespace mapsim::cost_tables_test {
namespace {

// Threads read at once what was prepared: no table may be left for its first reader to make.
TEST(CostTables, AreMadeBeforeTheyAreRead) {
  int sliding = 0;
  for (std::uint64_t seed = 64'000; seed < 64'040; ++seed) {
    const SearchCase random = random_space(seed, 1'000'000);
    const Mapspace space{random.problem, random.constraints};
    const exact::UnrollingTasks classes{space, Objective::kEnergy};
    for (std::size_t g = 0; g < classes.size(); ++g) {
      const exact::StateGraph& graph = classes.graph(g);
      const exact::Unrolled unrolled{random.problem, space.unrolling_classes()[g]};
      const Deadline deadline{SearchOptions{}};
      exact::EdgeCosts costs{graph, unrolled, {}, &deadline};
      costs.prepare();
      const std::size_t prepared = deadline.peak_bytes();
      for (const TensorId t : random.problem.workload().tensors.ids()) {
        for (const auto& edges : graph.moves(t).edges) {
          for (const auto& edge : edges) {
            costs.plain(edge.edge);
            for (const DimId dim : graph.moves(t).slides) {
              costs.sliding(edge.edge, dim);
              ++sliding;
            }
          }
        }
      }
      EXPECT_EQ(deadline.peak_bytes(), prepared) << "seed " << seed;
    }
  }
  EXPECT_GT(sliding, 100);
}

}  // namespace
}  // namespace mapsim::cost_tables_test
