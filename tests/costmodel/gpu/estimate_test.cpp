// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/estimate.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim::estimate_test {
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

// Measured on kernels with one block per SM, 50 of 51 pairs were in this order: 1.09 apart where
// tiles come in time on average.
TEST(GpuEstimate, ABlockAloneGainsFromAStageMore) {
  const Gpu gpu = chip("a100_80gb");
  const GemmProblem problem = square(4096, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {256, 128, 64};
  kernel.warp = {64, 64, 64};
  kernel.padding = 0;
  const auto staged = [&](std::int64_t stages) {
    kernel.stages = stages;
    return seconds(gpu, problem, kernel);
  };
  ASSERT_EQ(resources(gpu, problem, kernel).blocks_per_sm, 1);
  EXPECT_GT(staged(2), 1.01 * staged(3));
  // Two blocks cover each other: at most the order changes.
  kernel.block = {128, 128, 32};
  kernel.warp = {64, 64, 32};
  ASSERT_GE(resources(gpu, problem, kernel).blocks_per_sm, 2);
  EXPECT_NEAR(staged(2) / staged(3), 1, 0.005);
}

// The warps of a block load together and then multiply together.
TEST(GpuEstimate, WmmaOfABlockAloneDoesOneThingAfterAnother) {
  const Gpu gpu = chip("a100_80gb");
  const GemmProblem problem = square(4096, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.block = {256, 128, 32};
  kernel.warp = {64, 64, 32};
  kernel.stages = 4;
  ASSERT_EQ(resources(gpu, problem, kernel).blocks_per_sm, 1);
  const auto total = [&](double overlap) {
    GpuCalibration calibration;
    calibration.overlap = overlap;
    return estimate(gpu, calibration, problem, kernel).time;
  };
  const GpuTime apart = total(2);
  const GpuTime together = total(20);
  // Beside the loop DRAM and L2 still overlap as they did.
  EXPECT_LT(together.total, apart.total);
  EXPECT_GT(together.total.count(), std::hypot(together.mma.count(), together.shared.count()));
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

// 256 blocks' 32 KiB a step at the H200's 5300 B a cycle are 1580 cycles, and the latency comes on
// top: more than the 1760 that the step's MMA operations take. A stage more halves what must be
// hidden.
TEST(GpuEstimate, DeeperPipelinesHideMore) {
  const Gpu gpu = chip("h200");
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {128, 128, 64};
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

// SMs that have no block take nothing from those that have one.
TEST(GpuEstimate, MoreSmsAreNeverSlower) {
  for (const char* name : {"h200", "a100_80gb", "l20", "l4", "rtx4090", "t4"}) {
    const Gpu gpu = chip(name);
    for (const std::int64_t blocks : {4, 8, 60, 132, 264, 528}) {
      for (const std::int64_t stages : {1, 2, 4}) {
        KernelChoice kernel;
        kernel.path = GpuPath::kMma;
        kernel.padding = 0;
        kernel.block = {64, 64, 64};
        kernel.warp = {32, 32, 64};
        kernel.stages = gpu.compute_capability < 80 ? std::min<std::int64_t>(stages, 2) : stages;
        GemmProblem problem = square(8192, GpuPrecision::kF16);
        problem.m = 128;
        problem.n = 32 * blocks;
        Gpu more = gpu;
        const auto expect_least = [&](double& least) {
          const double now = seconds(more, problem, kernel);
          EXPECT_LE(now, least * (1 + 1e-12))
              << name << " " << blocks << " blocks, " << stages << " stages, " << more.sms;
          least = std::min(now, least);
        };
        double least = 1;
        for (more.sms = gpu.sms / 4; more.sms <= 8 * gpu.sms; more.sms *= 2) {
          expect_least(least);
        }
        least = 1;
        // In one round whatever their number is. (Rounds of different sizes can be slower than as
        // many of the same.)
        for (more.sms = blocks / 8 + 1; more.sms <= 4 * gpu.sms; more.sms += 3) {
          const std::int64_t slots = work(more, problem, kernel).waves.slots;
          least = blocks > slots ? 1 : least;
          expect_least(least);
        }
        // Four blocks do not care how many SMs are idle.
        if (blocks == 4) {
          EXPECT_EQ(seconds(more, problem, kernel), seconds(gpu, problem, kernel)) << name;
        }
      }
    }
  }
}

// There is nothing to load ahead of the last step.
TEST(GpuEstimate, StagesBeyondTheStepsOfKChangeNothing) {
  const Gpu gpu = chip("a100_80gb");
  GemmProblem problem = square(4096, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.registers = 200;  // as many blocks per SM with all stages
  for (const std::int64_t steps : {1, 2, 3}) {
    problem.k = 32 * steps;
    kernel.stages = steps;
    const double least = seconds(gpu, problem, kernel);
    for (kernel.stages = steps + 1; kernel.stages < 5; ++kernel.stages) {
      EXPECT_EQ(seconds(gpu, problem, kernel), least) << steps << " " << kernel.stages;
    }
  }
}

// A cluster of two along M reads B once for both; three rows launch four.
TEST(GpuEstimate, ClustersWithoutAPartnerShareNothing) {
  const Gpu gpu = chip("h200");
  GemmProblem problem = square(4096, GpuPrecision::kF16);
  KernelChoice kernel;
  kernel.path = GpuPath::kWgmma;
  kernel.padding = 0;
  kernel.block = kernel.warp = {64, 128, 64};
  kernel.fragment = {64, 128, 16};
  kernel.cluster = 2;
  problem.m = 64;
  EXPECT_THAT(illegal(gpu, problem, kernel).value_or(""), testing::HasSubstr("only 1 there"));
  problem.m = 192;
  ASSERT_EQ(illegal(gpu, problem, kernel), std::nullopt);
  const auto launched = [&] {
    const GpuWaves waves = work(gpu, problem, kernel).waves;
    return waves.full * waves.slots + waves.rest;
  };
  EXPECT_EQ(launched(), 4 * 32);
  kernel.cluster = 1;
  EXPECT_EQ(launched(), 3 * 32);
}

// ptxas makes of 8 mma.sync.m16n8k32 of e4m3 with one A 16 HMMA and 40 conversions on sm_90.
TEST(GpuEstimate, HopperMultipliesFp8OfMmaSyncAsHalves) {
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.padding = 0;
  kernel.block = {128, 128, 64};
  kernel.warp = {64, 64, 64};
  kernel.stages = 3;
  const GemmProblem problem = square(4096, GpuPrecision::kFp8);
  for (const char* name : {"h200", "h100_sxm", "h100_pcie"}) {
    const Gpu gpu = chip(name);
    const double least = 4096.0 * 4096 * 4096 /
                         (gpu.rate(GpuPrecision::kF16, GpuPath::kMma) *
                          static_cast<double>(gpu.sms) * gpu.clock.count());
    EXPECT_GT(seconds(gpu, problem, kernel), least) << name;
  }
  const double steps = 32.0 * 32 * 64;  // of all blocks
  const double operations = 4096.0 * 4096 * 4096;
  const double conversions = steps * 4 * 4 * 128 * 16 / 64;  // of 4 warps, 4 fragments along K
  EXPECT_EQ(work(chip("h200"), problem, kernel).instructions -
                work(chip("l20"), problem, kernel).instructions,
            operations / 2048 - operations / 4096 + conversions);
}

}  // namespace
}  // namespace mapsim::estimate_test
