// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/reader.hpp"
#include "interop/accelforge.hpp"

namespace mapsim {

// Do the nodes of this one belong to different einsums?
bool is_forge_split(const Node& node);

// The names of rank variables that a loop gives: one, or a list.
std::vector<std::string> forge_loop_variables(const Node& rank_variable);
// The one that is among the dims of an einsum; nullopt: none is.
std::optional<std::string> forge_loop_variable(const Node& rank_variable, const Words& dims);

// Checks the form of a mapping, and that each name in it is one of the machine or of the workload.
// Errors go to the reader.
void check_forge_mapping(Reader& reader, const Node& mapping, const Node& arch,
                         const std::vector<ForgeEinsum>& einsums, ImportNotes& notes);

}  // namespace mapsim
