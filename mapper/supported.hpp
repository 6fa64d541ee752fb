// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "mapper/mapspace.hpp"

namespace mapsim {

// Throws UnsupportedSearch if a strategy (find_mapper) cannot search such a space: annealing and
// genetic know perfect factors only, and no balanced space has more than kMostRungs extents.
void check_supported(const Workload& workload, const Constraints& constraints,
                     std::string_view strategy);

}  // namespace mapsim
