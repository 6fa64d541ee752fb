// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/gates.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "mapper/exact/parts.hpp"

namespace mapsim::balanced {

Gates::Gates(const exact::Skeleton& skeleton, const Tiles& tiles)
    : skeleton_{skeleton}, tiles_{tiles} {
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    for (std::size_t i = 0; i < tiles.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      open_ = open_ && !skeleton.region(phase).tracks(d) && skeleton.region(phase).allows(d, 1);
    }
    beginnings_.push_back(rungs(phase, true));
    ends_.push_back(rungs(phase, false));
    find_lowest(phase);
  }
}

void Gates::find_lowest(std::size_t phase) {
  auto& lowest = lowest_.emplace_back();
  lowest.resize(tiles_.dims());
  for (const DimId d : lowest.ids()) {
    const Ladder& ladder = tiles_.ladder(d);
    for (std::size_t rung = 0; rung < ladder.size() && skeleton_.region(phase).tracks(d); ++rung) {
      std::size_t end = 0;
      while (end < rung &&
             !skeleton_.region(phase).allows(d, ceil_div(ladder[rung], ladder[end]))) {
        ++end;
      }
      lowest[d].push_back(end);
    }
  }
}

bool Gates::may_still_end(std::size_t phase, std::size_t begun, std::size_t tile) const {
  for (std::size_t i = 0; i < tiles_.dims() && !open_; ++i) {
    const auto d = static_cast<DimId>(i);
    const std::vector<std::size_t>& lowest = lowest_[phase][d];
    if (!lowest.empty() && tiles_.digit(d, tile) < lowest[tiles_.digit(d, begun)]) {
      return false;
    }
  }
  return true;
}

// Is there another end of the region for this one?
bool Gates::meets(const Region& region, DimId d, std::int64_t extent, std::size_t index,
                  bool beginning) const {
  if (beginning && index + 1 == skeleton_.regions()) {
    return region.allows(d, extent);  // it ends at 1
  }
  if (!beginning && index == 0) {
    return region.allows(d, ceil_div(tiles_.bound(d), extent));
  }
  const Ladder& all = skeleton_.space().ladders()[d];
  return std::any_of(all.begin(), all.end(), [&](std::int64_t other) {
    return beginning ? other <= extent && region.allows(d, ceil_div(extent, other))
                     : other >= extent && region.allows(d, ceil_div(other, extent));
  });
}

Gates::Rungs Gates::rungs(std::size_t phase, bool beginning) const {
  Rungs all(tiles_.dims());
  for (const DimId d : all.ids()) {
    for (std::size_t rung = 0; rung < tiles_.ladder(d).size(); ++rung) {
      const auto& extents = tiles_.extents(d, rung);
      all[d].push_back(std::any_of(extents.begin(), extents.end(), [&](std::int64_t extent) {
        return meets(skeleton_.region(phase), d, extent, skeleton_.region_index(phase), beginning);
      }));
    }
  }
  return all;
}

std::size_t Gates::begun(std::size_t phase, std::size_t tile) const {
  std::size_t begun = 0;
  for (std::size_t i = 0; i < tiles_.dims() && !open_; ++i) {
    const auto d = static_cast<DimId>(i);
    begun += skeleton_.region(phase).tracks(d) ? tiles_.digit(d, tile) * tiles_.stride(d) : 0;
  }
  return begun;
}

bool Gates::may_end(std::size_t phase, std::size_t begun, std::size_t tile) const {
  for (std::size_t i = 0; i < tiles_.dims() && !open_; ++i) {
    const auto d = static_cast<DimId>(i);
    const Region& region = skeleton_.region(phase);
    const std::int64_t made =
        region.tracks(d) ? ceil_div(tiles_.extent(d, begun), tiles_.extent(d, tile)) : 1;
    if (!region.allows(d, made)) {
      return false;
    }
  }
  return true;
}

void Gates::close_beginnings(std::size_t phase, double* row) const {
  close(beginnings_[phase], row);
}
void Gates::close_ends(std::size_t phase, double* row) const { close(ends_[phase], row); }

void Gates::close(const Rungs& open, double* row) const {
  for (const DimId d : open.ids()) {
    if (std::find(open[d].begin(), open[d].end(), false) == open[d].end()) {
      continue;
    }
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      if (!open[d][rung]) {
        std::fill(row + first, row + last, exact::kInfinity);
      }
    });
  }
}

}  // namespace mapsim::balanced
