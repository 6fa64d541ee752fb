// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace mapsim {

// What was built or installed with the program and is found by the place of the program itself, so
// that an installation can be moved.

// The module that speaks to MPI (campaign/mpi.hpp); empty: there is none.
std::string mpi_module();

// Folders that may have the shipped files (core/shipped.hpp): of the working directory, then at and
// above the program, as built and as installed.
std::vector<std::string> shipped_configs();

}  // namespace mapsim
