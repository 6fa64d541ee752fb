// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/nvdla/search.hpp"

namespace mapsim {

// What a search is limited to: the rules of a file ("": none), and what options add to them. Throws
// ConfigError, and UnsupportedSearch where imperfect factors have too many extents.
// `warnings`, if given, gets a line for each rule or axis of the machine whose dims the workload
// lacks.
Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<std::string>* warnings = nullptr);
// The same for any strategy, with the rules whose dims the workload lacks.
Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect,
                       std::vector<LackingRule>& lacking);

// What the simulation of so many MACs is: "a walk of as many steps, about 4 minutes", at the half
// million a second of docs/performance.md.
std::string walk_text(std::int64_t macs);

// The lines that a text result begins with: "warning: ..." each. None: "".
std::string warning_lines(const std::vector<std::string>& warnings);

// Says them on standard error, too, after what is said there already.
void remark_warnings(const std::vector<std::string>& warnings, Answer& answer);

// Of --batches. Throws UsageError where the machine knows of none.
Frames frames_of(const Arch& arch, bool batches);

}  // namespace mapsim
