// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// Sizes of a YAML file in kilobits and the like, such as `32 kb`: legal, seldom meant. One line
// each with its place and the bytes that it is; nothing of a file that cannot be read.
std::string size_notes(const std::string& path);

}  // namespace mapsim
