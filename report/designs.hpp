// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/objective_function.hpp"

namespace mapsim {

// One of the best designs of a space, as figures show it (docs/design.md).
struct FoundDesign {
  std::size_t number = 0;      // in the grid of the space
  std::string name;            // "Buffer.capacity 64 KiB"
  double value = 0;            // of the objective, from pJ and s
  std::optional<double> area;  // mm2

  std::string numbered() const;  // "17: Buffer.capacity 64 KiB"
};
// The best design with the next value of one axis in place of its own. Changes are shares of the
// best design's figures: 0.02 is 2 % more.
struct DesignStep {
  std::string axis, value;
  double change = 0;                  // of the objective
  std::optional<double> area_change;  // nullopt: no area is given
  bool is_allowed = true;             // within the limits
};
// All that the figures of a search for designs need.
struct FoundDesigns {
  std::string title;      // the question
  std::string remark;     // what is proven
  std::string objective;  // "edp"
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  std::vector<FoundDesign> designs;
  std::vector<DesignStep> steps;

  double to_si(double value) const;  // of a value of the objective
  std::string si_unit() const;       // "J·s"
};

// Objective against area, one point for each design that has an area. A whole SVG file.
std::string design_front_svg(const FoundDesigns& found);
// How one step along each axis changes the objective and the area. Axes come in the order of the
// steps; a step that breaks a limit is marked. A whole SVG file.
std::string design_steps_svg(const FoundDesigns& found);

}  // namespace mapsim
