// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/tally.hpp"

namespace mapsim {

// Considers mappings with perfect factors, as consider_all() does, to the same result. Those of one
// structure are evaluated side by side first (costmodel/bulk.hpp), and only what may be the best so
// far, does not fit, or may break a limit is looked at by itself.
Tally consider_side_by_side(const Problem& problem, const SearchOptions& options,
                            std::span<const Mapping> mappings);

}  // namespace mapsim
