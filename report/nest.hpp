// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

// The loop nest for people: a line per node, indented by the loops around it, with the number of
// tiles and their extents, and beside each keep the size of its tiles.
std::string draw_nest(const Problem& problem, const Mapping& mapping, const Counts& counts);

}  // namespace mapsim
