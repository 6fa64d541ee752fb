// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "mapper/objective.hpp"

// Fronts: lists of points with an energy [pJ] and a latency in whole cycles, none of which another
// one dominates in both figures. Energies are equal up to rounding.

namespace mapsim::fusion {

template <class Point>
const Point& point_of(const Point& point) {
  return point;
}
template <class Point>
const Point& point_of(const std::shared_ptr<const Point>& point) {
  return *point;
}

template <class List>
bool is_dominated(const List& front, double energy, double cycles) {
  return std::any_of(front.begin(), front.end(), [&](const auto& one) {
    const auto& point = point_of(one);
    return point.energy <= energy * (1 + kRounding) && point.cycles <= cycles;
  });
}
template <class List>
void drop_covered(List& front, double energy, double cycles) {
  std::erase_if(front, [&](const auto& one) {
    const auto& point = point_of(one);
    return energy <= point.energy * (1 + kRounding) && cycles <= point.cycles;
  });
}

}  // namespace mapsim::fusion
