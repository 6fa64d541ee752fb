// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tile_count_rules.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "mapper/graph/parts.hpp"

namespace mapsim::imperfect {

TileCountRules::TileCountRules(const exact::StateGraph& graph, const ExtentLattice& tiles)
    : graph_{graph}, tiles_{tiles} {
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (const DimId d : tiles.ids()) {
      is_empty_ = is_empty_ && !graph.region(stage).tracks(d) && graph.region(stage).allows(d, 1);
    }
    beginnings_.push_back(bins(stage, true));
    ends_.push_back(bins(stage, false));
    find_lowest(stage);
  }
}

void TileCountRules::find_lowest(std::size_t stage) {
  auto& lowest = lowest_.emplace_back();
  lowest.resize(tiles_.dims());
  for (const DimId d : lowest.ids()) {
    const ExtentDomain& domain = tiles_.domain(d);
    for (std::size_t bin = 0; bin < domain.size() && graph_.region(stage).tracks(d); ++bin) {
      std::size_t end = 0;
      while (end < bin && !graph_.region(stage).allows(d, ceil_div(domain[bin], domain[end]))) {
        ++end;
      }
      lowest[d].push_back(end);
    }
  }
}

bool TileCountRules::may_still_end(std::size_t stage, std::size_t region_start,
                                   std::size_t tile) const {
  for (std::size_t i = 0; i < tiles_.dims() && !is_empty_; ++i) {
    const auto d = static_cast<DimId>(i);
    const std::vector<std::size_t>& lowest = lowest_[stage][d];
    if (!lowest.empty() && tiles_.digit(d, tile) < lowest[tiles_.digit(d, region_start)]) {
      return false;
    }
  }
  return true;
}

// Could the region's other end be at some extent, if this end (`beginning`: its beginning) is at
// `extent`?
bool TileCountRules::meets(const Region& region, DimId d, std::int64_t extent, std::size_t index,
                           bool beginning) const {
  if (beginning && index + 1 == graph_.regions()) {
    return region.allows(d, extent);  // it ends at 1
  }
  if (!beginning && index == 0) {
    return region.allows(d, ceil_div(tiles_.bound(d), extent));
  }
  const ExtentDomain& all = graph_.space().domains()[d];
  return std::any_of(all.begin(), all.end(), [&](std::int64_t other) {
    return beginning ? other <= extent && region.allows(d, ceil_div(extent, other))
                     : other >= extent && region.allows(d, ceil_div(other, extent));
  });
}

TileCountRules::Bins TileCountRules::bins(std::size_t stage, bool beginning) const {
  Bins all(tiles_.dims());
  for (const DimId d : all.ids()) {
    for (std::size_t bin = 0; bin < tiles_.domain(d).size(); ++bin) {
      const auto& extents = tiles_.extents(d, bin);
      all[d].push_back(std::any_of(extents.begin(), extents.end(), [&](std::int64_t extent) {
        return meets(graph_.region(stage), d, extent, graph_.region_index(stage), beginning);
      }));
    }
    if (std::find(all[d].begin(), all[d].end(), false) == all[d].end()) {
      all[d].clear();
    }
  }
  return all;
}

std::size_t TileCountRules::region_start(std::size_t stage, std::size_t tile) const {
  std::size_t region_start = 0;
  for (std::size_t i = 0; i < tiles_.dims() && !is_empty_; ++i) {
    const auto d = static_cast<DimId>(i);
    region_start += graph_.region(stage).tracks(d) ? tiles_.digit(d, tile) * tiles_.stride(d) : 0;
  }
  return region_start;
}

bool TileCountRules::may_end(std::size_t stage, std::size_t region_start, std::size_t tile) const {
  for (std::size_t i = 0; i < tiles_.dims() && !is_empty_; ++i) {
    const auto d = static_cast<DimId>(i);
    const Region& region = graph_.region(stage);
    const std::int64_t made =
        region.tracks(d) ? ceil_div(tiles_.extent(d, region_start), tiles_.extent(d, tile)) : 1;
    if (!region.allows(d, made)) {
      return false;
    }
  }
  return true;
}

void TileCountRules::close_beginnings(std::size_t stage, double* row) const {
  close(beginnings_[stage], row);
}
void TileCountRules::close_ends(std::size_t stage, double* row) const { close(ends_[stage], row); }

bool TileCountRules::is_open(const Bins& open, std::size_t tile) const {
  for (const DimId d : open.ids()) {
    if (!open[d].empty() && !open[d][tiles_.digit(d, tile)]) {
      return false;
    }
  }
  return true;
}

void TileCountRules::close(const Bins& open, double* row) const {
  for (const DimId d : open.ids()) {
    if (open[d].empty()) {
      continue;
    }
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      if (!open[d][bin]) {
        std::fill(row + first, row + last, exact::kInfinity);
      }
    });
  }
}

}  // namespace mapsim::imperfect
