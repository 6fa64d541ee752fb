// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "costmodel/evaluate.hpp"
#include "costmodel/gpu/estimate.hpp"
#include "costmodel/gpu/lower.hpp"
#include "costmodel/reference/simulate.hpp"
#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim::traffic_test {
namespace {

constexpr TensorId kA{0}, kB{1}, kC{2};
constexpr LevelId kDram{0}, kL2{1}, kShared{2}, kRegisters{3};

struct Case {
  GemmProblem problem;
  KernelChoice kernel;
  GpuWaves waves;
};

// Any extents: edges that no tile divides, waves of any shape; at least two K steps, and slices
// that divide K (a kernel of one step rereads what the counting finds still there).
Case random_case(Rng& rng) {
  Case result;
  KernelChoice& kernel = result.kernel;
  kernel.path = rng.below(4) == 0 ? GpuPath::kWgmma : GpuPath::kWmma;
  kernel.fragment = {pick(rng, {1, 2, 4}), pick(rng, {1, 2, 4}), pick(rng, {1, 2})};
  kernel.warp = {kernel.fragment.m * pick(rng, {1, 2, 3}), kernel.fragment.n * pick(rng, {1, 2}),
                 kernel.fragment.k * pick(rng, {1, 2})};
  kernel.block = {kernel.warp.m * pick(rng, {1, 2}), kernel.warp.n * pick(rng, {1, 2, 3}),
                  kernel.warp.k};
  kernel.split_k = pick(rng, {1, 1, 2});
  kernel.raster = pick(rng, {0, 1, 2, 3});
  kernel.cluster = kernel.path == GpuPath::kWgmma ? pick(rng, {1, 2, 3}) : 1;
  GemmProblem& problem = result.problem;
  const auto below = [&rng](std::int64_t bound) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
  };
  problem.m = 1 + below(4 * kernel.block.m);
  problem.n = 1 + below(4 * kernel.block.n);
  problem.k = kernel.split_k * (kernel.block.k + 1 + below(2 * kernel.block.k));
  problem.batch = pick(rng, {1, 2});
  problem.precision = static_cast<GpuPrecision>(rng.below(kGpuPrecisions));
  Gpu gpu;
  gpu.sms = kernel.cluster * pick(rng, {1, 2, 3, 4, 6});
  result.waves = waves(gpu, problem, kernel, 1);
  return result;
}

std::string text(const Case& c) {
  return to_string(c.kernel) + " " + std::to_string(c.problem.m) + "x" +
         std::to_string(c.problem.n) + "x" + std::to_string(c.problem.k) + " waves of " +
         std::to_string(c.waves.wave_rows) + "x" + std::to_string(c.waves.wave_columns);
}

Counts counts_of(const Case& c, CacheHolds holds, GpuExtent extent) {
  const GpuNest nest = lower(c.problem, c.kernel, c.waves, holds, extent);
  EXPECT_TRUE(check_structure(nest.arch, nest.workload, nest.mapping).empty()) << text(c);
  return count(Problem{nest.arch, nest.workload}, nest.mapping);
}

double bytes(std::int64_t elements, Bytes size) {
  return static_cast<double>(elements) * static_cast<double>(size.count());
}

TEST(GpuTraffic, OfSharedMemoryAndRegistersIsWhatTheCommonCountingSays) {
  Rng rng{1};
  for (int i = 0; i < 500; ++i) {
    const Case c = random_case(rng);
    const GpuTraffic traffic = mapsim::traffic(c.problem, c.kernel, c.waves);
    const Counts counts = counts_of(c, CacheHolds::kStep, GpuExtent::kTiles);
    const Bytes size = operand_size(c.problem.precision);
    const Bytes sum = sum_size(c.problem.precision);
    const auto& shared = counts.levels[kShared];
    EXPECT_EQ(traffic.shared_read, bytes(shared[kA].total.reads + shared[kB].total.reads, size))
        << text(c);
    EXPECT_EQ(traffic.shared_write, bytes(shared[kA].total.fills + shared[kB].total.fills, size))
        << text(c);
    const auto& registers = counts.levels[kRegisters];
    EXPECT_EQ(traffic.register_write, bytes(registers[kC].total.updates, sum)) << text(c);
    // An MMA operation reads its sums the first time, too: zeros. The counting need not.
    EXPECT_EQ(traffic.register_read,
              bytes(registers[kA].total.reads + registers[kB].total.reads, size) +
                  bytes(registers[kC].total.updates, sum))
        << text(c);
  }
}

TEST(GpuTraffic, OfL2AndDramIsWhatTheCommonCountingSays) {
  Rng rng{2};
  for (int i = 0; i < 500; ++i) {
    const Case c = random_case(rng);
    const GpuTraffic traffic = mapsim::traffic(c.problem, c.kernel, c.waves);
    const Bytes size = operand_size(c.problem.precision);
    for (const CacheHolds holds : {CacheHolds::kStep, CacheHolds::kGroup, CacheHolds::kAll}) {
      const Counts counts = counts_of(c, holds, GpuExtent::kProblem);
      const auto& dram = counts.levels[kDram];
      EXPECT_DOUBLE_EQ(traffic.holds[static_cast<std::size_t>(holds)].dram_read,
                       bytes(dram[kA].total.reads + dram[kB].total.reads, size))
          << text(c) << " holds " << static_cast<int>(holds);
      const auto& l2 = counts.levels[kL2];
      EXPECT_DOUBLE_EQ(traffic.l2_read - traffic.workspace,
                       bytes(l2[kA].total.reads + l2[kB].total.reads, size))
          << text(c);
      EXPECT_EQ(l2[kC].total.updates,
                c.problem.batch * c.kernel.split_k * c.problem.m * c.problem.n)
          << text(c);
    }
  }
}

TEST(GpuTraffic, LoweredKernelsSimulateToTheSameCountsAndTheRightProduct) {
  Rng rng{3};
  for (int i = 0; i < 60; ++i) {
    const Case c = random_case(rng);
    const auto holds = static_cast<CacheHolds>(rng.below(3));
    const auto extent = static_cast<GpuExtent>(rng.below(2));
    const GpuNest nest = lower(c.problem, c.kernel, c.waves, holds, extent);
    const Problem problem{nest.arch, nest.workload};
    const Simulation simulation =
        simulate(problem, nest.mapping, random_operands(nest.workload, 7), 1'000'000);
    EXPECT_EQ(simulation.counts, count(problem, nest.mapping)) << text(c);
  }
}

TEST(GpuWaves, CoverTheGridAndFitTheSlots) {
  Rng rng{4};
  for (int i = 0; i < 2000; ++i) {
    const Case c = random_case(rng);
    const GpuWaves& w = c.waves;
    const std::int64_t launched = w.full * w.slots + w.rest;  // whole clusters
    const std::int64_t cluster = c.kernel.cluster;
    EXPECT_EQ(launched, w.blocks / w.rows * ((w.rows + cluster - 1) / cluster * cluster))
        << text(c);
    EXPECT_GE(w.wave_rows, 1);
    EXPECT_GE(w.wave_columns, 1);
    EXPECT_LE(w.wave_rows, w.rows) << text(c);
    EXPECT_LE(w.wave_columns, w.columns) << text(c);
    EXPECT_LE(w.wave_rows * w.wave_columns, w.slots) << text(c);
  }
}

}  // namespace
}  // namespace mapsim::traffic_test
