// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "costmodel/mapping.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop.hpp"

namespace mapsim {

// Reads the directives of a mapping: keeps and bypasses, temporal and spatial loops with
// permutation and split, imperfect factors (P=5,3). One block per storage, outermost first. A
// storage keeps every tensor that it does not bypass; one that holds nothing only those named.
// Errors go to the reader. `constraints`: rules that the mapping and its machine have together, as
// the front end of version 0.4 makes them; what they say the directives need not say, and a
// directive that says otherwise is an error.
std::vector<TimeloopBlock> read_timeloop_mapping(Reader& reader, const Node& section,
                                                 const TimeloopMachine& machine,
                                                 const Workload& workload,
                                                 const std::vector<TimeloopConstraint>& constraints,
                                                 ImportNotes& notes);

// A mapping as text: every storage with all its directives. Ends with a newline.
std::string write_timeloop_mapping(const TimeloopMachine& machine, const Workload& workload,
                                   const std::vector<TimeloopBlock>& blocks);

}  // namespace mapsim
