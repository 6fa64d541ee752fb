// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "core/units.hpp"

namespace mapsim {

// The formats of operands and sums: f16 is summed in fp32, f16_acc16 in fp16, s8 in int32, fp8,
// bf16 and tf32 in fp32.
enum class GpuPrecision : std::uint8_t { kF64, kF32, kTf32, kF16, kF16Acc16, kBf16, kS8, kFp8 };
inline constexpr std::size_t kGpuPrecisions = 8;
const char* to_string(GpuPrecision precision);  // "f64", ..., "f16_acc16", ..., "fp8"
Bytes operand_size(GpuPrecision precision);     // of an element in memory
Bytes sum_size(GpuPrecision precision);         // of an accumulator

// A kernel's instructions: WMMA's load_matrix_sync and mma_sync (padding against bank conflicts);
// ldmatrix and mma.sync on swizzled tiles (CUTLASS 2, cuBLAS up to Ada); Hopper's warpgroup MMA
// (CUTLASS 3, cuBLAS on Hopper); FMA, HFMA2 and DP4A instructions without tensor cores.
enum class GpuPath : std::uint8_t { kWmma, kMma, kWgmma, kSimt };
const char* to_string(GpuPath path);  // "wmma", "mma", "wgmma", "simt"

// Dense multiply-adds per cycle and SM; 0: the chip cannot.
struct GpuRate {
  double chip = 0;  // the tensor cores' own peak
  double wmma = 0;  // peak of mma.sync and WMMA: the same, except on Hopper
  double simt = 0;  // without tensor cores
  friend bool operator==(const GpuRate&, const GpuRate&) = default;
};

// Half-width that sharing a calibration adds to `error`, in quadrature. Measured by leaving chips
// and formats out: docs/decisions/0045.
inline constexpr double kSharedError = 0.1;

// The parameters of a kernel, with the meaning of KernelChoice (costmodel/gpu/kernel.hpp); its path
// is that of the calibration.
struct FixedKernel {
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 2> warp{1, 1};
  std::array<std::int64_t, 3> fragment{1, 1, 1};
  std::int64_t stages = 2;
  std::int64_t split_k = 1;
  std::int64_t raster = 0;
  std::int64_t padding = 0;
  std::int64_t cluster = 1;
  friend bool operator==(const FixedKernel&, const FixedKernel&) = default;
};

// Parameters of the timing model that only measurements determine, for one chip and, if given, one
// precision and path. The defaults are the priors of docs/gpu.md. Efficiencies are shares of peaks.
struct GpuCalibration {
  std::optional<GpuPrecision> precision{};  // absent: all
  std::optional<GpuPath> path{};            // absent: all; with a precision those of tensor cores
  double mma = 0.9;                         // of GpuRate, in the main loop
  double shared = 0.95;                     // of one wavefront of 128 B per cycle and SM
  double issue = 0.8;                       // of one instruction per cycle and scheduler
  double dram = 0.9;                        // of dram_bandwidth
  double l2 = 0.9;                          // of l2_bandwidth
  double l2_capacity = 0.6;                 // of l2_size that holds what is reused
  double overlap = 4;                       // p of (sum of x^p)^(1/p), where times overlap; >= 1
  double stall = 1;                         // scales the memory latency that is not hidden
  Seconds launch{2.5e-6};                   // per kernel
  Seconds block{0.5e-6};      // per round of resident blocks: start, barriers, epilogue
  Seconds ramp{0.5e-6};       // before DRAM streams at its bandwidth
  Seconds reduction{2.5e-6};  // of the slices of a split K: a kernel more
  double power = 1.5;         // scales the energies of the chip, DRAM's and the constant one apart;
                              // the median of the fits (docs/decisions/0098)
  Seconds settle{3e-3};       // a kernel that takes this long feels half of the power limit
  double error = 1;           // half-width of the 90 % interval of log(measured / predicted)
  double resolution = 0.03;   // kernels of one problem closer than this are not told apart
  std::string fitted_from{};  // the measurement file; empty: uncalibrated
  std::string fitted_on{};    // the name of the chip that was measured; empty: this one
  // Set if the fit is good for times only: on held-out problems this kernel was the better choice.
  std::optional<FixedKernel> best_fixed{};
  // Range of the measured times, outside of which `error` is unknown. 0: none was measured.
  Seconds shortest{0};
  Seconds longest{0};
  friend bool operator==(const GpuCalibration&, const GpuCalibration&) = default;
};

// Cycles from a request to its data.
struct GpuLatency {
  Cycles shared{0};
  Cycles l2{0};
  Cycles dram{0};
  friend bool operator==(const GpuLatency&, const GpuLatency&) = default;
};

// Energies, which no vendor publishes; all are priors. A MAC of another precision costs in inverse
// ratio of the rates: tensor cores at full rate draw the same power.
struct GpuEnergy {
  PicojoulesPerBit dram{0};
  PicojoulesPerBit l2{0};         // read or write, crossbar included
  PicojoulesPerBit shared{0};     // a wavefront is 1024 b
  PicojoulesPerBit registers{0};  // operands of the MMA instructions
  Picojoules mac_f16{0};          // arithmetic of one f16 multiply-add in a tensor core
  Picojoules instruction{0};      // of one warp: fetch, decode, operands
  Milliwatts constant{0};         // drawn whatever runs
  friend bool operator==(const GpuEnergy&, const GpuEnergy&) = default;
};

// A GPU: its `gpu:` form of an architecture file (docs/gpu.md). Sizes and limits of one SM are
// those of cuda_occupancy.h. Invariants of a loaded value: all counts and bandwidths positive.
struct Gpu {
  std::string name;
  std::int64_t compute_capability = 0;  // 90 is 9.0
  std::int64_t sms = 1;
  Hertz clock{1e9};                // at which the rates hold
  std::int64_t registers = 65536;  // of 32 b, per SM
  std::int64_t max_warps = 64;     // per SM
  std::int64_t max_blocks = 32;    // per SM
  Bytes shared_per_sm{0};          // shared memory of all resident blocks
  Bytes shared_per_block{0};       // the most that one block may have (opt-in)
  std::array<GpuRate, kGpuPrecisions> rates{};
  Bytes l2_size{0};
  BytesPerSecond l2_bandwidth{0};  // reads by all SMs together
  Bytes l2_per_sm{64};             // per cycle, into one SM
  Bytes dram_size{0};              // 0: no limit, of chips made by programs
  BytesPerSecond dram_bandwidth{0};
  GpuLatency latency;
  Milliwatts power{0};  // the board's limit; 0: unknown
  GpuEnergy energy;
  std::vector<GpuCalibration> calibrations;

  const GpuRate& rate(GpuPrecision precision) const {
    return rates[static_cast<std::size_t>(precision)];
  }
  // Multiply-adds per cycle and SM on this path; 0: impossible.
  double rate(GpuPrecision precision, GpuPath path) const;
  // The calibration for this precision and path: the closest of `calibrations`, or an uncalibrated
  // one. That of another precision serves if operands are as wide and the path is as fast. One that
  // chips or precisions share has a wider `error`; its `precision` stays that of the fit.
  GpuCalibration calibration(GpuPrecision precision, GpuPath path) const;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

inline constexpr double kLeastClockShare = 0.2;  // boards lower the clock no further
// The GPU at a share of its clock: what SMs and L2 do takes 1 / share as long, and share^2 of the
// energy, because the voltage falls, too. DRAM, launches and the constant power stay as they are
// (docs/gpu.md, Power). It has no limit on power: a clock that is given is not lowered again.
Gpu at_clock_share(Gpu gpu, double share);

}  // namespace mapsim
