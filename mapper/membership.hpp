// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Why no mapping of the space is the same as this one, for people ("tiles of 3 of P in tiles of 10
// are partial"); empty: one is. The same: in canonical form, and the parallel loops of a fanout in
// any order, as far as they are over different dims. `mapping` passes check_structure(). Capacities
// are no part of it.
std::string why_outside_of(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
