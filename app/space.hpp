// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapspace.hpp"

namespace mapsim {

// What a search is limited to: the rules of a file ("": none), and what options add to them. Throws
// ConfigError, and UsageError where balanced factors meet what only perfect ones can.
Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect);

}  // namespace mapsim
