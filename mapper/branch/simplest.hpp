// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/mapper.hpp"

namespace mapsim::branch {

// Gives a search that found nothing in its time the mapping with one loop per dim, in the outermost
// level, and nothing in parallel, if no rule is about it and it fits.
void add_simplest(const Mapspace& space, const Objective& objective, SearchResult& result);

// The same for a search that did not begin. The bound is that of the operations alone.
SearchResult without_search(const Mapspace& space, const Objective& objective);

}  // namespace mapsim::branch
