// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/graph/tile_index.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::imperfect {

// The tiles of one spatial unrolling: every vector of bins, one lattice for all stages. Extents are
// those of the nest itself, factors of fanouts below included. In a coarse lattice neighbouring
// extents share a bin, known by the largest of them; 1 has its own. It shares numbers and sweeps
// with exact::Lattice, and no more: loops lead to any smaller extent and not to divisors, fanouts
// lead from tile to tile of one lattice, and the blocks they got are in the histories of labels.
class Tiles : public exact::TileIndex {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  // `most`: about as many tiles as a coarse lattice may have.
  Tiles(const Mapspace& space, const UnrollingClass& unrolling_class, std::vector<FanoutId> used,
        std::size_t most = kAll);

  const ExtentDomain& domain(DimId d) const { return domains_[d]; }
  std::int64_t extent(DimId d, std::size_t tile) const { return domains_[d][digit(d, tile)]; }
  std::int64_t bound(DimId d) const { return domains_[d].back(); }

  // The fanouts with a factor > 1, outermost first, and their parallel loops in order.
  const std::vector<FanoutId>& used() const { return used_; }
  const Unrolling& unrolls(std::size_t fanout) const { return unrolls_[fanout]; }
  std::int64_t factor(std::size_t fanout, DimId d) const { return factors_[fanout][d]; }
  bool is_coarse() const { return coarse_; }
  // Of a bin, ascending.
  const std::vector<std::int64_t>& extents(DimId d, std::size_t bin) const { return bins_[d][bin]; }
  // Does a bin stand for several extents?
  bool is_shared(DimId d, std::size_t bin) const { return bins_[d][bin].size() > 1; }
  // The bins behind the parallel loops of a used fanout, from the smallest to the largest, which
  // are one unless the lattice is coarse; kNone: cannot cross there.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Behind {
    std::size_t first = kNone;
    std::size_t last = kNone;
  };
  const Behind& behind(std::size_t fanout, DimId d, std::size_t bin) const {
    return behind_[fanout][d][bin];
  }
  // The digits of all tiles, by dim with several bins; made by list_digits().
  void list_digits();
  std::size_t bytes_of_digits() const { return dims() * size_ * sizeof(std::uint16_t); }
  const std::vector<std::uint16_t>& digits(DimId d) const { return digits_[d]; }
  // What make_crossings() takes; of a coarse lattice nothing, which has none.
  std::size_t bytes_of_crossings() const {
    return coarse_ ? 0 : used_.size() * size_ * sizeof(std::uint32_t);
  }
  void make_crossings();
  // The tile behind a fanout, of each tile; size(): it cannot cross.
  const std::vector<std::uint32_t>& crossings(std::size_t fanout) const {
    return crossings_[fanout];
  }
  // The smallest extent of the bin behind the used fanouts from `first` up to `end`, of those that
  // `allowed` contains; 0: none of them can cross those.
  std::int64_t least_behind(DimId d, std::size_t bin, std::size_t first, std::size_t end,
                            const Allowed& allowed) const;

 private:
  void coarsen(std::size_t most);
  std::optional<std::int64_t> block_behind(std::size_t fanout, DimId d, std::int64_t extent) const;

  PerDim<ExtentDomain> extents_;                         // all of them
  PerDim<ExtentDomain> domains_;                         // the largest of each bin
  PerDim<std::vector<std::vector<std::int64_t>>> bins_;  // the extents of each, ascending
  bool coarse_ = false;
  PerDim<std::vector<std::uint16_t>> digits_;
  std::vector<FanoutId> used_;
  std::vector<Unrolling> unrolls_;
  std::vector<PerDim<std::int64_t>> factors_;
  std::vector<PerDim<std::vector<Behind>>> behind_;
  std::vector<std::vector<std::uint32_t>> crossings_;
};

// The tiles as far as some dims go: of the others there is one digit.
class Projection : public exact::TileIndex {
 public:
  Projection(const Tiles& tiles, DimSet dims);
  std::size_t of_tile(std::size_t tile) const { return of_tile_[tile]; }

 private:
  std::vector<std::uint32_t> of_tile_;
};

// The last loop above a tile, if tiles slide along it: from the extent at which the loops over
// its dim stand.
struct Run {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t dim = kNone;
  std::size_t from = 0;  // the tile that it cuts
};

}  // namespace mapsim::imperfect
