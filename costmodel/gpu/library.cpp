// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/library.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

namespace mapsim {
namespace {

struct LibraryTile {
  std::int64_t block_m, block_n, warp_m, warp_n;
};

// CUTLASS 2's list for 16-bit tensor-op GEMMs and cuBLAS's smaller tiles.
constexpr std::array kMmaTiles{
    LibraryTile{256, 128, 64, 64}, LibraryTile{128, 256, 64, 64}, LibraryTile{256, 64, 64, 64},
    LibraryTile{64, 256, 64, 64},  LibraryTile{128, 128, 64, 64}, LibraryTile{128, 64, 64, 32},
    LibraryTile{64, 128, 32, 64},  LibraryTile{64, 64, 32, 32},   LibraryTile{32, 128, 32, 32},
    LibraryTile{128, 32, 32, 32},  LibraryTile{32, 64, 16, 32},   LibraryTile{16, 128, 16, 32},
    LibraryTile{128, 16, 32, 16}};
// A warpgroup's tile is 64 on one side; two of them share a block.
constexpr std::array kWgmmaTiles{
    LibraryTile{128, 256, 64, 256}, LibraryTile{256, 128, 256, 64}, LibraryTile{128, 128, 64, 128},
    LibraryTile{128, 64, 64, 64},   LibraryTile{64, 128, 64, 128},  LibraryTile{64, 256, 64, 256},
    LibraryTile{256, 64, 256, 64},  LibraryTile{64, 64, 64, 64},    LibraryTile{64, 32, 64, 32},
    LibraryTile{32, 64, 32, 64},    LibraryTile{64, 16, 64, 16},    LibraryTile{16, 64, 16, 64},
    LibraryTile{16, 128, 16, 64}};
constexpr std::array kSimtTiles{LibraryTile{128, 128, 32, 64}, LibraryTile{128, 64, 32, 64},
                                LibraryTile{64, 128, 64, 32},  LibraryTile{64, 64, 32, 32},
                                LibraryTile{32, 128, 32, 32},  LibraryTile{128, 32, 32, 32},
                                LibraryTile{32, 32, 16, 32}};
constexpr std::array<std::int64_t, 5> kSplits{1, 2, 4, 8, 16};
constexpr std::array<std::int64_t, 2> kRasters{1, 8};

// As many K steps in flight as fit beside each other, 5 at most.
std::int64_t most_stages(const Gpu& gpu, const GemmProblem& problem, KernelChoice kernel) {
  if (gpu.compute_capability < 80) {
    return 2;
  }
  kernel.stages = 1;
  const std::int64_t one = resources(gpu, problem, kernel).shared.count();
  const std::int64_t fits = gpu.shared_per_block.count() / std::max<std::int64_t>(one, 1);
  return std::clamp<std::int64_t>(fits, 1, kernel.path == GpuPath::kWgmma ? 5 : 4);
}

KernelChoice make_kernel(const Gpu& gpu, const GemmProblem& problem, GpuPath path,
                         const LibraryTile& tile, std::int64_t row_bytes) {
  const std::int64_t size = operand_size(problem.precision).count();
  KernelChoice kernel;
  kernel.path = path;
  kernel.padding = 0;
  const std::int64_t depth = path == GpuPath::kSimt ? 16 : row_bytes / size;
  kernel.block = {tile.block_m, tile.block_n, depth};
  kernel.warp = {tile.warp_m, tile.warp_n, depth};
  if (path == GpuPath::kWgmma) {
    kernel.fragment = {tile.warp_m, tile.warp_n, 32 / size};
  } else if (path == GpuPath::kSimt) {
    kernel.fragment = {tile.warp_m / 8, tile.warp_n / 4, 1};
  } else {
    kernel.fragment = wmma_fragments(problem.precision).front();
  }
  kernel.stages = most_stages(gpu, problem, kernel);
  return kernel;
}

template <class Tiles>
void add_kernels(const Gpu& gpu, const GemmProblem& problem, GpuPath path, const Tiles& tiles,
                 std::vector<KernelChoice>& kernels) {
  for (const LibraryTile& tile : tiles) {
    for (const std::int64_t row_bytes : {64, 128}) {
      if ((path == GpuPath::kWgmma && row_bytes == 64) ||
          (path == GpuPath::kSimt && row_bytes == 128)) {
        continue;
      }
      KernelChoice kernel = make_kernel(gpu, problem, path, tile, row_bytes);
      for (const std::int64_t split : kSplits) {
        for (const std::int64_t raster : kRasters) {
          kernel.split_k = split;
          kernel.raster = raster;
          if (!illegal(gpu, problem, kernel)) {
            kernels.push_back(kernel);
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<KernelChoice> library_kernels(const Gpu& gpu, const GemmProblem& problem) {
  std::vector<KernelChoice> kernels;
  if (gpu.rate(problem.precision, GpuPath::kWgmma) > 0 && problem.precision != GpuPrecision::kF64) {
    add_kernels(gpu, problem, GpuPath::kWgmma, kWgmmaTiles, kernels);
  } else if (gpu.rate(problem.precision, GpuPath::kMma) > 0) {
    add_kernels(gpu, problem, GpuPath::kMma, kMmaTiles, kernels);
  } else {
    add_kernels(gpu, problem, GpuPath::kSimt, kSimtTiles, kernels);
  }
  return kernels;
}

LibraryChoice library_estimate(const Gpu& gpu, const GpuCalibration& calibration,
                               const GemmProblem& problem) {
  std::optional<LibraryChoice> best;
  for (const KernelChoice& kernel : library_kernels(gpu, problem)) {
    const GpuEstimate candidate = estimate(gpu, calibration, problem, kernel);
    if (!best || candidate.time.total < best->estimate.time.total) {
      best = LibraryChoice{kernel, candidate};
    }
  }
  assert(best);
  return *best;
}

}  // namespace mapsim
