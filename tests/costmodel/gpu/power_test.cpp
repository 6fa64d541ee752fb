// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/power.hpp"

#include <gtest/gtest.h>

#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim::power_test {
namespace {

// Watts of a kernel that is repeated for long.
double watts(const GpuEstimate& estimate) {
  return estimate.energy.total.count() * 1e-12 / estimate.time.total.count();
}

GpuCalibration long_run() {
  GpuCalibration calibration;
  calibration.settle = Seconds{0};
  return calibration;
}

TEST(PowerLimit, TheClockFallsUntilTheBoardDrawsItsLimit) {
  const Gpu gpu = chip("t4");
  const GemmProblem problem = square(8192, GpuPrecision::kF16);
  GpuCalibration calibration = long_run();
  calibration.power = 3;
  const GpuEstimate limited = estimate(gpu, calibration, problem, {});
  EXPECT_LT(limited.clock_share, 0.8);
  EXPECT_NEAR(watts(limited), 70, 0.1);
  EXPECT_GT(limited.time.power.count(), 0.2 * limited.time.total.count());
  // With nothing but the chip's energy, time goes with the inverse and power with the cube of the
  // clock: (limit - constant) / dynamic = share^3.
  ClockedTime time;
  time.run = 1;
  time.l2 = time.dram = 1e-9;
  time.full = time.total(1);
  GpuJoules joules;
  joules.mma = Picojoules{8 * (70 - 15) * 1e12};
  EXPECT_NEAR(clock_at_limit(gpu, joules, time), 0.5, 1e-3);
  joules.mma = Picojoules{(70 - 15) * 1e12};
  EXPECT_EQ(clock_at_limit(gpu, joules, time), 1);
}

TEST(PowerLimit, NothingHappensBelowItOrWhereItIsUnknown) {
  Gpu gpu = chip("t4");
  const GemmProblem problem = square(8192, GpuPrecision::kF16);
  GpuCalibration calibration = long_run();
  calibration.power = 0.3;
  const GpuEstimate cool = estimate(gpu, calibration, problem, {});
  EXPECT_EQ(cool.clock_share, 1);
  EXPECT_EQ(cool.time.power, Seconds{0});
  EXPECT_LT(watts(cool), 70);
  calibration.power = 3;
  gpu.power = Milliwatts{0};
  const GpuEstimate unlimited = estimate(gpu, calibration, problem, {});
  EXPECT_EQ(unlimited.clock_share, 1);
  EXPECT_EQ(unlimited.time.total, cool.time.total);
}

// The limit is enforced on an average: a kernel that takes `settle` feels half of it.
TEST(PowerLimit, ShortKernelsFeelLessOfIt) {
  const Gpu gpu = chip("t4");
  const GemmProblem problem = square(4096, GpuPrecision::kF16);
  GpuCalibration calibration = long_run();
  calibration.power = 3;
  const double settled = estimate(gpu, calibration, problem, {}).clock_share;
  calibration.settle = Seconds{1e9};
  const GpuEstimate at_once = estimate(gpu, calibration, problem, {});
  EXPECT_NEAR(at_once.clock_share, 1, 1e-6);
  calibration.settle = at_once.time.total;
  EXPECT_NEAR(estimate(gpu, calibration, problem, {}).clock_share, (1 + settled) / 2, 1e-6);
}

// The memory's clock is another: what DRAM bounds is not slower.
TEST(PowerLimit, WhatDramBoundsLosesLittle) {
  const Gpu gpu = chip("t4");
  GemmProblem problem = square(8192, GpuPrecision::kF16);
  problem.m = 16;
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {16, 64, 64};
  kernel.warp = {16, 16, 64};
  kernel.padding = 0;
  GpuCalibration calibration = long_run();
  calibration.power = 8;
  const GpuEstimate limited = estimate(gpu, calibration, problem, kernel);
  ASSERT_EQ(limited.bound, GpuBound::kDram);
  EXPECT_LT(limited.clock_share, 0.95);
  EXPECT_LT(limited.time.power.count(), 0.1 * limited.time.total.count());
}

// A chip at the clock that the limit leaves has the times and energies of the limited one.
TEST(PowerLimit, LeavesAChipAtALowerClock) {
  for (const char* name : {"t4", "a100_80gb", "l4"}) {
    const Gpu gpu = chip(name);
    int lowered = 0;
    for (const std::int64_t size : {1024, 4096, 8192}) {
      for (const std::int64_t m : {std::int64_t{64}, size}) {
        GemmProblem problem = square(size, GpuPrecision::kF16);
        problem.m = m;
        KernelChoice kernel;
        kernel.path = GpuPath::kMma;
        kernel.block = {64, 128, 32};
        kernel.warp = {32, 64, 32};
        kernel.fragment = {16, 8, 16};
        kernel.stages = gpu.compute_capability >= 80 ? 3 : 2;
        kernel.padding = 0;
        GpuCalibration calibration = long_run();
        calibration.power = 4;
        const GpuEstimate limited = estimate(gpu, calibration, problem, kernel);
        const Gpu slower = at_clock_share(gpu, limited.clock_share);
        const GpuEstimate given = estimate(slower, calibration, problem, kernel);
        EXPECT_EQ(given.clock_share, 1);
        EXPECT_EQ(given.time.power, Seconds{0});
        const double close = 1e-12 * limited.time.total.count();
        EXPECT_NEAR(given.time.total.count(), limited.time.total.count(), close) << name << size;
        const double joules = limited.energy.total.count();
        EXPECT_NEAR(given.energy.total.count(), joules, 1e-12 * joules) << name << size;
        EXPECT_EQ(given.energy.dram, limited.energy.dram);
        lowered += limited.clock_share < 0.99 ? 1 : 0;
      }
    }
    EXPECT_GT(lowered, 1) << name;
  }
}

}  // namespace
}  // namespace mapsim::power_test
