// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mapper/graph/imperfect_tiles.hpp"

namespace mapsim::imperfect {

// What a label knows of the loops over a dim if it knows no more than this: that they have made n
// tiles of up to T, before any fanout cuts the dim, and that each is cut by itself from there on
// (decision 33). Known by a number; 0: the whole is one tile.
class Counts {
 public:
  using Id = std::uint32_t;
  explicit Counts(const Tiles& tiles);

  // Pieces at least if none covers more than `piece`, instances that share a transfer together:
  // n tiles of T = q piece + r, where all beyond the first q of a tile cover no more than r.
  std::int64_t least(DimId d, Id known, std::int64_t piece) const;
  // How many tiles there may be at a bin behind so many used fanouts, from the least on: each
  // number that can be cut into fewer pieces than the one before it; the last stands for all
  // beyond.
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

  const Tiles& tiles_;
  PerDim<std::vector<Count>> counts_;
  PerDim<std::map<Count, Id>> ids_;
  PerDim<std::vector<std::vector<std::int64_t>>> steps_;  // by bin; empty: not asked for yet
};

}  // namespace mapsim::imperfect
