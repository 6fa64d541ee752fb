// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mapsim {

// A point of two figures that are both the better the smaller they are.
struct StepMark {
  Point value;
  std::string name, title;
  bool on_front = false;  // else beaten, in grey and without its name
  bool chosen = false;    // drawn with a ring
};
// The points, what is best in these two figures alone as steps, and the names of the front.
void draw_steps_and_marks(Canvas& canvas, const Plot& plot, const std::vector<StepMark>& marks);

}  // namespace mapsim
