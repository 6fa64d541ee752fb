// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace mapsim {

// What was built or installed with the program and is found by the place of the program itself, so
// that an installation can be moved.

// The module that speaks to MPI (campaign/mpi.hpp); empty: there is none.
std::string mpi_module();

// `path`, or the shipped file of that name (configs/arch/eyeriss.yaml) where the program is
// installed and `path` does not exist.
std::string shipped(const std::string& path);

}  // namespace mapsim
