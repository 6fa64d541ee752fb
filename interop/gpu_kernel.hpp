// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/document.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// What someone said of a kernel: tiles in elements, empty where nothing was said, and counts as in
// KernelChoice.
struct KernelWish {
  std::optional<GpuPath> path;
  std::vector<std::int64_t> block;     // m, n, k
  std::vector<std::int64_t> warp;      // m, n
  std::vector<std::int64_t> fragment;  // m, n, k
  std::optional<std::int64_t> stages, split_k, raster, padding, cluster, registers, spilled;
  // Of the form that a search chose it for.
  std::optional<GpuPrecision> precision;
  std::optional<MatrixLayout> a, b;
};

constexpr std::int64_t kLargestWish = 1 << 20;  // of a tile and of counts, far beyond any chip

// Kernels as `mapsim search --export json` writes them (docs/results.md), or by hand, in YAML:
//   kernel: {block: [128, 128, 32], warp: [64, 64], stages: 4}
// a whole result, whose kernels are all read, in their order; one of its entries; or the kernel
// alone. `block` must be there. At least one, or ConfigError.
std::vector<KernelWish> read_kernels(const Document& document);

}  // namespace mapsim
