// SPDX-License-Identifier: Apache-2.0
// TPU v1 against the table of its paper: Jouppi et al., ISCA 2017, table 3.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/roofline.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::tpu_test {
namespace {

const std::string kConfigs = source_path("configs/");

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

// The paper's roofline: 34 GB/s of weights, and its knee.
TEST(TpuV1, SaysWhereItsKneeIs) {
  const Arch arch = load_arch(kConfigs + "arch/tpu_v1.yaml");
  for (const std::int64_t batch : {1, 200, 4000}) {
    const Roofline bounds = roofline(arch, gemm("fc", {batch, 2048, 2048, {}, false}));
    ASSERT_TRUE(bounds.slowest.has_value());
    if (batch < 4000) {  // else activations take longer
      EXPECT_EQ(arch.levels[bounds.slowest->level].name, "WeightFIFO");
      EXPECT_EQ(bounds.slowest->kind, PortKind::kWrite);
      EXPECT_NEAR(bounds.slowest->bytes_per_second, 34e9, 1);
      EXPECT_NEAR(bounds.slowest->knee, 1350, 2);
      EXPECT_NEAR(bounds.slowest->intensity, static_cast<double>(batch), 1e-9);
    }
  }
}

// 257 x 257 weights are four tiles of the whole array: 65,536 B at 34 GB/s and 700 MHz each.
TEST(TpuV1, FetchesWholeTiles) {
  const Latency latency = cost_of(gemm("fc", {16, 257, 257, {}, false})).latency;
  EXPECT_EQ(latency.compute.folds, 4);
  EXPECT_EQ(latency.steady.count(), static_cast<std::int64_t>(std::ceil(4 * 65'536 * 0.7 / 34)));
  EXPECT_EQ(latency.steady, cost_of(gemm("fc", {16, 512, 512, {}, false})).latency.steady);
  // The first tile is full: nothing pads it. 1734 cycles of the array would come after it.
  EXPECT_EQ(latency.ramped, latency.steady);
}

// One tile: it arrives, inputs come to the buffer at 256 B a cycle; the tile is shifted in, 200
// inputs stream, the last sum leaves, and results go back at 256 B a cycle. Nothing of that
// overlaps, and nothing counts twice.
TEST(TpuV1, TakesOneTileFromTheFirstByteToTheLastResult) {
  const Latency latency = cost_of(gemm("fc", {200, 256, 256, {}, false})).latency;
  const std::int64_t arrives = 1350;  // of 8 b; 65,536 * 0.7 / 34 rounded up
  const std::int64_t array = 256 + 200 + 510;
  EXPECT_EQ(latency.steady.count(), arrives);
  EXPECT_EQ(latency.ramped.count(), 200 + arrives + array + 200);
}

// A tile comes in while the one before is shifted out: a FIFO with room for one has none for two.
TEST(TpuV1, NeedsTwoTilesInItsFifo) {
  Arch arch = load_arch(kConfigs + "arch/tpu_v1.yaml");
  const Workload layer = gemm("fc", {200, 2048, 2048, {}, false});
  const LevelId fifo = *arch.find_level("WeightFIFO");
  const auto cost = [&] {
    const Problem problem{arch, layer};
    const Mapping mapping = load_mapping(kConfigs + "mappings/tpu_v1_fully_connected.yaml",
                                         problem.arch(), problem.workload());
    return evaluate(problem, mapping);
  };
  const Cost four = std::get<Cost>(cost());
  arch.levels[fifo].capacity.shared = Bits{8 * 64 * 1024};
  EXPECT_TRUE(std::holds_alternative<CapacityExceeded>(std::get<Infeasible>(cost())));
  arch.levels[fifo].double_buffered = false;  // then its tiles come one after the other
  const Cost one = std::get<Cost>(cost());
  EXPECT_EQ(one.latency.steady, four.latency.steady);
  EXPECT_GE(one.latency.ramped - four.latency.ramped, Cycles{64 * 256 - 3000});
}

}  // namespace
}  // namespace mapsim::tpu_test
