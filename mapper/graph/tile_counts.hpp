// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mapper/graph/extent_lattice.hpp"

namespace mapsim::imperfect {

// The history of a label that knows tile counts only (decision 33). Per dim it is a pair (n, T): at
// the last boundary that was charged, loops had made at least n tiles of extent up to T, and
// further loops cut each of these by itself. A fanout that cuts the dim ends the count: the pair
// stays what it was above the fanout. A pair is known by a number; 0 is (1, bound).
class TileCounts {
 public:
  using Id = std::uint32_t;
  explicit TileCounts(const ExtentLattice& tiles);

  // A lower bound of the number of pieces, if no piece covers more than `piece` (an extent, times
  // the instances that share a transfer). The first q pieces of a tile of extent T = q * piece + r
  // cover `piece` each, and all its further ones together at most r.
  std::int64_t least(DimId d, Id known, std::int64_t piece) const;
  // Candidate pairs at a bin, if `crossed` used fanouts lie above it: the least feasible n, then
  // each larger n from which some later piece size makes fewer pieces. The last one stands for all
  // larger n.
  std::vector<Id> choices(DimId d, Id known, std::size_t bin, std::size_t crossed);

 private:
  struct Count {
    std::int64_t extent = 1;
    std::int64_t tiles = 1;
    friend auto operator<=>(const Count&, const Count&) = default;
  };
  Id find(DimId d, Count count);
  std::vector<std::int64_t> pieces_below(DimId d, std::size_t bin) const;
  const std::vector<std::int64_t>& steps(DimId d, std::size_t bin);

  const ExtentLattice& tiles_;
  PerDim<std::vector<Count>> counts_;
  PerDim<std::map<Count, Id>> ids_;
  PerDim<std::vector<std::vector<std::int64_t>>> steps_;  // by bin; empty: not computed yet
};

}  // namespace mapsim::imperfect
