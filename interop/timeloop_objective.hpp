// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/document.hpp"
#include "interop/import_notes.hpp"

namespace mapsim {

// The objective of `mapsim search` that corresponds to a section `mapper`. A later metric breaks
// ties of those before it; without metrics Timeloop minimises the energy-delay product. Metrics
// without a counterpart get a note.
std::string timeloop_objective(const Node& mapper, ImportNotes& notes);

}  // namespace mapsim
