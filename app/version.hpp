// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// What --version says: the version, the commit that was built, and what is built in.
std::string version_text();

}  // namespace mapsim
