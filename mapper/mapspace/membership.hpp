// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// The first property of a canonical mapping that the space does not allow, as text ("tiles of 3 of
// P in tiles of 10 are partial"); empty: the space has the mapping. Parallel loops of a fanout over
// different dims may be in any order. `mapping` satisfies check_structure(). Capacities do not
// matter.
std::string first_breach(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
