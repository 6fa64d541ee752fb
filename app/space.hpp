// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "app/command.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/nvdla/search.hpp"

namespace mapsim {

// What a search is limited to: the rules of a file ("": none), and what options add to them. Throws
// ConfigError, and UnsupportedSearch where imperfect factors have too many extents.
// `warnings`, if given, gets a line for each rule whose dims the workload lacks.
Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<std::string>* warnings = nullptr);

// The lines that a text result begins with: "warning: ..." each. None: "".
std::string warning_lines(const std::vector<std::string>& warnings);

// Says them on standard error, too, after what is said there already.
void remark_warnings(const std::vector<std::string>& warnings, Answer& answer);

// Of --batches. Throws UsageError where the machine knows of none.
Frames frames_of(const Arch& arch, bool batches);

}  // namespace mapsim
