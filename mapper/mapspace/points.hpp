// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

// A way to fill the next point that is not empty.
struct NextPoint {
  Point point;
  std::size_t cursor = 0;          // behind it
  std::vector<std::size_t> rules;  // indices of the rules for extents of what is kept there
};

// All cursors that a nest can reach, numbered from 0, the one before any point, and the ways that
// lead on from each.
class Points {
 public:
  Points(const Placements& placements, const std::vector<ExtentRule>& rules);
  const Cursor& cursor(std::size_t index) const { return cursors_[index]; }
  const std::vector<NextPoint>& from(std::size_t cursor) const { return ways_[cursor]; }

 private:
  std::vector<Cursor> cursors_;
  std::vector<std::vector<NextPoint>> ways_;
};

}  // namespace mapsim::nests
