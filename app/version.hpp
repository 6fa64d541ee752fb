// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// What --version says: the version, the commit that was built, and what is built in.
std::string version_text();
bool built_with_mpi();

}  // namespace mapsim
