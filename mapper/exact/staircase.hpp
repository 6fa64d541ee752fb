// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/exact/valuation.hpp"

namespace mapsim::exact {

// Points of which none is better than another in both figures: first ascending, second descending.
// First figures that differ by no more than rounding count as equal.
class Staircase {
 public:
  struct Point {
    Key key;
    std::int64_t tag = 0;  // whose point it is: up to the user
  };
  const std::vector<Point>& points() const { return points_; }
  // Is there a point that is no worse in either figure?
  bool covers(const Key& key) const;
  // Is there one for everything that the bounds leave? Second figures are whole numbers of cycles.
  bool covers_all(const Outlook& outlook) const;
  // Unless it is covered: adds it and drops what it covers.
  void insert(const Key& key, std::int64_t tag);

 private:
  std::vector<Point> points_;
};

}  // namespace mapsim::exact
