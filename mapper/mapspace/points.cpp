// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/points.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace mapsim::nests {

Points::Points(const Placements& placements, const std::vector<ExtentRule>& rules)
    : cursors_{Cursor{}} {
  std::map<std::uint64_t, std::size_t> known{{Cursor{}.key(), 0}};
  for (std::size_t c = 0; c < cursors_.size(); ++c) {
    std::vector<NextPoint> ways;
    placements.for_each_point(Cursor{cursors_[c]}, [&](const Point& point, const Cursor& next) {
      const auto [entry, is_new] = known.emplace(next.key(), cursors_.size());
      if (is_new) {
        cursors_.push_back(next);
      }
      NextPoint next_point{point, entry->second, {}};
      for (std::size_t r = 0; r < rules.size(); ++r) {
        if (point.keeps[rules[r].level].contains(rules[r].tensor)) {
          next_point.rules.push_back(r);
        }
      }
      ways.push_back(std::move(next_point));
    });
    ways_.push_back(std::move(ways));
  }
}

}  // namespace mapsim::nests
