// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "report/page.hpp"

namespace mapsim {

// A mapping to step through (report/stepper.js): at each step the values of the loops, the tile
// that each level holds, and the dims that each instance of an array works on. Without a script the
// page shows the nest.
PageStepper stepper_of(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const std::string& name);

// A page with the figure of show_mapping() and the stepper.
Page stepper_page(const Problem& problem, const Mapping& mapping, const Cost& cost);

}  // namespace mapsim
