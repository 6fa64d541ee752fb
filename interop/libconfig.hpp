// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/document.hpp"

namespace mapsim {

// A file in the grammar of libconfig, which Timeloop's older inputs have, as the tree that the same
// input in YAML is: groups are maps, lists and arrays are lists. Comments of three kinds; @include
// is refused. Throws ConfigError with the first thing that is wrong and its place.
Document parse_libconfig(std::string text, const std::string& filename);

}  // namespace mapsim
