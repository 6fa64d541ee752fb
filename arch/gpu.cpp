// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim {

const char* to_string(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF64:
      return "f64";
    case GpuPrecision::kF32:
      return "f32";
    case GpuPrecision::kTf32:
      return "tf32";
    case GpuPrecision::kF16:
      return "f16";
    case GpuPrecision::kF16Acc16:
      return "f16_acc16";
    case GpuPrecision::kBf16:
      return "bf16";
    case GpuPrecision::kS8:
      return "s8";
    case GpuPrecision::kFp8:
      return "fp8";
  }
  return "";
}

const char* to_string(GpuPath path) {
  switch (path) {
    case GpuPath::kWmma:
      return "wmma";
    case GpuPath::kMma:
      return "mma";
    case GpuPath::kWgmma:
      return "wgmma";
    case GpuPath::kSimt:
      return "simt";
  }
  return "";
}

Bytes operand_size(GpuPrecision precision) {
  constexpr std::array<std::int64_t, kGpuPrecisions> kSizes{8, 4, 4, 2, 2, 2, 1, 1};
  return Bytes{kSizes[static_cast<std::size_t>(precision)]};
}

Bytes sum_size(GpuPrecision precision) {
  constexpr std::array<std::int64_t, kGpuPrecisions> kSizes{8, 4, 4, 4, 2, 4, 4, 4};
  return Bytes{kSizes[static_cast<std::size_t>(precision)]};
}

double Gpu::rate(GpuPrecision precision, GpuPath path) const {
  const GpuRate& rates_of = rate(precision);
  switch (path) {
    case GpuPath::kWgmma:
      return compute_capability == 90 && precision != GpuPrecision::kF64 ? rates_of.chip : 0;
    case GpuPath::kWmma:
      return precision == GpuPrecision::kFp8 ? 0 : rates_of.wmma;
    case GpuPath::kMma:  // f64 has no warpgroup MMA (PTX ISA, wgmma): its peak is mma.sync's
      return precision == GpuPrecision::kF64 ? rates_of.chip : rates_of.wmma;
    case GpuPath::kSimt:  // HFMA2 sums in 16 bits; sums of fp32 take the fp32 units
      return precision == GpuPrecision::kF16 || precision == GpuPrecision::kBf16
                 ? std::min(rates_of.simt, rate(GpuPrecision::kF32).simt)
                 : rates_of.simt;
  }
  return 0;
}

namespace {

// How close a block is to what is asked; the closest one serves. 0: it does not apply.
int closeness(const Gpu& gpu, const GpuCalibration& block, GpuPrecision precision, GpuPath path) {
  constexpr int kPath = 1;       // a fit of this path and no other
  constexpr int kPrecision = 4;  // a fit of some precision, not what is left for all
  constexpr int kSame = 2;       // of this very precision
  constexpr int kOwn = 8;        // of this chip
  const GpuPrecision fitted = block.precision.value_or(precision);
  const bool is_alike = operand_size(fitted) == operand_size(precision) &&
                        gpu.rate(fitted, path) == gpu.rate(precision, path);
  // A library's kernels of a precision that tensor cores have say nothing of others.
  const bool other_units =
      !block.path && block.precision && path == GpuPath::kSimt && gpu.rate(precision).chip > 0;
  if ((fitted != precision && !is_alike) || block.path.value_or(path) != path || other_units) {
    return 0;
  }
  const int named = block.precision ? kPrecision + (fitted == precision ? kSame : 0) +
                                          (block.fitted_on.empty() ? kOwn : 0)
                                    : 1;
  return named + (block.path ? kPath : 0);
}

}  // namespace

GpuCalibration Gpu::calibration(GpuPrecision precision, GpuPath path) const {
  GpuCalibration best;
  int closest = 0;
  for (const GpuCalibration& block : calibrations) {
    const int close = closeness(*this, block, precision, path);
    if (close > closest) {
      best = block;
      closest = close;
    }
  }
  const bool is_shared = !best.fitted_on.empty() || best.precision.value_or(precision) != precision;
  if (is_shared && !best.fitted_from.empty()) {
    best.error = std::hypot(best.error, kSharedError);
  }
  return best;
}

Gpu at_clock_share(Gpu gpu, double share) {
  const double square = share * share;
  gpu.clock = Hertz{share * gpu.clock.count()};
  gpu.l2_bandwidth = BytesPerSecond{share * gpu.l2_bandwidth.count()};
  for (PicojoulesPerBit* each : {&gpu.energy.l2, &gpu.energy.shared, &gpu.energy.registers}) {
    *each = PicojoulesPerBit{square * each->count()};
  }
  for (Picojoules* each : {&gpu.energy.mac_f16, &gpu.energy.instruction}) {
    *each = Picojoules{square * each->count()};
  }
  gpu.power = Milliwatts{0};
  return gpu;
}

}  // namespace mapsim
