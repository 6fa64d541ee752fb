// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "mapper/exact/parts.hpp"

namespace mapsim::exact {

// Energy traded for time: a mapping that takes `t` cycles needs at least `energy - slope * t` pJ.
struct Line {
  double energy = 0;  // pJ
  double slope = 0;   // pJ per cycle, > 0
};

// What bounds leave of the two figures of some mappings: all of them lie in this convex set, and
// with a point of it everything that is worse in either figure is in it too.
struct Outlook {
  double energy = 0;   // pJ, at least; infinite: there are none
  double latency = 0;  // cycles, at least
  std::span<const Line> lines = {};

  // The least energy of those that take so many cycles.
  double energy_at(double cycles) const;
  // Is there anything that is no worse in either figure?
  bool reaches(double energy_limit, double latency_limit) const {
    return latency <= latency_limit && energy_at(latency_limit) <= energy_limit;
  }
};

// A corner of the set's lower border.
struct Corner {
  double energy = kInfinity;
  double latency = 0;
};

// Calls visit(Corner) for the corners of the lower border, latency ascending: every objective has
// its least over the set at one of them (costmodel/objective_function.hpp; the logarithm of a
// product of powers is concave along a line, and a weighted sum is linear).
template <class Visit>
void for_each_corner(const Outlook& outlook, const Visit& visit) {
  const Line floor{outlook.energy, 0};
  const Line* active = &floor;
  double cycles = outlook.latency;
  const auto at = [&](const Line& line) { return line.energy - line.slope * cycles; };
  for (const Line& line : outlook.lines) {
    if (at(line) > at(*active) || (at(line) == at(*active) && line.slope < active->slope)) {
      active = &line;
    }
  }
  visit(Corner{at(*active), cycles});
  while (active != &floor) {
    // The first line less steep that crosses the one we are on.
    const auto crossing = [&](const Line& line) {
      return (active->energy - line.energy) / (active->slope - line.slope);
    };
    const Line* next = &floor;
    for (const Line& line : outlook.lines) {
      if (line.slope < active->slope && crossing(line) < crossing(*next)) {
        next = &line;
      }
    }
    cycles = crossing(*next) > cycles ? crossing(*next) : cycles;
    active = next;
    visit(Corner{at(*active), cycles});
  }
}

}  // namespace mapsim::exact
