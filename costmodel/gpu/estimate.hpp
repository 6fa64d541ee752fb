// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "arch/gpu.hpp"
#include "core/units.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Blocks in time: rounds of as many as are resident at once.
struct GpuWaves {
  std::int64_t rows = 0;       // blocks along M
  std::int64_t columns = 0;    // blocks along N
  std::int64_t blocks = 0;     // of the whole grid
  std::int64_t slots = 0;      // resident at once
  std::int64_t full = 0;       // rounds that fill all slots
  std::int64_t rest = 0;       // blocks of the last round, 0: there is none
  std::int64_t wave_rows = 0;  // the rectangle that one round covers
  std::int64_t wave_columns = 0;
};

// Bytes, over the whole kernel (and the reduction of split K). Shared memory is exact; what L2 and
// DRAM see rests on the rectangle of a wave.
struct GpuTraffic {
  double dram_read = 0;  // if L2 holds `l2_capacity` of its size: GpuWork has the alternatives
  double dram_write = 0;
  double l2_read = 0;  // by the SMs
  double l2_write = 0;
  double shared_read = 0;    // fragments, by all warps
  double shared_write = 0;   // tiles, by all blocks
  double register_read = 0;  // operands and sums of the MMA operations
  double register_write = 0;
};

// What a kernel does whatever the calibration: computed once, priced often.
struct GpuWork {
  GpuResources resources;
  GpuWaves waves;
  double macs = 0;         // useful ones
  double padded_macs = 0;  // executed, over all blocks
  // Of one block, over its whole K loop:
  double block_macs = 0;
  double block_wavefronts = 0;    // of shared memory, bank conflicts included
  double block_instructions = 0;  // of all warps
  double block_steps = 0;         // of the K loop
  double block_step_bytes = 0;    // A and B of one step, from L2
  double fill_bytes = 0;          // A and B before the first MMA
  double conflict_a = 1;          // wavefronts over the least
  double conflict_b = 1;
  double wavefronts = 0;  // of all blocks
  double instructions = 0;
  // Operand bytes that DRAM sends if L2 keeps: all operands between waves; the columns of a group;
  // only what the blocks of a wave use at the same time. And the bytes that L2 must hold for that.
  double dram_all = 0, dram_panel = 0, dram_wave = 0;
  double hold_all = 0, hold_panel = 0;
  double spill_bytes = 0;  // through L1 and L2
  std::int64_t kernels = 1;
  GpuTraffic traffic;  // dram_read is not set: it depends on l2_capacity
};
// `kernel` must not be illegal().
GpuWork work(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

enum class GpuBound : std::uint8_t { kMma, kShared, kIssue, kLatency, kL2, kDram, kLaunch, kTail };
const char* to_string(GpuBound bound);  // "mma", "shared memory", "issue", "latency", "L2", ...

// Each as if it were alone, but `stall`, `fill`, `launch` and `block`, which add to the total.
struct GpuTime {
  Seconds mma{0};     // tensor cores of the busiest SM, last round included
  Seconds shared{0};  // shared memory of the busiest SM
  Seconds issue{0};
  Seconds l2{0};
  Seconds dram{0};
  Seconds stall{0};   // memory latency that the stages do not hide
  Seconds fill{0};    // first tiles of every round
  Seconds tail{0};    // the part of mma, shared, issue and stall that SMs without work cause
  Seconds launch{0};  // kernels, rounds of blocks
  Seconds total{0};
};

struct GpuJoules {
  Picojoules mma{0}, instructions{0}, registers{0}, shared{0}, l2{0}, dram{0}, constant{0};
  Picojoules total{0};  // the seven, added in this order
};

struct GpuEstimate {
  GpuWork work;
  GpuTime time;
  GpuBound bound = GpuBound::kMma;
  GpuJoules energy;
  double mma_share = 0;  // useful MACs / (rate of this path x SMs x total)
  double error = 0;      // half-width of the 90 % interval of log(measured / predicted)
};

// Pure: no allocation beyond the result.
GpuEstimate price(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                  const KernelChoice& kernel, const GpuWork& work);
GpuEstimate estimate(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                     const KernelChoice& kernel);

}  // namespace mapsim
