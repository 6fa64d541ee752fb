// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu.hpp"

#include <algorithm>
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

GpuCalibration Gpu::calibration(GpuPrecision precision, GpuPath path) const {
  GpuCalibration best;
  int particular = -1;
  for (const GpuCalibration& block : calibrations) {
    // A library's kernels of a precision that tensor cores have say nothing of others.
    const bool other_units =
        !block.path && block.precision && path == GpuPath::kSimt && rate(precision).chip > 0;
    const bool applies = block.precision.value_or(precision) == precision &&
                         block.path.value_or(path) == path && !other_units;
    const int named = (block.precision ? 1 : 0) + (block.path ? 1 : 0);
    if (applies && named > particular) {
      best = block;
      particular = named;
    }
  }
  return best;
}

}  // namespace mapsim
