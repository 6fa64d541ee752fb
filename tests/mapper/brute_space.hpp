// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A text that two mappings share only if they are equal.
std::string key_of(const Mapping& mapping);

// The mappings of a small space by trying every list of nodes: rules come from check_structure(),
// equality from canonical(), and nothing from the mapper but the constraints.
std::set<std::string> brute_force_keys(const Mapspace& space);

}  // namespace mapsim
