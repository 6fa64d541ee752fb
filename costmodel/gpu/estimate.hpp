// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "arch/gpu.hpp"
#include "core/units.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// The schedule of blocks. They run in rounds; a round has as many as can be resident at once.
struct GpuWaves {
  std::int64_t rows = 0;       // blocks along M
  std::int64_t columns = 0;    // blocks along N
  std::int64_t blocks = 0;     // of the whole grid
  std::int64_t slots = 0;      // resident at once
  std::int64_t full = 0;       // rounds that fill all slots
  std::int64_t rest = 0;       // blocks of the last round; 0: the full ones are all
  std::int64_t wave_rows = 0;  // the rectangle of blocks that one round covers
  std::int64_t wave_columns = 0;
};
GpuWaves waves(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel,
               std::int64_t blocks_per_sm);

// The part of A and B that the L2 cache keeps between uses: the tiles of a wave's blocks in one K
// step; also the columns (or rows) shared by a group of waves; or everything.
enum class CacheHolds : std::uint8_t { kStep, kGroup, kAll };

// Bytes, over the whole kernel and the reduction of a split K. Equal to the counting of the same
// kernel as a mapping (costmodel/gpu/lower.hpp); L2 and DRAM rest on the rectangle of a wave.
struct GpuTraffic {
  struct Hold {
    double needs = 0;      // of L2, for that
    double dram_read = 0;  // A and B
  };
  std::array<Hold, 3> holds{};  // by CacheHolds
  double dram_sums = 0;         // C read and written
  double workspace = 0;         // of a split K, written once and read once
  double l2_read = 0;           // by the SMs
  double l2_write = 0;
  double shared_read = 0;    // fragments
  double shared_write = 0;   // tiles
  double register_read = 0;  // operands and sums of the MMA operations
  double register_write = 0;
};
GpuTraffic traffic(const GemmProblem& problem, const KernelChoice& kernel, const GpuWaves& waves);

// The work of a kernel, which does not depend on the calibration: computed once, priced often.
struct GpuWork {
  GpuResources resources;
  GpuWaves waves;
  GpuTraffic traffic;
  double macs = 0;         // useful ones
  double padded_macs = 0;  // executed, over all blocks
  // Figures of one block:
  double steps = 0;              // of the K loop
  double step_macs = 0;          // of one of them
  double step_wavefronts = 0;    // of shared memory, bank conflicts included
  double step_instructions = 0;  // of all warps
  double step_bytes = 0;         // A and B, from L2
  double output_bytes = 0;       // C, to L2
  double extra_stores = 0;       // instructions, where rows of C are no multiples of 16 B
  // Over all blocks:
  double wavefronts = 0;
  double instructions = 0;
  std::int64_t kernels = 1;  // a split K takes a second one
};
// `kernel` must not be illegal().
GpuWork work(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

enum class GpuBound : std::uint8_t { kMma, kShared, kIssue, kLatency, kL2, kDram, kLaunch, kTail };
const char* to_string(GpuBound bound);  // "mma", "shared memory", "issue", "latency", "L2", ...

// Each time as if it were alone and at the full clock; stall, fill, reduction, launch and power are
// added to the total.
struct GpuTime {
  Seconds mma{0};     // tensor cores of the busiest SM, last round included
  Seconds shared{0};  // shared memory of the busiest SM
  Seconds issue{0};
  Seconds l2{0};  // all reads and writes, or those of the busiest SM
  Seconds dram{0};
  Seconds reduction{0};  // of the slices of a split K, after all else
  Seconds stall{0};      // memory latency that the stages do not hide
  Seconds fill{0};       // first tiles of every round
  Seconds tail{0};       // the part of mma, shared, issue and stall that SMs without work cause
  Seconds launch{0};     // kernels, rounds of blocks
  Seconds power{0};      // time lost to the power limit
  Seconds total{0};
};

struct GpuJoules {
  Picojoules mma{0}, instructions{0}, registers{0}, shared{0}, l2{0}, dram{0}, constant{0};
  Picojoules total{0};  // the seven, added in this order
};

struct GpuEstimate {
  CacheHolds cache = CacheHolds::kStep;
  double dram_bytes = 0;
  double l2_bytes = 0;
  GpuTime time;
  GpuBound bound = GpuBound::kMma;
  GpuJoules energy;
  double clock_share = 1;  // of the clock at which the rates hold, that the power limit leaves
  double mma_share = 0;    // useful MACs / (rate of this path x SMs x total)
  double error = 0;        // half-width of the 90 % interval of log(measured / predicted)
};

// The conditions of a time. By default a program runs the kernel once, launch included, with
// operands and results in DRAM.
struct GpuTiming {
  bool hot = false;           // the L2 holds data of the same kernel's last run
  bool back_to_back = false;  // launched while the one before runs: the launch is no part of it
};

// Pure: no allocation beyond the result.
GpuEstimate price(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                  const KernelChoice& kernel, const GpuWork& work, const GpuTiming& timing = {});
GpuEstimate estimate(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                     const KernelChoice& kernel, const GpuTiming& timing = {});

// No more than the time of `kernel` with any raster; for searches that cost the rasters of few
// kernels.
Seconds least_time(const Gpu& gpu, const GpuCalibration& calibration, const GemmProblem& problem,
                   const KernelChoice& kernel);

// Relative standard deviation of a repeated measurement of this time: 0.000374 / ms + 0.00044,
// fitted by kernelTab on an RTX A6000 (goldens/gpu/hardware/microbench_facts.csv).
double timing_noise(Seconds time);

// A kernel of two stages, of this time, goes after its sibling of three where no measurement could
// tell the two apart and as many blocks share an SM: three bear a latency that is above its mean.
// The time of that sibling; empty: the kernel has none such.
std::optional<Seconds> deeper_sibling(const Gpu& gpu, const GpuCalibration& calibration,
                                      const GemmProblem& problem, KernelChoice kernel,
                                      Seconds total);

}  // namespace mapsim
