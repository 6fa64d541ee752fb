// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// Why a space has no mapping at all: the constraints which, if dropped alone, would leave some.
std::string why_empty(const Mapspace& space);

}  // namespace mapsim
