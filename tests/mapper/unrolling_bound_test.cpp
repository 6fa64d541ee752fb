// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "arch/load.hpp"
#include "costmodel/nest.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::unrolling_bound_test {
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

// Sums that meet in two networks on their way to a level. Of 3 instances one has no partner in the
// inner network, so more sums meet in the outer one, which may be the cheaper of the two.
Problem sums_through_two_networks(double inner, double outer, std::int64_t terms) {
  return {parse_arch(fmt::format(R"(name: two_networks
nodes:
  - {{storage: DRAM, capacity: unlimited, energy: {{read: 1 pJ/b, write: 1 pJ/b}}}}
  - {{fanout: outer, x: 2, spatial_reduction: true, reduction_energy: {} pJ}}
  - {{fanout: inner, x: 2, spatial_reduction: true, reduction_energy: {} pJ}}
  - {{storage: register, capacity: 64 b, energy: {{read: 0.01 pJ/b, write: 0.01 pJ/b}}}}
  - {{compute: MAC, energy: 1 pJ}}
)",
                                 outer, inner),
                     "arch"),
          gemm("dot", {1, 1, terms, {}, false})};
}

TEST(UnrollingBound, IsNotAboveWhatSumsNeedThatFindNoPartner) {
  Constraints imperfect;
  imperfect.factors.imperfect = true;
  int unrolled = 0;
  for (const double outer : {0.0, 1.0, 50.0}) {
    for (const double inner : {0.0, 1.0, 8.0, 16.0, 32.0, 50.0}) {
      for (const std::int64_t terms : {3, 5, 7}) {
        const Problem problem = sums_through_two_networks(inner, outer, terms);
        const Mapspace space{problem, imperfect};
        const exact::UnrollingTasks classes(space, Objective::kEnergy);
        for (std::size_t g = 0; g < classes.size(); ++g) {
          Constraints alone = imperfect;
          alone.spatial = with_idle_fanouts(classes.unrolling(g).first, problem.arch());
          Evaluator evaluator{problem};
          double least = std::numeric_limits<double>::infinity();
          Mapspace{problem, alone}.enumerate([&](const Mapping& mapping) {
            least = evaluator.evaluate(mapping)
                        ? least
                        : std::min(least, evaluator.cost().energy.total.count());
            return true;
          });
          EXPECT_LE(classes.bound(g).first, least * (1 + 1e-9)) << inner << ' ' << outer;
          unrolled += classes.unrolling(g).first.size() == 2 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(unrolled, 9);
}

}  // namespace
}  // namespace mapsim::unrolling_bound_test
