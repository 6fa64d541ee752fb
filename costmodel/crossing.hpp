// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/index.hpp"
#include "costmodel/nest.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// The part of a loop above a child in a count of the elements that cross into the child.
enum class LoopUse : std::uint8_t {
  kSum,    // every index counts by itself
  kFirst,  // only index 0: inside the innermost moving loop, or the busiest instance's path; or
           // the one of Crossing::indices
  kMerge,  // the indices share one union tile
};

// One side of a boundary of one tensor: docs/model.md#counts.
struct Crossing {
  std::span<const NestLoop> loops;          // those above the child
  std::span<const LoopUse> uses;            // one per loop
  std::size_t moving = kNoLoop;             // j: index of the loop over which the tile slides
  bool together = true;                     // a union tile that slides moves as one (forwarding)
  std::span<const std::int64_t> indices{};  // one per loop, read for uses kFirst; empty: 0
  std::int64_t first(std::size_t loop) const { return indices.empty() ? 0 : indices[loop]; }
};

// V = prod_{d not in t} n_d * prod_{ranks not moved by j} A_rank * B_rank(j), elements. Exact for
// any extents (docs/model.md#counts; references there).
std::int64_t volume(const Workload& workload, const Tensor& tensor, const Crossing& crossing);

// Distinct coordinates of a rank in a tile of these nominal extents.
std::int64_t rank_points(const Rank& rank, const PerDim<std::int64_t>& extents);
// Distinct elements in a tile of these nominal extents: product over ranks.
std::int64_t footprint(const Tensor& tensor, const PerDim<std::int64_t>& extents);

// Does a rank of the tensor have several dims, over which a window slides? Is the dim one of them?
bool has_window(const Tensor& tensor);
bool is_in_window(const Tensor& tensor, DimId d);

// n_d: non-empty index combinations of the summed loops over `dim`, the others at index 0.
std::int64_t visits(const Workload& workload, DimId dim, const Crossing& crossing);

}  // namespace mapsim
