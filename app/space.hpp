// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/mapspace.hpp"
#include "mapper/nvdla/search.hpp"

namespace mapsim {

// What a search is limited to: the rules of a file ("": none), and what options add to them. Throws
// ConfigError, and UnsupportedSearch where balanced factors have too many extents.
Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect);

// Of --batches. Throws UsageError where the machine knows of none.
Frames frames_of(const Arch& arch, bool batches);

}  // namespace mapsim
