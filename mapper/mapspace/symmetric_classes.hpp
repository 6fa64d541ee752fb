// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// For each group of unrollings of a space the first one that is like it but for the names of dims:
// whatever is true of one is true of the other, since renaming dims makes a mapping of either into
// one of the other that costs as much. A square image under a square kernel may be turned, say:
// P for Q and R for S. Groups of imperfect factors are alike, too, that have the same dims along
// other axes. Every group is its own twin where rules tell dims apart, or places on the array.
std::vector<std::size_t> twins(const Mapspace& space);

}  // namespace mapsim
