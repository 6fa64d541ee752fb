// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/incumbent.hpp"

#include <algorithm>
#include <vector>

namespace mapsim::exact {

Incumbent Incumbent::front(bool is_measured) {
  Incumbent incumbent;
  incumbent.is_front_ = true;
  incumbent.is_measured_ = is_measured;
  return incumbent;
}

std::span<const Incumbent::Point> Incumbent::points() const {
  if (is_front_) {
    return points_;
  }
  return {&best_, best_.key.first < kInfinity ? std::size_t{1} : std::size_t{0}};
}

bool Incumbent::dominates(const ObjectiveKey& key) const {
  if (!(key.first < kInfinity)) {
    return true;
  }
  if (!is_front_) {
    return worse(key, best_.key);
  }
  // Of the points whose first figure is no more the last has the least second figure.
  const auto more = std::partition_point(
      points_.begin(), points_.end(), [&](const Point& point) { return !exceeds(point.key, key); });
  return more != points_.begin() && std::prev(more)->key.second <= key.second;
}

bool Incumbent::rules_out(const ObjectiveKey& bound) const {
  return dominates(is_measured_ ? ObjectiveKey{bound.first, 0} : bound);
}

void Incumbent::insert(const ObjectiveKey& key, std::int64_t tag) {
  if (dominates(key)) {
    return;
  }
  if (!is_front_) {
    if (best_.tag == kNoTag || key <= best_.key) {
      best_ = {std::min(key, best_.key), tag};
    }
    return;
  }
  std::erase_if(points_, [&](const Point& point) {
    return !exceeds(key, point.key) && key.second <= point.key.second;
  });
  const auto place = std::partition_point(points_.begin(), points_.end(),
                                          [&](const Point& point) { return point.key < key; });
  points_.insert(place, {key, tag});
}

Incumbent Incumbent::without_tags() const {
  Incumbent known = *this;
  known.best_.tag = kNoTag;
  for (Point& point : known.points_) {
    point.tag = kNoTag;
  }
  return known;
}

double most_energy(const PathObjective& path_objective, std::vector<double> least,
                   const Incumbent& known, double least_second) {
  const auto is_beyond = [&](double energy) {
    least[0] = energy;
    const ObjectiveKey key = path_objective.key(least.data());
    return known.rules_out(
        known.is_front() ? ObjectiveKey{key.first, std::max(key.second, least_second)} : key);
  };
  if (is_beyond(0)) {
    return -1;
  }
  double most = 0;
  double beyond = 1;
  while (!is_beyond(beyond)) {
    most = beyond;
    beyond *= 2;
    if (!(beyond < kInfinity)) {
      return kInfinity;
    }
  }
  while (true) {
    const double middle = most + (beyond - most) / 2;
    if (!(most < middle && middle < beyond)) {
      return most;
    }
    (is_beyond(middle) ? beyond : most) = middle;
  }
}

}  // namespace mapsim::exact
