// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Why the space has no mapping equal to this one, as text ("tiles of 3 of P in tiles of 10 are
// partial"); empty if it has. Mappings are equal if their canonical forms are, where parallel loops
// of a fanout over different dims may be in any order. `mapping` satisfies check_structure().
// Capacities do not matter.
std::string why_outside_of(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
