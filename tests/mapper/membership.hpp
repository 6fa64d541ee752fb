// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Why a mapping is not in a mapspace, by the words of its declaration
// (mapper/mapspace/mapspace.hpp); empty: it is. Shares nothing with the enumeration.
std::string why_outside(const Mapspace& space, const Mapping& mapping);

}  // namespace mapsim
