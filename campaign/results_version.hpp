// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// Part of the key of every result: "0.1.0-1b2c3d4e5f60", the tool's version and, as hexadecimal
// digits, a hash of the sources that results depend on, made when the program is built
// (docs/decisions/0028). Other sources have other keys.
std::string results_version();

}  // namespace mapsim
