// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace mapsim {

// A point of two figures, both to be minimised.
struct StepMark {
  Point value;
  std::string name, title;
  bool on_front = false;  // false: dominated; drawn in grey, without its name
  bool chosen = false;    // drawn with a ring
};
// Draws the points, the Pareto front of these two figures as steps, and the names on the front.
void draw_steps_and_marks(Canvas& canvas, const Plot& plot, const std::vector<StepMark>& marks);

}  // namespace mapsim
