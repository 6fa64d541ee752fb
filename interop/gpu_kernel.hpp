// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/document.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// The given part of a kernel: tiles in elements (empty: not given), and counts with the meaning of
// KernelChoice.
struct KernelWish {
  std::optional<GpuPath> path;
  std::vector<std::int64_t> block;     // m, n, k
  std::vector<std::int64_t> warp;      // m, n
  std::vector<std::int64_t> fragment;  // m, n, k
  std::optional<std::int64_t> stages, split_k, raster, padding, cluster, registers, spilled;
  // What the problem had for which a search chose the kernel.
  std::optional<GpuPrecision> precision;
  std::optional<MatrixLayout> a, b;
};

constexpr std::int64_t kLargestWish = 1 << 20;  // limit of tiles and counts, far beyond any chip

// Reads kernels: a result of `mapsim search --export json` (docs/results.md) with all of its
// kernels in their order, one entry of such a result, or a kernel written by hand in YAML:
//   kernel: {block: [128, 128, 32], warp: [64, 64], stages: 4}
// `block` is required. Throws ConfigError, also if there is no kernel.
std::vector<KernelWish> read_kernels(const Document& document);

}  // namespace mapsim
