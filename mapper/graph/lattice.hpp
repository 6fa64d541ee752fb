// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/graph/tile_index.hpp"

namespace mapsim::exact {

// All divisors, ascending.
std::vector<std::int64_t> divisors_of(std::int64_t n);

// Where a dim stands on its way from its temporal bound down to 1: the extent now, and the extents
// at which tracked fanouts were crossed (their blocks), outermost first.
struct Position {
  std::vector<std::int64_t> blocks;  // one per crossed fanout that the dim tracks
  std::int64_t extent = 1;
};

// The lattice of tiles of perfect factors between two fanouts: every vector of positions.
class Lattice : public TileIndex {
 public:
  // `tracked[d]`: how many crossed fanouts' blocks dim d remembers. `windows`: dims that tiles
  // slide along. `domains`: the extents that a dim may have, divisors of its bound, ascending, with
  // 1 and the bound.
  Lattice(const PerDim<std::int64_t>& bounds, const PerDim<std::size_t>& tracked, DimSet windows,
          const PerDim<std::vector<std::int64_t>>& domains);

  const std::vector<Position>& positions(DimId d) const { return positions_[d]; }
  std::int64_t bound(DimId d) const { return bounds_[d]; }
  std::int64_t extent(DimId d, std::size_t tile) const {
    return positions_[d][digit(d, tile)].extent;
  }

  // A run is between the same blocks, from an extent to one that divides it; steps() are, of all
  // divisors, those that take one prime factor. All runs: from ascending, then to.
  const std::vector<Run>& runs(DimId d) const { return runs_[d]; }
  // Which of them begin at a digit: indices first to last - 1.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  Range steps_from(DimId d, std::size_t digit) const { return step_ranges_[d][digit]; }
  Range runs_from(DimId d, std::size_t digit) const { return run_ranges_[d][digit]; }
  // What a run's loop cuts a tile into.
  std::int64_t factor(DimId d, const Run& run) const {
    return positions_[d][run.from].extent / positions_[d][run.to].extent;
  }
  // Index of a tile among those that differ in other dims only: 0 .. size / positions - 1.
  std::size_t rest(DimId d, std::size_t tile) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return tile / block * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return rest / strides_[d] * block + digit * strides_[d] + rest % strides_[d];
  }

  // The tile in `inner`, the lattice below a fanout, at which one crosses it here: dims that
  // `inner` tracks one block more of remember their extent.
  std::vector<std::size_t> crossing(const Lattice& inner) const;
  // Tiles with every extent 1.
  const std::vector<std::size_t>& ones() const { return ones_; }

 private:
  PerDim<std::int64_t> bounds_;
  PerDim<std::vector<Position>> positions_;
  PerDim<std::vector<Run>> runs_;
  PerDim<std::vector<Range>> step_ranges_;
  PerDim<std::vector<Range>> run_ranges_;
  std::vector<std::size_t> ones_;
};

}  // namespace mapsim::exact
