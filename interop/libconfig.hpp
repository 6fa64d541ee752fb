// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/document.hpp"

namespace mapsim {

// Reads a file in the grammar of libconfig (Timeloop's older inputs) as the tree of the same input
// in YAML: groups become maps, lists and arrays become lists. All three kinds of comments are read;
// @include is refused. Throws ConfigError with the first error and its place.
Document parse_libconfig(std::string text, const std::string& filename);

}  // namespace mapsim
