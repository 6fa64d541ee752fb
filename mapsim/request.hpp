// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the sources of this folder share; not installed.
#include <string>
#include <vector>

#include "mapsim/mapsim.hpp"

namespace mapsim {

// The mapspace that a request leaves. Throws ConfigError, UnsupportedSearch. `warnings`, if given,
// gets the rules, and the axes of the machine, that do not concern the layer.
Constraints constraints_of(const Problem& problem, const SearchRequest& request,
                           std::vector<std::string>* warnings = nullptr);

// Throws std::invalid_argument for batches on any machine but an NVDLA-like engine.
Frames frames_of(const Arch& arch, const SearchRequest& request);

// Options for whoever reads them later, when what they point to may be gone.
SearchOptions kept(SearchOptions options);

}  // namespace mapsim
