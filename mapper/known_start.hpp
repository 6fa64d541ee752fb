// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/mapper.hpp"

namespace mapsim {

// The exact strategy with perfect factors, from a mapping of the space that is known beforehand. It
// is the result unless a better one is found, so of several equal mappings the result may be
// another one than that of search_exact(). With a gap (Budget::gap) only mappings that are better
// than it by more than that are looked for, which is quick where there are none. Engines, whose
// schedules are searched otherwise, take no such mapping.
SearchResult search_exact_from(const Mapspace& space, const SearchOptions& options,
                               const Mapping& known);

}  // namespace mapsim
