// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "mapper/mapspace/mapspace.hpp"
#include "mapper/objective.hpp"

namespace mapsim {

// Throws UnsupportedSearch if a strategy (find_mapper) cannot search this space. Annealing and
// genetic search know perfect factors only. A space with imperfect factors has at most kMostExtents
// extents and no rule for one loop per dim. Only the exact strategy knows the schedules of an
// NVDLA-like engine.
void check_supported(const Problem& problem, const Constraints& constraints,
                     std::string_view strategy);
// ... or if values of this objective may exceed the largest number (costmodel/objective_range.hpp).
void check_range(const Problem& problem, const Objective& objective);

}  // namespace mapsim
