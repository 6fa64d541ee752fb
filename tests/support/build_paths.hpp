// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Where a test finds the sources and what its build made. These are values of a library and no
// definitions of the preprocessor, so that a test's object is the same in every checkout and preset
// and a compiler cache compiles it once.
namespace mapsim {

extern const char* const kSource;    // the root of the sources
extern const char* const kBuild;     // the folder of the build
extern const char* const kProgram;   // mapsim
extern const char* const kFakeCuda;  // the library of tests/validate/device
extern const char* const kMpirun;    // empty: the build is without MPI
extern const bool kSanitized;        // the libraries are built with a sanitizer

// The path of a file of the sources: source_path("configs/arch/eyeriss.yaml").
inline std::string source_path(std::string_view below) {
  return std::string{kSource}.append("/").append(below);
}

// Whether MAPSIM_ALL_CASES is set in the environment, as `.ci/run --sanitize-all` does.
bool all_cases();

// Of `all` cases of a random test those that are tried: half of them where not all are asked for,
// and a fifth where a sanitizer makes code 5 to 20 times slower.
template <typename Count>
Count tried_of(Count all) {
  const Count part = kSanitized ? 5 : all_cases() ? 1 : 2;
  return (all + part - 1) / part;
}

}  // namespace mapsim
