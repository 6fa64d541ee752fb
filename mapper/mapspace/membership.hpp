// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// The first thing in a canonical mapping that the space does not have, for people ("tiles of 3 of P
// in tiles of 10 are partial"); empty: the space has the mapping. The parallel loops of a fanout
// may stand in any order, as far as they are over different dims. `mapping` passes
// check_structure(). Capacities are no part of it.
std::string first_breach(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
