// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/chain.hpp"

namespace mapsim {

// Einsums first .. last of a chain as one of their own. What they pass on to others, or get from
// them, is not an intermediate of it.
EinsumChain piece_of(const EinsumChain& chain, std::size_t first, std::size_t last);

}  // namespace mapsim
