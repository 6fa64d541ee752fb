// SPDX-License-Identifier: Apache-2.0
// The three dataflows of arch/systolic_32x32.yaml, each by its constraints, and the search for the
// best of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "arch/load.hpp"
#include "mapper/constraints.hpp"
#include "mapper/mapper.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

Cost fastest(const Problem& problem, const Constraints& constraints) {
  const Mapspace space{problem, constraints};
  const SearchResult found = search_exact(space, {Objective::kLatency, 1, 0, 0, nullptr});
  EXPECT_EQ(found.certificate.status, Proof::kOptimal);
  return found.cost.value();
}

// A product that is long in one dim of three: the tensor without that dim stays.
TEST(SystolicArray, KeepsTheTensorWithoutTheLongestDim) {
  const Arch arch = load_arch(kConfigs + "arch/systolic_32x32.yaml");
  struct Case {
    GemmShape shape;
    std::string stays;
  };
  for (const Case& each :
       {Case{{512, 32, 32, {}, false}, "weight"}, Case{{32, 512, 32, {}, false}, "input"},
        Case{{32, 32, 512, {}, false}, "output"}}) {
    const Problem problem{arch, gemm("product", each.shape)};
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::string best;
    for (const char* role : {"weight", "input", "output"}) {
      const Cost cost = fastest(
          problem, load_constraints(kConfigs + "constraints/systolic_" + role + ".yaml", problem));
      ASSERT_TRUE(cost.latency.compute.stationary.has_value());
      EXPECT_EQ(to_string(problem.workload().tensors[*cost.latency.compute.stationary].role),
                std::string{role});
      if (cost.latency.steady.count() < least) {
        least = cost.latency.steady.count();
        best = role;
      }
    }
    EXPECT_EQ(best, each.stays);
    EXPECT_LE(fastest(problem, {}).latency.steady.count(), least);
  }
}

}  // namespace
}  // namespace mapsim
