// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_tiles.hpp"

#include <algorithm>

namespace mapsim {

namespace {

// Calls `visit` with every choice of one step per dim of `rank`, added to `offsets`.
template <class Visit>
void for_each_step(const Rank& rank, std::size_t term,
                   const PerDim<std::vector<std::int64_t>>& steps, Offsets& offsets,
                   const Visit& visit) {
  if (term == rank.terms.size()) {
    visit(offsets);
    return;
  }
  const DimId dim = rank.terms[term].dim;
  const std::int64_t start = offsets[dim];
  for (const std::int64_t step : steps[dim]) {
    offsets[dim] = start + step;
    for_each_step(rank, term + 1, steps, offsets, visit);
  }
  offsets[dim] = start;
}

}  // namespace

std::int64_t size(const TileSet& tile) {
  std::int64_t points = 1;
  for (const PointRanges& rank : tile) {
    points *= size(rank);
  }
  return points;
}

std::int64_t common_size(const TileSet& a, const TileSet& b) {
  std::int64_t points = 1;
  for (std::size_t r = 0; r < a.size() && points > 0; ++r) {
    points *= size(intersection(a[r], b[r]));
  }
  return points;
}

PointRanges TileMaker::rank_at(const Rank& rank, const Offsets& offsets, bool hull) const {
  std::vector<Term> terms = rank.terms;
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
  PointRanges set{{0, 1}};
  for (const Term& term : terms) {
    const std::int64_t first = offsets[term.dim];
    const std::int64_t left = workload_->dims[term.dim].bound - first;
    const std::int64_t count = std::min(extents_[term.dim], left);
    set = spread(set, term.coefficient, first, count);
  }
  return hull && !set.empty() ? PointRanges{{set.front().begin, set.back().end}} : set;
}

TileSet TileMaker::at(const Offsets& offsets) const {
  TileSet tile;
  for (const Rank& rank : tensor_->ranks) {
    tile.push_back(rank_at(rank, offsets, hull_));
  }
  return tile;
}

TileSet TileMaker::together(const Offsets& offsets,
                            const PerDim<std::vector<std::int64_t>>& steps) const {
  TileSet tile;
  for (const Rank& rank : tensor_->ranks) {
    PointRanges all;
    Offsets start = offsets;
    for_each_step(rank, 0, steps, start, [&](const Offsets& at) {
      const PointRanges one = rank_at(rank, at, hull_);
      all.insert(all.end(), one.begin(), one.end());
    });
    tile.push_back(normalized(std::move(all)));
  }
  return tile;
}

std::vector<std::int64_t> TileMaker::centre(const Offsets& offsets) const {
  std::vector<std::int64_t> centre;
  for (const Rank& rank : tensor_->ranks) {
    const PointRanges box = rank_at(rank, offsets, true);
    centre.push_back(box.empty() ? 0 : box.front().begin + box.back().end - 1);
  }
  return centre;
}

Offsets extents_from(const TimeloopDesign& design, std::size_t block) {
  Offsets extents(design.workload.dims.size(), 1);
  for (std::size_t b = block; b < design.blocks.size(); ++b) {
    for (const auto* loops : {&design.blocks[b].temporal, &design.blocks[b].spatial}) {
      for (const TimeloopLoop& loop : *loops) {
        extents[loop.dim] *= loop.bound;
      }
    }
  }
  return extents;
}

}  // namespace mapsim
