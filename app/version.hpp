// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// What --version says: the version, the commit that was built, and what is built in. The module for
// MPI may be built, but not be there (in the .deb).
std::string version_text(bool has_mpi_module);

}  // namespace mapsim
