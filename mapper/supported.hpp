// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Throws UnsupportedSearch if a strategy (find_mapper) cannot search such a space: annealing and
// genetic know perfect factors only, no imperfect space has more than kMostExtents extents or a
// rule for one loop per dim, and only the exact strategy knows the schedules of an engine after
// NVDLA.
void check_supported(const Problem& problem, const Constraints& constraints,
                     std::string_view strategy);

}  // namespace mapsim
