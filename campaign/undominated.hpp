// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace mapsim {

// The indices of the points (`energy`, `cycles`) that no other one beats in both figures, fastest
// first. Of equal points the first one is kept.
template <class Point>
std::vector<std::size_t> undominated(const std::vector<Point>& points) {
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple{points[a].cycles, points[a].energy, a} <
           std::tuple{points[b].cycles, points[b].energy, b};
  });
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    if (kept.empty() || points[i].energy < points[kept.back()].energy) {
      kept.push_back(i);
    }
  }
  return kept;
}

}  // namespace mapsim
