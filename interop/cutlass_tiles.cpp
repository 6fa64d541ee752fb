// SPDX-License-Identifier: Apache-2.0
#include "interop/cutlass_tiles.hpp"

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <string_view>

namespace mapsim {
namespace {

// Tiles of the generator's functions: M x N x K / stages : warps along M x along N.
constexpr std::string_view kVoltaHalf =  // GenerateSM70_TensorOp_884
    "64x64x32/2:2x2 64x128x32/2:2x2 64x256x32/2:1x4 128x64x32/2:2x2 128x128x32/2:2x2 "
    "128x256x32/2:2x4 256x64x32/2:4x1 256x128x32/2:4x2";
constexpr std::string_view kTuringHalf =  // GenerateSM75_TensorOp_1688
    "64x64x32/2:2x2 64x128x32/2:2x2 64x128x64/2:1x2 64x256x32/2:1x4 128x64x32/2:2x2 "
    "128x128x32/2:2x2 128x256x32/2:2x4 256x64x32/2:4x1 256x128x32/2:4x2";
constexpr std::string_view kTuringInt8 =  // GenerateSM75_TensorOp_8816_TN
    "32x256x64/2:1x4 64x32x32/2:2x1 64x32x64/2:2x1 64x64x32/2:2x2 64x64x64/2:2x2 "
    "64x128x32/2:2x2 64x128x64/2:2x2 64x256x32/2:1x4 64x256x64/2:1x4 128x32x32/2:2x1 "
    "128x32x64/2:4x1 128x64x32/2:2x2 128x64x64/2:2x2 128x128x32/2:2x2 128x128x64/2:2x2 "
    "128x256x32/2:2x4 128x256x64/2:2x4 256x32x64/2:4x1 256x64x32/2:4x1 256x64x64/2:4x1 "
    "256x128x32/2:4x2 256x128x64/2:4x2";
constexpr std::string_view kHalf =  // GenerateSM80_TensorOp_16816
    "64x64x32/10:2x2 64x64x64/5:2x2 64x128x32/6:2x2 64x128x64/3:2x2 64x256x32/4:1x4 "
    "64x256x64/3:1x4 64x256x64/4:1x4 128x64x32/6:2x2 128x64x64/3:2x2 128x128x32/3:2x2 "
    "128x128x32/4:2x2 128x128x32/5:2x2 128x128x64/3:2x2 128x128x64/4:2x2 128x256x32/3:2x4 "
    "128x256x64/3:2x4 256x64x32/3:4x1 256x64x32/4:4x1 256x64x64/3:4x1 256x64x64/4:4x1 "
    "256x128x32/3:4x2 256x128x64/3:4x2";
constexpr std::string_view kTf32 =  // GenerateSM80_TensorOp_1688
    "64x64x16/10:2x2 64x64x32/5:2x2 64x128x16/6:2x2 64x128x32/3:2x2 64x256x16/4:1x4 "
    "64x256x32/4:1x4 128x64x16/6:2x2 128x64x32/3:2x2 128x128x16/3:2x2 128x128x16/4:2x2 "
    "128x128x16/5:2x2 128x128x32/3:2x2 128x128x32/4:2x2 128x256x16/3:2x4 128x256x32/3:2x4 "
    "256x64x16/4:4x1 256x64x32/4:4x1 256x128x16/3:4x2 256x128x32/3:4x2";
constexpr std::string_view kInt8 =  // GenerateSM80_TensorOp_16832_TN
    "32x128x64/6:1x4 32x128x128/4:1x4 32x256x64/4:1x4 32x256x128/4:1x4 64x64x64/10:2x2 "
    "64x64x128/5:2x2 64x128x64/6:2x2 64x128x128/3:2x2 64x256x64/4:1x4 64x256x128/4:1x4 "
    "128x32x64/6:4x1 128x32x128/4:4x1 128x64x64/6:2x2 128x64x128/3:2x2 128x128x64/5:2x2 "
    "128x128x128/4:2x2 128x256x64/3:2x4 128x256x128/3:2x4 256x32x64/4:4x1 256x32x128/4:4x1 "
    "256x64x64/4:4x1 256x64x128/4:4x1 256x128x64/3:4x2 256x128x128/3:4x2";
constexpr std::string_view kFp8 =  // GenerateSM89_TensorOp_16832_fp8
    "32x128x64/6:1x4 32x128x128/4:1x4 32x256x64/4:1x4 32x256x128/4:1x4 64x64x64/6:2x2 "
    "64x64x64/10:2x2 64x64x128/5:2x2 64x64x128/6:2x2 64x128x64/3:2x2 64x128x64/4:2x2 "
    "64x128x64/5:2x2 64x128x64/6:2x2 64x128x128/3:2x2 64x128x128/4:2x2 64x256x64/3:1x4 "
    "64x256x64/4:1x4 64x256x128/4:1x4 128x32x64/6:4x1 128x32x128/4:4x1 128x64x64/3:2x2 "
    "128x64x64/4:2x2 128x64x64/5:2x2 128x64x64/6:2x2 128x64x128/3:2x2 128x64x128/4:2x2 "
    "128x128x64/3:2x2 128x128x64/4:2x2 128x128x64/5:2x2 128x128x64/6:2x2 128x128x128/3:2x2 "
    "128x128x128/4:2x2 128x128x128/5:2x2 128x256x64/3:2x4 128x256x64/6:2x4 128x256x128/3:2x4 "
    "256x32x64/4:4x1 256x32x128/4:4x1 256x64x64/3:4x1 256x64x64/4:4x1 256x64x128/4:4x1 "
    "256x128x64/3:4x2 256x128x64/6:4x2 256x128x128/3:4x2";
constexpr std::string_view kDouble =  // GenerateSM80_TensorOp_884
    "16x32x16/5:1x2 32x16x16/5:2x1 32x32x16/5:2x2 32x64x16/4:2x2 32x256x16/3:1x4 64x32x16/4:2x2 "
    "64x64x16/4:2x2 64x128x16/3:2x2 64x256x16/3:2x4 128x64x16/3:2x2 128x128x16/3:4x2 "
    "256x32x16/3:4x1 256x64x16/3:4x2";
constexpr std::string_view kSimt =  // GenerateSM50_Simt
    "32x128x8/2:1x2 64x64x8/2:2x1 64x128x8/2:2x2 128x32x8/2:2x1 128x64x8/2:2x2 128x128x8/2:4x2";
constexpr std::string_view kSimtPipelined =  // GenerateSM80_Simt_f32: from sm_80 on, besides
    "32x128x8/5:1x2 64x64x8/5:2x1 64x128x8/5:2x2 128x32x8/5:2x1 128x64x8/5:2x2 128x128x8/4:4x2 "
    "128x128x8/5:4x2 128x256x8/4:2x4 128x256x8/5:2x4 256x128x8/4:4x2 256x128x8/5:4x2";

// GenerateSM90_TensorOp_*_WGMMA_gemm: M x N of blocks of two warpgroups (cooperative) and of one.
constexpr std::string_view kTwoWarpgroups = "128x128 128x256 256x128 256x256";
constexpr std::string_view kTwoWarpgroupsOf8Bits = "128x128 128x256";
constexpr std::string_view kWarpgroup = "64x256 128x128 128x256 256x128 256x256";
constexpr std::string_view kWarpgroupOf8Bits = "64x128 64x256 128x128 128x256";
constexpr std::string_view kWarpgroupOfTf32 = "64x128 64x256 128x128 128x256 256x128 256x256";

bool has(std::string_view words, const std::string& word) {
  return fmt::format(" {} ", words).find(fmt::format(" {} ", word)) != std::string::npos;
}

// Their steps of K are 128 B; their clusters share along one side.
bool makes_for_hopper(GpuPrecision precision, const KernelChoice& kernel) {
  const std::int64_t size = operand_size(precision).count();
  const bool pair = kernel.warps() == 2;
  const std::string_view tiles = size == 1   ? pair ? kTwoWarpgroupsOf8Bits : kWarpgroupOf8Bits
                                 : pair      ? kTwoWarpgroups
                                 : size == 4 ? kWarpgroupOfTf32
                                             : kWarpgroup;
  return kernel.block.k * size == 128 && kernel.cluster == 2 &&
         has(tiles, fmt::format("{}x{}", kernel.block.m, kernel.block.n));
}

std::string_view tiles_of(const Gpu& gpu, GpuPrecision precision) {
  const bool ampere = gpu.compute_capability >= 80;
  const bool turing = gpu.compute_capability >= 75;
  switch (precision) {
    case GpuPrecision::kF16:
    case GpuPrecision::kF16Acc16:
      return ampere ? kHalf : turing ? kTuringHalf : kVoltaHalf;
    case GpuPrecision::kBf16:
      return kHalf;
    case GpuPrecision::kTf32:
      return kTf32;
    case GpuPrecision::kS8:
      return ampere ? kInt8 : kTuringInt8;
    case GpuPrecision::kF64:
      return kDouble;
    case GpuPrecision::kFp8:
      return kFp8;
    case GpuPrecision::kF32:
      break;
  }
  return kSimt;
}

}  // namespace

bool cutlass_makes(const Gpu& gpu, GpuPrecision precision, const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kWgmma) {
    return makes_for_hopper(precision, kernel);
  }
  const bool simt = kernel.path == GpuPath::kSimt;
  const std::string tile =
      fmt::format("{}x{}x{}/{}:{}x{}", kernel.block.m, kernel.block.n, kernel.block.k,
                  kernel.stages, kernel.block.m / kernel.warp.m, kernel.block.n / kernel.warp.n);
  return has(simt ? kSimt : tiles_of(gpu, precision), tile) ||
         (simt && gpu.compute_capability >= 80 && has(kSimtPipelined, tile));
}

std::int64_t cutlass_alignment(const Gpu& gpu, const GemmProblem& problem, GpuPath path) {
  const std::int64_t size = operand_size(problem.precision).count();
  if (path == GpuPath::kSimt || problem.precision == GpuPrecision::kF64) {
    return 1;
  }
  const std::int64_t widest = 16 / size;
  const std::int64_t inputs = std::gcd(std::gcd(run_of_a(problem), run_of_b(problem)), widest);
  if (path == GpuPath::kWgmma) {
    return inputs == widest ? widest : 0;
  }
  if (size == 1) {  // C in pieces of 8
    return inputs == widest && problem.m % 8 == 0 ? widest : 0;
  }
  const std::int64_t found = std::gcd(inputs, problem.m);            // a column of C lies together
  const bool has_single = size == 4 || gpu.compute_capability < 80;  // cp.async: 4 B at least
  return found > 1 || has_single ? found : 0;
}

}  // namespace mapsim
