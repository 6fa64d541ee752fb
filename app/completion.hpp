// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// A script that completes commands, options, their words, and names of shipped files in bash.
std::string completion();

}  // namespace mapsim
