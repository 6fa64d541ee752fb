// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/lattice.hpp"

namespace mapsim::check {

// A spatial unrolling, and the temporal extents (blocks) at which its fanouts are crossed, where
// they matter. Instances of a fanout hold consecutive blocks, so a union of their windows depends
// on the size of the blocks.
struct BlockedUnrolling {
  std::vector<FanoutId> used;                 // those with a factor > 1, outermost first
  std::vector<PerDim<std::int64_t>> factors;  // per used fanout
  std::vector<PerDim<std::int64_t>> blocks;   // per used fanout; 0: does not matter
  PerDim<std::int64_t> bounds;                // temporal
  PerFanout<Rules::AxisFactors> axes;         // per fanout, if hops cost energy

  // Product of the factors of the used fanouts from `first` on.
  std::int64_t split(std::size_t first, DimId d) const {
    std::int64_t product = 1;
    for (std::size_t f = first; f < used.size(); ++f) {
      product *= factors[f][d];
    }
    return product;
  }
};
std::vector<BlockedUnrolling> list_blocked_unrollings(const Problem& problem,
                                                      const Unrolling& unrolling);

// How instances share the tiles of a rank. The boundary's inner end lies below `above` used
// fanouts. Those whose bits are set in `merged` share a transfer. `crossed` of them lie above the
// loop that ends in the tile.
struct Sharing {
  std::size_t crossed = 0;
  std::size_t above = 0;
  std::uint32_t merged = 0;
  bool together = true;  // a union that slides moves as one; otherwise each instance's gain counts
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// Counts of coordinates of a sliding-window rank, from explicit sets of coordinates, by the steps
// of docs/model.md. All tiles are full, so all steps are alike up to a shift. Tables have an entry
// per tile of the rank's own dims; index_tiles() gives that entry for each tile of the lattice.
std::vector<std::uint32_t> index_tiles(const Lattice& tiles, const Rank& rank);
// Distinct coordinates in the union of the tiles of the instances that share.
std::vector<double> united_points(const BlockedUnrolling& at, const Lattice& tiles,
                                  const Rank& rank, const Sharing& sharing);
// ... of the mean entry, where tiles that are as large as a box differ in size.
std::vector<double> mean_united_points(const BlockedUnrolling& at, const Lattice& tiles,
                                       const Rank& rank, const Sharing& sharing,
                                       const BranchEntry& entry);
// How many of them are new after one step of the loop over the rank's i-th dim (`term`).
std::vector<double> gained_points(const BlockedUnrolling& at, const Lattice& tiles,
                                  const Rank& rank, const Sharing& sharing, std::size_t term);
// Distinct coordinates that one instance below `above` used fanouts meets in the whole run, if its
// tile is the one at `crossed`.
std::vector<double> met_points(const BlockedUnrolling& at, const Lattice& tiles, const Rank& rank,
                               std::size_t crossed, std::size_t above);

// Distinct coordinates of a rank in a box with these extents.
std::int64_t count_coordinates(const Rank& rank, const PerDim<std::int64_t>& extents);

}  // namespace mapsim::check
