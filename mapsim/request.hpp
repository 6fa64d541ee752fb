// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that the sources of this folder share; not installed.
#include <string>
#include <vector>

#include "mapsim/mapsim.hpp"

namespace mapsim {

// The mapspace that a request leaves. Throws ConfigError, UnsupportedSearch. `warnings`, if given,
// receives the rules and the axes of the machine that no dim of the layer matches.
Constraints constraints_of(const Problem& problem, const SearchRequest& request,
                           std::vector<std::string>* warnings = nullptr);

// Throws std::invalid_argument for batches on any machine but an NVDLA-like engine.
Frames frames_of(const Arch& arch, const SearchRequest& request);

// Options without stop flag and progress, to be stored in an answer.
SearchOptions kept(SearchOptions options);

}  // namespace mapsim
