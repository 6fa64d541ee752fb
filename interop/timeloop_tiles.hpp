// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "interop/point_ranges.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

using Offsets = PerDim<std::int64_t>;
using TileSet = std::vector<PointRanges>;  // per rank; the tile is their product

std::int64_t size(const TileSet& tile);
std::int64_t common_size(const TileSet& a, const TileSet& b);

// The points of one tensor that tiles of given extents hold, cut off at the ends of the dims.
class TileMaker {
 public:
  TileMaker(const Workload& workload, const Tensor& tensor, Offsets extents, bool hull)
      : workload_{&workload}, tensor_{&tensor}, extents_{extents}, hull_{hull} {}

  TileSet at(const Offsets& offsets) const;
  // What the tiles at `offsets` plus each of `steps` hold together. The steps must be a product
  // over dims, given dim by dim.
  TileSet together(const Offsets& offsets, const PerDim<std::vector<std::int64_t>>& steps) const;
  // Twice the centre of the box around the tile, per rank: whole numbers.
  std::vector<std::int64_t> centre(const Offsets& offsets) const;
  const Tensor& tensor() const { return *tensor_; }

 private:
  PointRanges rank_at(const Rank& rank, const Offsets& offsets, bool hull) const;
  const Workload* workload_;
  const Tensor* tensor_;
  Offsets extents_;
  bool hull_;
};

// Products of the bounds of all loops of the blocks from `block` on, per dim.
Offsets extents_from(const TimeloopDesign& design, std::size_t block);

}  // namespace mapsim
