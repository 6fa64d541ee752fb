// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/lattice.hpp"

namespace mapsim::check {

// A spatial unrolling, and at which temporal extents its fanouts are crossed where that matters:
// the instances of a fanout hold consecutive blocks, so a union of windows depends on the blocks'
// size.
struct Case {
  std::vector<FanoutId> used;                 // those with a factor > 1, outermost first
  std::vector<PerDim<std::int64_t>> factors;  // per used fanout
  std::vector<PerDim<std::int64_t>> blocks;   // per used fanout; 0: any
  PerDim<std::int64_t> bounds;                // temporal
  PerFanout<Rules::AxisFactors> axes;         // of every fanout, where hops cost something

  // Factors of the used fanouts from `first` on.
  std::int64_t split(std::size_t first, DimId d) const {
    std::int64_t product = 1;
    for (std::size_t f = first; f < used.size(); ++f) {
      product *= factors[f][d];
    }
    return product;
  }
};
std::vector<Case> list_cases(const Problem& problem, const Unrolling& unrolling);

// Part of a rank's tiles that instances share: a child below `above` used fanouts, of which those
// in `merged` (bits) share a transfer; `crossed` of them lie above the loop that ends in the tile.
struct Sharing {
  std::size_t crossed = 0;
  std::size_t above = 0;
  std::uint32_t merged = 0;
  bool together = true;  // a union that slides moves as one; else each instance's gain is counted
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// Coordinates of a sliding-window rank, counted as sets, as docs/model.md has its steps: all tiles
// are full, so each step is like any other up to a shift. Each table has an entry per tile of the
// rank's own dims; index_tiles() says which is whose.
std::vector<std::uint32_t> index_tiles(const Lattice& tiles, const Rank& rank);
// Distinct coordinates of the union tile of the instances that share it.
std::vector<double> united_points(const Case& at, const Lattice& tiles, const Rank& rank,
                                  const Sharing& sharing);
// ... of the mean entry, where tiles that are as large as a box differ in size.
std::vector<double> mean_united_points(const Case& at, const Lattice& tiles, const Rank& rank,
                                       const Sharing& sharing, const NestEntry& entry);
// ... and how many of them are new when the loop over the rank's i-th dim takes a step.
std::vector<double> gained_points(const Case& at, const Lattice& tiles, const Rank& rank,
                                  const Sharing& sharing, std::size_t term);
// Distinct coordinates that one instance below `above` used fanouts meets in the whole run, when
// the tile below it is as `crossed` says.
std::vector<double> met_points(const Case& at, const Lattice& tiles, const Rank& rank,
                               std::size_t crossed, std::size_t above);

// Distinct coordinates of a rank in a box of these extents.
std::int64_t count_coordinates(const Rank& rank, const PerDim<std::int64_t>& extents);

}  // namespace mapsim::check
