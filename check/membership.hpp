// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/rules.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim::check {

// Why a mapping is not in the declared mapspace (docs/mapspace.md); empty if it is. The mapping
// satisfies check_structure().
std::string why_outside(const Problem& problem, const Rules& rules, const Mapping& mapping);

}  // namespace mapsim::check
