// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// For each class of unrollings of a space the first one that is like it but for the names of dims:
// whatever is true of one is true of the other, since renaming dims makes a mapping of either into
// one of the other that costs as much. A square image under a square kernel may be turned, say:
// P for Q and R for S. Classes of imperfect factors are alike, too, that have the same dims along
// other axes. A class stands for itself where rules tell dims apart, or places on the array.
std::vector<std::size_t> symmetric_classes(const Mapspace& space);

}  // namespace mapsim
