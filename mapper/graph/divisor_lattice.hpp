// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/graph/tile_index.hpp"

namespace mapsim::exact {

// The coordinate of a dim in a tile: its extent, and its blocks. A block is the extent at which a
// fanout was crossed; only fanouts whose block affects a count are tracked (Unrolled::tracks). They
// form a chain bound >= block >= ... >= extent, each dividing the one before.
struct Position {
  std::vector<std::int64_t> blocks;  // per tracked fanout crossed, outermost first
  std::int64_t extent = 1;
};

// The lattice of tiles with perfect factors between two fanouts: a tile is one position per dim.
class DivisorLattice : public TileIndex {
 public:
  // `tracked[d]`: how many blocks dim d remembers. `windows`: dims along which tiles slide.
  // `domains`: the extents that a dim may have, which are divisors of its bound, ascending, from 1
  // to the bound.
  DivisorLattice(const PerDim<std::int64_t>& bounds, const PerDim<std::size_t>& tracked,
                 DimSet windows, const PerDim<std::vector<std::int64_t>>& domains);

  const std::vector<Position>& positions(DimId d) const { return positions_[d]; }
  std::int64_t bound(DimId d) const { return bounds_[d]; }
  std::int64_t extent(DimId d, std::size_t tile) const {
    return positions_[d][digit(d, tile)].extent;
  }

  // Loops over d lead from one extent to a divisor of it, with equal blocks. steps() holds
  // the loops between which no other extent lies: with all divisors, those of one prime factor.
  // loops() holds all, ascending by `from`, then by `to`.
  const std::vector<Loop>& loops(DimId d) const { return loops_[d]; }
  // The loops that begin at a digit: indices first .. last - 1.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  Range steps_from(DimId d, std::size_t digit) const { return step_ranges_[d][digit]; }
  Range loops_from(DimId d, std::size_t digit) const { return loop_ranges_[d][digit]; }
  // The number of tiles that a loop makes of a tile.
  std::int64_t factor(DimId d, const Loop& loop) const {
    return positions_[d][loop.from].extent / positions_[d][loop.to].extent;
  }
  // Numbers the tiles that share the digit of d: 0 .. size / positions - 1.
  std::size_t rest(DimId d, std::size_t tile) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return tile / block * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return rest / strides_[d] * block + digit * strides_[d] + rest % strides_[d];
  }

  // crossing(inner)[tile]: the tile of `inner`, the lattice behind a fanout, to which crossing the
  // fanout leads. Dims of which `inner` tracks one block more remember their extent as that block.
  std::vector<std::size_t> crossing(const DivisorLattice& inner) const;
  // The tiles whose extents are all 1.
  const std::vector<std::size_t>& ones() const { return ones_; }

 private:
  PerDim<std::int64_t> bounds_;
  PerDim<std::vector<Position>> positions_;
  PerDim<std::vector<Loop>> loops_;
  PerDim<std::vector<Range>> step_ranges_;
  PerDim<std::vector<Range>> loop_ranges_;
  std::vector<std::size_t> ones_;
};

}  // namespace mapsim::exact
