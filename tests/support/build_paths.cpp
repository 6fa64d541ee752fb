// SPDX-License-Identifier: Apache-2.0
#include "tests/support/build_paths.hpp"

#include <cstdlib>

namespace mapsim {

const char* const kSource = MAPSIM_SOURCE_DIR;
const char* const kBuild = MAPSIM_BINARY_DIR;
const char* const kProgram = MAPSIM_PROGRAM;
const char* const kFakeCuda = MAPSIM_FAKE_CUDA;
const char* const kMpirun = MAPSIM_MPIRUN;
const bool kSanitized = MAPSIM_SANITIZED;

bool all_cases() { return std::getenv("MAPSIM_ALL_CASES") != nullptr; }

}  // namespace mapsim
