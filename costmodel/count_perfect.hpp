// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/evaluate.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// Accesses of one tensor in a perfect nest (every extent divides the one above) by products alone:
// one sweep over the loops, no allocation. Same numbers as the general closed form. Returns false,
// without usable counts, for the few nests that it does not cover: windows in the output, windows
// of three dims, unions of blocks with holes, sliding without forwarding.
bool count_perfect(const Problem& problem, const Nest& nest, TensorId tensor, Counts& counts);

}  // namespace mapsim
