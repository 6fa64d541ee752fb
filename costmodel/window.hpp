// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace mapsim {

// size consecutive indices of a dim from lo; size 0 = an idle instance's.
struct Block {
  std::int64_t lo = 0;
  std::int64_t size = 0;
  friend bool operator==(const Block&, const Block&) = default;
};

// Indices of one dim as seen by the instances that share a transfer: a block per instance, the
// first instance first. `stride` is the dim's coefficient in the rank.
struct StridedBlocks {
  std::int64_t stride = 1;
  std::span<const Block> blocks;
};

// Number of distinct values of stride_p * i + stride_r * k for i < a, k < b: a*b less the values
// met twice, exact with or without holes. With g = gcd, p' = stride_p/g, r' = stride_r/g:
//   F(a, b) = a*b - max(0, a - r') * max(0, b - p')
std::int64_t window_points(std::int64_t stride_p, std::int64_t a, std::int64_t stride_r,
                           std::int64_t b);

// The same, with the strides divided by their gcd already.
constexpr std::int64_t coprime_window_points(std::int64_t stride_p, std::int64_t a,
                                             std::int64_t stride_r, std::int64_t b) {
  return a * b - std::max<std::int64_t>(0, a - stride_r) * std::max<std::int64_t>(0, b - stride_p);
}

// |U|: distinct values of sum stride_d * i_d, where each i_d runs over the union of its blocks.
std::int64_t union_points(std::span<const StridedBlocks> dims);

// |U_now \ U_before|, where `before` replaces the blocks of dims[moving] (same number of blocks).
// `together`: the union tile moves as one. Otherwise every combination of blocks is an instance
// with a tile of its own, and the points that any of them gains are counted once.
std::int64_t gained_points(std::span<const StridedBlocks> dims, std::size_t moving,
                           std::span<const Block> before, bool together);

}  // namespace mapsim
