// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Which rule for extents or loops (mapper/mapspace/rules.hpp) a mapping of the space without them
// breaks, by the words of the rules, trying every way to read them; empty: none.
std::string broken_rule(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
