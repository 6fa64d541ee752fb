// SPDX-License-Identifier: Apache-2.0
// The three dataflows of arch/systolic_32x32.yaml, each by its constraints, and the search for the
// best of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "arch/load.hpp"
#include "costmodel/roofline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::systolic_test {
namespace {

const std::string kConfigs = source_path("configs/");

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
    const Cost free = fastest(problem, {});
    EXPECT_EQ(free.latency.steady.count(), least);
    EXPECT_EQ(to_string(problem.workload().tensors[*free.latency.compute.stationary].role),
              each.stays);
  }
}

Roofline tpu_roofline(const GemmShape& shape) {
  return roofline(load_arch(kConfigs + "arch/tpu_v1.yaml"), gemm("layer", shape));
}

// Jouppi et al., ISCA 2017, figure 5: the ridge lies at 1350 MACs per byte of weights, which a
// matrix product reuses once for each of its m rows.
TEST(TpuRoofline, BendsAt1350OperationsPerWeightByte) {
  EXPECT_EQ(tpu_roofline({1349, 4096, 4096, {}, false}).bound.limiter, Limiter::kMemory);
  EXPECT_EQ(tpu_roofline({1350, 4096, 4096, {}, false}).bound.limiter, Limiter::kMath);
}

// Every weight passes the 34 GB/s of the FIFO; the search finds a mapping that waits for no more.
TEST(TpuRoofline, IsReachedByALayerOfOneRow) {
  const Arch arch = load_arch(kConfigs + "arch/tpu_v1.yaml");
  const Workload fc6 = load_workload(kConfigs + "workloads/alexnet/fc6.yaml");
  const Roofline bounds = roofline(arch, fc6);
  EXPECT_EQ(bounds.least_cycles, Cycles{777'180});  // 9216 x 4096 B at 34 GB/s and 700 MHz
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMemory);
  EXPECT_EQ(fastest(Problem{arch, fc6}, {}).latency.steady, bounds.least_cycles);
}

// [T] section 2: half speed where one operand is of 16 bits, a quarter where both are.
TEST(Tpu, HoldsWeightsOf16Bits) {
  const Arch arch = load_arch(kConfigs + "arch/tpu_v1.yaml");
  const auto steps = [&](std::int64_t input, std::int64_t weight) {
    Workload work = gemm("wide", {1024, 512, 512, {}, false});
    for (Tensor& tensor : work.tensors) {
      tensor.bits = Bits{tensor.role == Role::kWeight ? weight : input};
      tensor.partial_bits = Bits{32};
    }
    return fastest(Problem{arch, work}, {}).latency.compute.busy;
  };
  EXPECT_EQ(steps(8, 8), Cycles{4 * 1024});
  EXPECT_EQ(steps(8, 16), Cycles{4 * 2 * 1024});
  EXPECT_EQ(steps(16, 8), Cycles{4 * 2 * 1024});
  EXPECT_EQ(steps(16, 16), Cycles{4 * 4 * 1024});
}

}  // namespace
}  // namespace mapsim::systolic_test
