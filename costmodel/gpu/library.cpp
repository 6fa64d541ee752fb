// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/library.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/arithmetic.hpp"

namespace mapsim {
namespace {

// Of mma.sync and FMA kernels, and what the warpgroup instruction takes besides (cuBLAS's names of
// its kernels on Hopper have tiles such as 192x192 and 128x160).
constexpr std::array<std::int64_t, 8> kSides{16, 32, 64, 96, 128, 160, 192, 256};
bool is_power(std::int64_t side) { return side != 96 && side != 160 && side != 192; }
constexpr std::int64_t kMostOutputs = 192 * 192;  // of a block: its sums are in registers
constexpr std::int64_t kStepBytes = 128;          // of a row of A or B in one K step: a cache line
constexpr std::int64_t kMostSlices = 32;
constexpr std::int64_t kMostRounds = 4;  // slices of K are there to fill the SMs, not to queue

// Halves the longer side until there is a tile for each part; sides stay at least `least`.
GemmTile halve(GemmTile tile, std::int64_t parts, std::int64_t least) {
  for (; parts > 1; parts /= 2) {
    std::int64_t& longer = tile.m >= tile.n ? tile.m : tile.n;
    if (longer / 2 < least) {
      return tile;
    }
    longer /= 2;
  }
  return tile;
}

// 64 of the shorter side per warpgroup instruction, up to 256 of the other: fewer operands to read.
// A warpgroup each, or 128 of them where there would be four.
std::optional<KernelChoice> wgmma_kernel(const GemmTile& block, std::int64_t size) {
  const bool by_rows = block.m % 64 == 0 && (block.n % 64 != 0 || block.n >= block.m);
  if (!by_rows && block.n % 64 != 0) {
    return std::nullopt;
  }
  KernelChoice kernel;
  kernel.path = GpuPath::kWgmma;
  kernel.block = kernel.warp = block;
  std::int64_t& side = by_rows ? kernel.warp.m : kernel.warp.n;
  side = side == 256 ? 128 : 64;
  kernel.fragment =
      by_rows ? GemmTile{64, kernel.warp.n, 32 / size} : GemmTile{kernel.warp.m, 64, 32 / size};
  return kernel;
}

KernelChoice mma_kernel(const GemmTile& block, const GemmTile& fragment) {
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = block;
  kernel.warp = halve(block, block.m * block.n >= 128 * 128 ? 8 : 4, 16);
  kernel.fragment = fragment;
  return kernel;
}

KernelChoice simt_kernel(const GemmTile& block) {
  KernelChoice kernel;
  kernel.path = GpuPath::kSimt;
  kernel.block = block;
  kernel.warp = halve(block, block.m * block.n >= 128 * 128 ? 8 : 4, 8);
  const GemmTile thread = halve(kernel.warp, 32, 1);
  kernel.fragment = {thread.m, thread.n, 1};
  return kernel;
}

std::optional<KernelChoice> kernel_of(const Gpu& gpu, const GemmProblem& problem, std::int64_t m,
                                      std::int64_t n) {
  const std::int64_t size = operand_size(problem.precision).count();
  std::optional<KernelChoice> kernel;
  if (gpu.rate(problem.precision, GpuPath::kWgmma) > 0 && is_for_wgmma(problem)) {
    kernel = wgmma_kernel({m, n, kStepBytes / size}, size);
  } else if (!is_power(m) || !is_power(n)) {
    return std::nullopt;
  } else if (gpu.rate(problem.precision, GpuPath::kMma) > 0 &&
             reads_as_it_lies(problem, GpuPath::kMma, true) &&
             reads_as_it_lies(problem, GpuPath::kMma, false) &&
             !wmma_fragments(problem.precision).empty()) {
    kernel = mma_kernel({m, n, kStepBytes / size}, wmma_fragments(problem.precision).front());
  } else {
    kernel = simt_kernel({m, n, 16});
  }
  if (kernel) {
    kernel->raster = 8;
    kernel->padding = 0;
  }
  return kernel;
}

// With as many stages as fit, up to four. Nothing: it cannot run at all.
std::optional<KernelChoice> staged(const Gpu& gpu, const GemmProblem& problem,
                                   KernelChoice kernel) {
  for (kernel.stages = gpu.compute_capability >= 80 ? 4 : 2; kernel.stages >= 1; --kernel.stages) {
    if (!illegal(gpu, problem, kernel)) {
      return kernel;
    }
  }
  return std::nullopt;
}

bool is_too_large(std::int64_t tile, std::int64_t extent) {
  return tile > 64 && tile / 2 >= extent;
}

}  // namespace

std::vector<KernelChoice> library_kernels(const Gpu& gpu, const GemmProblem& problem) {
  std::vector<KernelChoice> result;
  for (const std::int64_t m : kSides) {
    for (const std::int64_t n : kSides) {
      if (m * n > kMostOutputs || is_too_large(m, problem.m) || is_too_large(n, problem.n)) {
        continue;
      }
      const std::optional<KernelChoice> shape = kernel_of(gpu, problem, m, n);
      const std::optional<KernelChoice> whole = shape ? staged(gpu, problem, *shape) : std::nullopt;
      if (!whole) {
        continue;
      }
      const std::int64_t slots = gpu.sms * resources(gpu, problem, *whole).blocks_per_sm;
      const std::int64_t blocks = ceil_div(problem.m, m) * ceil_div(problem.n, n) * problem.batch;
      KernelChoice kernel = *whole;
      if (kernel.path == GpuPath::kWgmma && problem.m > m) {
        kernel.cluster = 2;
      }
      for (kernel.split_k = 1; kernel.split_k <= kMostSlices; kernel.split_k *= 2) {
        const bool is_useful = problem.k / kernel.split_k >= 2 * kernel.block.k &&
                               blocks * kernel.split_k <= kMostRounds * slots;
        if (kernel.split_k == 1 || is_useful) {
          result.push_back(kernel);
        }
      }
    }
  }
  return result;
}

}  // namespace mapsim
