// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tile_counts.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"

namespace mapsim::imperfect {

namespace {

// A lower bound of the pieces of up to `piece` that cover `bound`, cut from `tiles` tiles of up to
// `extent`.
std::int64_t least_pieces(std::int64_t bound, std::int64_t extent, std::int64_t tiles,
                          std::int64_t piece) {
  const std::int64_t full = tiles * (extent / piece);
  const std::int64_t left = bound - full * piece;
  return left <= 0 ? ceil_div(bound, piece) : full + ceil_div(left, extent % piece);
}

}  // namespace

TileCounts::TileCounts(const ExtentLattice& tiles)
    : tiles_{tiles}, counts_(tiles.dims()), ids_(tiles.dims()), steps_(tiles.dims()) {
  for (const DimId d : counts_.ids()) {
    find(d, {tiles.bound(d), 1});
    steps_[d].resize(tiles.domain(d).size());
  }
}

TileCounts::Id TileCounts::find(DimId d, Count count) {
  const auto [entry, is_new] = ids_[d].try_emplace(count, static_cast<Id>(counts_[d].size()));
  if (is_new) {
    counts_[d].push_back(count);
  }
  return entry->second;
}

std::int64_t TileCounts::least(DimId d, Id known, std::int64_t piece) const {
  const Count& count = counts_[d][known];
  return std::max(count.tiles, least_pieces(tiles_.bound(d), count.extent, count.tiles, piece));
}

// The sizes that pieces of a tile at the bin may have: extents, times the instances that share
// them.
std::vector<std::int64_t> TileCounts::pieces_below(DimId d, std::size_t bin) const {
  std::vector<std::int64_t> shares{1};
  for (std::size_t f = 0; f < tiles_.used().size(); ++f) {
    for (std::size_t i = shares.size(); tiles_.factor(f, d) > 1 && i-- > 0;) {
      shares.push_back(shares[i] * tiles_.factor(f, d));
    }
  }
  std::vector<std::int64_t> pieces;
  for (std::size_t r = 0; r < bin; ++r) {
    for (const std::int64_t share : shares) {
      if (tiles_.domain(d)[r] * share < tiles_.domain(d)[bin]) {
        pieces.push_back(tiles_.domain(d)[r] * share);
      }
    }
  }
  return pieces;
}

// The numbers of tiles that can be cut into fewer pieces of some size than the number before.
const std::vector<std::int64_t>& TileCounts::steps(DimId d, std::size_t bin) {
  std::vector<std::int64_t>& steps = steps_[d][bin];
  if (!steps.empty()) {
    return steps;
  }
  const std::int64_t bound = tiles_.bound(d);
  const std::int64_t extent = tiles_.domain(d)[bin];
  const std::vector<std::int64_t> below = pieces_below(d, bin);
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> pieces;
  pieces.resize(below.size());
  for (std::int64_t tiles = ceil_div(bound, extent);; ++tiles) {
    bool is_free = true;
    for (std::size_t i = 0; i < below.size(); ++i) {
      pieces[i] = least_pieces(bound, extent, tiles, below[i]);
      is_free = is_free && pieces[i] == ceil_div(bound, below[i]);
    }
    if (steps.empty() || pieces != before) {
      steps.push_back(tiles);
    }
    if (is_free) {
      return steps;
    }
    before = pieces;
  }
}

std::vector<TileCounts::Id> TileCounts::choices(DimId d, Id known, std::size_t bin,
                                                std::size_t crossed) {
  bool is_cut = counts_[d][known].extent == tiles_.domain(d)[bin];
  for (std::size_t f = 0; f < crossed; ++f) {
    is_cut = is_cut || tiles_.factor(f, d) > 1;
  }
  if (is_cut) {
    return {known};
  }
  const std::int64_t least = this->least(d, known, tiles_.domain(d)[bin]);
  std::vector<Id> choices{find(d, {tiles_.domain(d)[bin], least})};
  for (const std::int64_t tiles : steps(d, bin)) {
    if (tiles > least) {
      choices.push_back(find(d, {tiles_.domain(d)[bin], tiles}));
    }
  }
  return choices;
}

}  // namespace mapsim::imperfect
