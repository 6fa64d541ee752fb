// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// For each class of unrollings of a space, the first class that equals it but for names of dims.
// Renaming dims turns each mapping of one into a mapping of the other with the same cost, so their
// optima and bounds are equal. For a square image under a square kernel, for example, P and Q, R
// and S may be exchanged. With imperfect factors, classes that have the same dims along other axes
// are equal, too. A class stands for itself if rules distinguish dims or places in the array.
std::vector<std::size_t> symmetric_classes(const Mapspace& space);

}  // namespace mapsim
