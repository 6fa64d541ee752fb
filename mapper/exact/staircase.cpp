// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/staircase.hpp"

#include <algorithm>

namespace mapsim::exact {

bool Staircase::covers(const Key& key) const {
  // Of the points that are not dearer the last has the least second figure.
  const auto dearer = std::partition_point(
      points_.begin(), points_.end(), [&](const Point& point) { return !beyond(point.key, key); });
  return dearer != points_.begin() && std::prev(dearer)->key.second <= key.second;
}

// What no point covers are boxes: energy below that of a point, latency below that of the one
// before. An outlook reaches into a box if it reaches the box's outer corner.
bool Staircase::covers_all(const Outlook& outlook) const {
  double most_cycles = kInfinity;  // of the box whose points have less energy than this point
  for (const Point& point : points_) {
    if (point.key.first * (1 - kRounding) > outlook.energy &&
        outlook.reaches(point.key.first * (1 - kRounding), most_cycles)) {
      return false;
    }
    most_cycles = point.key.second - 1;
    if (most_cycles < outlook.latency) {
      return true;
    }
  }
  return !(outlook.latency <= most_cycles);
}

void Staircase::insert(const Key& key, std::int64_t tag) {
  if (covers(key)) {
    return;
  }
  std::erase_if(points_, [&](const Point& point) {
    return !beyond(key, point.key) && key.second <= point.key.second;
  });
  const auto place = std::partition_point(points_.begin(), points_.end(),
                                          [&](const Point& point) { return point.key < key; });
  points_.insert(place, {key, tag});
}

}  // namespace mapsim::exact
