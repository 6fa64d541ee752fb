// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "check/rules.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim::check {

// Why a mapping that satisfies check_structure() is not in the declared mapspace
// (docs/mapspace.md); empty: it is.
std::string why_outside(const Problem& problem, const Rules& rules, const Mapping& mapping);

}  // namespace mapsim::check
