// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/graph/tile_index.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::imperfect {

// The tiles of one spatial unrolling with imperfect factors. A tile is one bin per dim, and a bin
// holds one or more neighbouring extents. There is one lattice for all stages; an extent includes
// the factors of the fanouts further in.
//
// In a coarse lattice neighbouring extents share a bin. The largest extent stands for the bin;
// extent 1 has a bin of its own.
// Unlike in exact::DivisorLattice, a loop leads to any smaller extent instead of a divisor, and a
// fanout leads from a tile to a tile of the same lattice. The blocks at fanouts are part of the
// labels' history, not of the tile. Both lattices number their tiles in the same way (TileIndex).
class ExtentLattice : public exact::TileIndex {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  // `most`: the lattice is coarsened until it has at most about this many tiles.
  ExtentLattice(const Mapspace& space, const UnrollingClass& unrolling_class,
                std::vector<FanoutId> used, std::size_t most = kAll);

  const ExtentDomain& domain(DimId d) const { return domains_[d]; }
  std::int64_t extent(DimId d, std::size_t tile) const { return domains_[d][digit(d, tile)]; }
  std::int64_t bound(DimId d) const { return domains_[d].back(); }

  // The used fanouts (those with a factor > 1), outermost first; the parallel loops of a used
  // fanout, in order.
  const std::vector<FanoutId>& used() const { return used_; }
  const Unrolling& unrolls(std::size_t fanout) const { return unrolls_[fanout]; }
  std::int64_t factor(std::size_t fanout, DimId d) const { return factors_[fanout][d]; }
  bool is_coarse() const { return coarse_; }
  // The extents of a bin, ascending.
  const std::vector<std::int64_t>& extents(DimId d, std::size_t bin) const { return bins_[d][bin]; }
  // Does a bin stand for several extents?
  bool is_shared(DimId d, std::size_t bin) const { return bins_[d][bin].size() > 1; }
  // The bins to which the parallel loops of a used fanout lead from a bin: `first` is the smallest.
  // Both are equal unless the lattice is coarse. kNone: the fanout cannot be crossed from there.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Behind {
    std::size_t first = kNone;
    std::size_t last = kNone;
  };
  const Behind& behind(std::size_t fanout, DimId d, std::size_t bin) const {
    return behind_[fanout][d][bin];
  }
  // digits(d)[tile] for every dim with more than one bin; made by list_digits().
  void list_digits();
  std::size_t bytes_of_digits() const { return dims() * size_ * sizeof(std::uint16_t); }
  const std::vector<std::uint16_t>& digits(DimId d) const { return digits_[d]; }
  // Memory that make_crossings() takes [B]. A coarse lattice has no crossings.
  std::size_t bytes_of_crossings() const {
    return coarse_ ? 0 : used_.size() * size_ * sizeof(std::uint32_t);
  }
  void make_crossings();
  // For each tile the tile behind a used fanout; size() where the fanout cannot be crossed.
  const std::vector<std::uint32_t>& crossings(std::size_t fanout) const {
    return crossings_[fanout];
  }
  // The smallest extent to which the used fanouts `first` to `end` - 1 lead from an extent of the
  // bin, among those that `allowed` contains. 0: there is none.
  std::int64_t least_behind(DimId d, std::size_t bin, std::size_t first, std::size_t end,
                            const Allowed& allowed) const;

 private:
  void coarsen(std::size_t most);
  std::optional<std::int64_t> block_behind(std::size_t fanout, DimId d, std::int64_t extent) const;

  PerDim<ExtentDomain> extents_;                         // of the space
  PerDim<ExtentDomain> domains_;                         // the largest extent of each bin
  PerDim<std::vector<std::vector<std::int64_t>>> bins_;  // the extents of each bin, ascending
  bool coarse_ = false;
  PerDim<std::vector<std::uint16_t>> digits_;
  std::vector<FanoutId> used_;
  std::vector<Unrolling> unrolls_;
  std::vector<PerDim<std::int64_t>> factors_;
  std::vector<PerDim<std::vector<Behind>>> behind_;
  std::vector<std::vector<std::uint32_t>> crossings_;
};

// The tiles projected onto some dims: every other dim has a single digit.
class Projection : public exact::TileIndex {
 public:
  Projection(const ExtentLattice& tiles, DimSet dims);
  std::size_t of_tile(std::size_t tile) const { return of_tile_[tile]; }

 private:
  std::vector<std::uint32_t> of_tile_;
};

// The last loop above a tile, if the tile slides along it. `from` is the tile that the loop cuts.
struct SlidingLoop {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t dim = kNone;
  std::size_t from = 0;
};

}  // namespace mapsim::imperfect
