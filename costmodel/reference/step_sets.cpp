// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/step_sets.hpp"

#include <algorithm>

namespace mapsim {

PointSet common(const PointSet& a, const PointSet& b) { return without(a, without(a, b)); }

bool is_empty(const IterationBox& box) {
  return std::any_of(box.begin(), box.end(), [](const IndexRange& at) { return at.empty(); });
}

IterationTile tile_of(const IterationBox& box) {
  IterationTile tile(box.size());
  for (const DimId d : box.ids()) {
    tile[d] = {box[d].lo, box[d].size()};
  }
  return tile;
}

std::optional<std::vector<IndexRange>> as_box(const PointSet& points,
                                              const std::vector<std::int64_t>& shape) {
  std::vector<IndexRange> box(shape.size());
  std::int64_t stride = 1;
  std::int64_t volume = 1;
  for (std::size_t r = shape.size(); r-- > 0;) {
    box[r] = {shape[r], 0};
    for (const std::int64_t point : points) {
      const std::int64_t at = point / stride % shape[r];
      box[r] = {std::min(box[r].lo, at), std::max(box[r].hi, at + 1)};
    }
    volume *= box[r].size();
    stride *= shape[r];
  }
  return volume == count_of(points) ? std::optional{std::move(box)} : std::nullopt;
}

LiveSet live_set(const std::vector<PointSet>& needs) {
  std::vector<PointSet> later(needs.size() + 1);
  for (std::size_t s = needs.size(); s-- > 0;) {
    PointSet all = later[s + 1];
    all.insert(all.end(), needs[s].begin(), needs[s].end());
    later[s] = united(std::move(all));
  }
  LiveSet most;
  PointSet made;
  for (std::size_t s = 0; s < needs.size(); ++s) {
    made.insert(made.end(), needs[s].begin(), needs[s].end());
    made = united(std::move(made));
    most.live = std::max(most.live, count_of(common(made, later[s])));
    most.carried = std::max(most.carried, count_of(common(made, later[s + 1])));
  }
  return most;
}

}  // namespace mapsim
