// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim {

// Read what the user fixes in the mapspace of `problem` (docs/formats.md). Every unrolling that
// comes back fits its axis, is allowed along it, and divides its bound; no rule contradicts the
// architecture; anything else throws a ConfigError with all that is wrong with the file.
Constraints load_constraints(const std::string& path, const Problem& problem);
Constraints parse_constraints(const std::string& text, const std::string& filename,
                              const Problem& problem);

}  // namespace mapsim
