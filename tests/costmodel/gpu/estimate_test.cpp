// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/estimate.hpp"

#include <gmock/gmock.h>

#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim {
namespace {

double seconds(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  return estimate(gpu, {}, problem, kernel).time.total.count();
}

TEST(GpuEstimate, ALargeSquareIsBoundByTheTensorCoresAndNearTheirRate) {
  const Gpu gpu = chip("a100_80gb");
  KernelChoice kernel;
  kernel.stages = 3;
  const GpuEstimate large = estimate(gpu, {}, square(8192, GpuPrecision::kF16), kernel);
  EXPECT_EQ(large.bound, GpuBound::kMma);
  EXPECT_GT(large.mma_share, 0.7);
  EXPECT_LT(large.mma_share, 0.9);  // the efficiency that the calibration allows
}

TEST(GpuEstimate, AVectorIsBoundByDramAndCostsAsMuchAs16) {
  const Gpu gpu = chip("h200");
  GemmProblem problem = square(16384, GpuPrecision::kBf16);
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {16, 64, 64};
  kernel.warp = {16, 16, 64};
  kernel.stages = 6;
  problem.m = 16;
  const GpuEstimate sixteen = estimate(gpu, {}, problem, kernel);
  problem.m = 1;
  const GpuEstimate one = estimate(gpu, {}, problem, kernel);
  EXPECT_EQ(one.bound, GpuBound::kDram);
  EXPECT_NEAR(one.time.total.count() / sixteen.time.total.count(), 1, 0.03);
  // aiconfigurator: 4.30 TB/s.
  EXPECT_NEAR(16384.0 * 16384 * 2 / one.time.total.count() / 4.296e12, 1, 0.15);
}

TEST(GpuEstimate, BankConflictsMakeSharedMemoryTheBound) {
  const Gpu gpu = chip("h100_sxm");
  GemmProblem problem = square(8192, GpuPrecision::kF16);
  problem.b = MatrixLayout::kRow;
  KernelChoice kernel;
  kernel.warp = {32, 32, 32};
  kernel.stages = 3;
  kernel.padding = 0;
  const GpuEstimate unpadded = estimate(gpu, {}, problem, kernel);
  EXPECT_EQ(unpadded.bound, GpuBound::kShared);
  // microbench_facts.csv: 60.9 TFLOP/s on the silicon.
  EXPECT_NEAR(2 * 8192.0 * 8192 * 8192 / unpadded.time.total.count() / 60.9e12, 1, 0.35);
  kernel.padding = 8;
  EXPECT_LT(seconds(gpu, problem, kernel), 0.5 * unpadded.time.total.count());
}

TEST(GpuEstimate, AnAlmostEmptyLastRoundIsTail) {
  const Gpu gpu = chip("a100_80gb");
  KernelChoice kernel;
  kernel.registers = 240;
  GemmProblem problem = square(8192, GpuPrecision::kF16);
  problem.m = 128 * 27;
  problem.n = 128 * 8;  // 216 blocks: one round
  const GpuEstimate whole = estimate(gpu, {}, problem, kernel);
  EXPECT_EQ(whole.time.tail.count(), 0);
  problem.m = 128 * 28;  // 8 more
  const GpuEstimate more = estimate(gpu, {}, problem, kernel);
  EXPECT_GT(more.time.total.count(), 1.3 * whole.time.total.count());
  EXPECT_GT(more.time.tail.count(), 0.25 * more.time.total.count());
}

TEST(GpuEstimate, SplittingKFillsTheChipAndPaysForTheWorkspace) {
  const Gpu gpu = chip("a100_80gb");
  GemmProblem problem = square(256, GpuPrecision::kF16);
  problem.k = 65536;
  KernelChoice kernel;
  kernel.stages = 3;
  const GpuEstimate one = estimate(gpu, {}, problem, kernel);
  kernel.split_k = 32;
  const GpuEstimate split = estimate(gpu, {}, problem, kernel);
  EXPECT_LT(split.time.total.count(), 0.2 * one.time.total.count());
  EXPECT_EQ(work(gpu, problem, kernel).traffic.workspace, 32.0 * 256 * 256 * 4);
  problem = square(8192, GpuPrecision::kF16);
  kernel.split_k = 1;
  const double whole = seconds(gpu, problem, kernel);
  kernel.split_k = 8;
  EXPECT_GT(seconds(gpu, problem, kernel), whole);
}

TEST(GpuEstimate, GroupsOfColumnsSaveDramReads) {
  const Gpu gpu = chip("rtx3090");  // 6 MiB of L2
  const GemmProblem problem = square(16384, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.stages = 3;
  kernel.raster = 0;
  const double plain = estimate(gpu, {}, problem, kernel).dram_bytes;
  kernel.raster = 8;
  EXPECT_LT(estimate(gpu, {}, problem, kernel).dram_bytes, 0.5 * plain);
}

TEST(GpuEstimate, RowsThatAreNotAlignedCostInstructions) {
  const Gpu gpu = chip("a100_80gb");
  GemmProblem problem = square(4096, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.stages = 3;
  const double aligned = work(gpu, problem, kernel).instructions;
  problem.k = 4095;
  EXPECT_GT(work(gpu, problem, kernel).instructions, 1.5 * aligned);
  // An implicit GEMM is copied in pieces of its channels, whatever K is.
  problem.k = 4096;
  problem.run_a = problem.run_b = 4;
  EXPECT_GT(work(gpu, problem, kernel).instructions, 1.2 * aligned);
  problem.run_a = problem.run_b = 8;
  EXPECT_EQ(work(gpu, problem, kernel).instructions, aligned);
}

// 48 KiB a step at the H200's 40 B a cycle and SM are 1230 cycles, and the latency comes on top:
// more than the 1640 that the step's MMA operations take. A stage more halves what must be hidden.
TEST(GpuEstimate, DeeperPipelinesHideMore) {
  const Gpu gpu = chip("h200");
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {128, 256, 64};
  kernel.warp = {64, 64, 64};
  kernel.padding = 0;
  kernel.raster = 0;
  const GemmProblem problem = square(2048, GpuPrecision::kF16);
  const auto stall = [&](std::int64_t stages, const GpuTiming& timing) {
    kernel.stages = stages;
    return estimate(gpu, {}, problem, kernel, timing).time.stall.count();
  };
  EXPECT_GT(stall(2, {}), 0.02 * seconds(gpu, problem, kernel));
  EXPECT_EQ(stall(3, {}), 0);
  // Tiles that the L2 does not have take the DRAM's latency.
  EXPECT_LT(stall(2, {true, false}), 0.7 * stall(2, {}));
}

// What fits the L2 is neither read from DRAM nor written there by a kernel that runs again and
// again; what is far larger is as if it ran once.
TEST(GpuEstimate, ARepeatedKernelFindsInL2WhatFits) {
  const Gpu gpu = chip("h200");
  KernelChoice kernel;
  kernel.stages = 3;
  const GpuTiming hot{true, false};
  const auto bytes = [&](std::int64_t side, const GpuTiming& timing) {
    return estimate(gpu, {}, square(side, GpuPrecision::kF16), kernel, timing).dram_bytes;
  };
  EXPECT_EQ(bytes(1024, {}), 3 * 2.0 * 1024 * 1024);
  EXPECT_EQ(bytes(1024, hot), 0);
  // The documented rule: 1.5 - 24 MiB / (0.6 x 60 MiB) of the set is found.
  EXPECT_NEAR(bytes(2048, hot), (24.0 / 36 - 0.5) * bytes(2048, {}), 1);
  EXPECT_EQ(bytes(8192, hot), bytes(8192, {}));
  const GpuTiming batch{true, true};
  const GpuEstimate one = estimate(gpu, {}, square(1024, GpuPrecision::kF16), kernel, hot);
  const GpuEstimate next = estimate(gpu, {}, square(1024, GpuPrecision::kF16), kernel, batch);
  EXPECT_NEAR((one.time.total - next.time.total).count(), GpuCalibration{}.launch.count(), 1e-12);
  EXPECT_LT(one.time.total, estimate(gpu, {}, square(1024, GpuPrecision::kF16), kernel).time.total);
}

TEST(GpuEstimate, EnergyAddsUpAndIsAboutThePowerOfTheBoardAtItsMost) {
  for (const char* name : {"h200", "h100_sxm", "h100_pcie", "a100_80gb", "a100_40gb", "a10", "l4",
                           "l20", "t4", "v100", "rtx3090", "rtx4090", "jetson_orin"}) {
    const Gpu gpu = chip(name);
    KernelChoice kernel;
    const GpuEstimate e = estimate(gpu, {}, square(8192, GpuPrecision::kF16), kernel);
    const GpuJoules& j = e.energy;
    EXPECT_EQ(j.total,
              j.mma + j.instructions + j.registers + j.shared + j.l2 + j.dram + j.constant);
    const double watts = j.total.count() * 1e-12 / e.time.total.count();
    EXPECT_LT(watts, 1.2 * gpu.power.count() / 1000) << name;
    EXPECT_GT(watts, 0.3 * gpu.power.count() / 1000) << name;
  }
}

TEST(GpuEstimate, MoreOfAnythingNeverHurts) {
  Rng rng{9};
  for (int i = 0; i < 300; ++i) {
    Gpu gpu = chip("a10");
    KernelChoice kernel;
    kernel.block = {64 * pick(rng, {1, 2}), 64 * pick(rng, {1, 2}), 32};
    kernel.warp = {pick(rng, {32, 64}), pick(rng, {32, 64}), 32};
    kernel.raster = pick(rng, {0, 4, 8});
    GemmProblem problem = square(pick(rng, {512, 2000, 4096}), GpuPrecision::kF16);
    const double before = seconds(gpu, problem, kernel);
    for (int what = 0; what < 4; ++what) {
      Gpu better = gpu;
      better.dram_bandwidth = BytesPerSecond{gpu.dram_bandwidth.count() * (what == 0 ? 2 : 1)};
      better.l2_bandwidth = BytesPerSecond{gpu.l2_bandwidth.count() * (what == 1 ? 2 : 1)};
      better.l2_size = Bytes{gpu.l2_size.count() * (what == 2 ? 4 : 1)};
      better.rates[3].wmma *= what == 3 ? 2 : 1;
      EXPECT_LE(seconds(better, problem, kernel), before * (1 + 1e-12)) << what;
    }
  }
}

}  // namespace
}  // namespace mapsim
