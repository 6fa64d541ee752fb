// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "report/page.hpp"

namespace mapsim {

// A mapping that people step through (report/stepper.js): the nest with where its loops stand, the
// tile that each level holds then, and the dims that each instance of an array works on. Without a
// script the page has the nest.
PageStepper stepper_of(const Problem& problem, const Mapping& mapping, const Cost& cost,
                       const std::string& name);

// A page of its own: the picture of show_mapping() and the stepper.
Page stepper_page(const Problem& problem, const Mapping& mapping, const Cost& cost);

}  // namespace mapsim
