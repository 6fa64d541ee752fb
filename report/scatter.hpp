// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace mapsim {

// Points of one colour.
struct ScatterGroup {
  std::string name;
  struct Point {
    double x = 0;  // above zero
    double y = 0;
  };
  std::vector<Point> points;
};

// Both axes logarithmic and of one range, with the diagonal: measured against predicted times in
// seconds. A whole SVG file.
std::string scatter_svg(const std::string& title, const std::string& x, const std::string& y,
                        const std::vector<ScatterGroup>& groups);

}  // namespace mapsim
