// SPDX-License-Identifier: Apache-2.0
// TPU v1 against the table of its paper: Jouppi et al., ISCA 2017, table 3.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

Cost cost_of(const Workload& workload) {
  const Problem problem{load_arch(kConfigs + "arch/tpu_v1.yaml"), workload};
  const Mapping mapping = load_mapping(kConfigs + "mappings/tpu_v1_fully_connected.yaml",
                                       problem.arch(), problem.workload());
  return std::get<Cost>(evaluate(problem, mapping));
}

struct Published {
  std::string network;
  double active, shift, stall, non_matrix;  // percent of all cycles
};

// Published input: the share of time without the matrix unit. Everything else is computed.
TEST(TpuV1, SpendsItsTimeAsPublished) {
  const std::vector<Published> table{{"mlp0", 12.7, 15.9, 53.9, 17.5},
                                     {"mlp1", 10.6, 13.4, 44.2, 31.9},
                                     {"lstm1", 10.5, 17.1, 62.1, 10.3}};
  for (const Published& row : table) {
    const Latency latency =
        cost_of(load_workload(kConfigs + "workloads/tpu_v1/" + row.network + ".yaml")).latency;
    const auto share = [&](Cycles cycles) {
      return (100 - row.non_matrix) * static_cast<double>(cycles.count()) /
             static_cast<double>(latency.steady.count());
    };
    constexpr double kPoints = 5;
    EXPECT_NEAR(share(latency.compute.busy), row.active, kPoints) << row.network;
    EXPECT_NEAR(share(latency.compute.load), row.shift, kPoints) << row.network;
    EXPECT_NEAR(share(latency.stall), row.stall, kPoints) << row.network;
  }
}

// The roofline bends where a batch takes as long as a tile of weights: at about 1350 operations
// (multiply-accumulates) per byte of weights.
TEST(TpuV1, HasItsKneeAt1350OperationsPerWeightByte) {
  const auto array_binds = [](std::int64_t batch) {
    return cost_of(gemm("fc", {batch, 8192, 8192, {}, false})).latency.bottleneck == 0;
  };
  std::int64_t below = 1;
  std::int64_t above = 1500;
  ASSERT_FALSE(array_binds(below));
  ASSERT_TRUE(array_binds(above));
  while (above - below > 1) {
    const std::int64_t middle = (below + above) / 2;
    (array_binds(middle) ? above : below) = middle;
  }
  EXPECT_NEAR(static_cast<double>(above), 1350, 2);
}

}  // namespace
}  // namespace mapsim
