// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "interop/point_ranges.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

using Offsets = PerDim<std::int64_t>;      // of a tile
using TileSet = std::vector<PointRanges>;  // per rank; the tile is their product

// Number of points of a tile, and of the intersection of two.
std::int64_t size(const TileSet& tile);
std::int64_t common_size(const TileSet& a, const TileSet& b);

// Makes tiles of one tensor: the points within `extents`, cut off at the ends of the dims. `hull`:
// with the holes of strided windows.
class TileMaker {
 public:
  TileMaker(const Workload& workload, const Tensor& tensor, Offsets extents, bool hull)
      : workload_{&workload}, tensor_{&tensor}, extents_{extents}, hull_{hull} {}

  TileSet at(const Offsets& offsets) const;
  // The union of the tiles at `offsets` plus each of `steps`, which are a product over dims, given
  // dim by dim.
  TileSet together(const Offsets& offsets, const PerDim<std::vector<std::int64_t>>& steps) const;
  // Twice the centre of the tile's bounding box, per rank, so that it is a whole number.
  std::vector<std::int64_t> centre(const Offsets& offsets) const;
  const Tensor& tensor() const { return *tensor_; }

 private:
  PointRanges rank_at(const Rank& rank, const Offsets& offsets, bool hull) const;
  const Workload* workload_;
  const Tensor* tensor_;
  Offsets extents_;
  bool hull_;
};

// Tile extents at `block`: the products of the bounds of all loops from this block on, per dim.
Offsets extents_from(const TimeloopDesign& design, std::size_t block);

}  // namespace mapsim
