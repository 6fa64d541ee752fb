// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A rule with words for dims of which the workload lacks some or all, so it means less than it
// seems to. (Dims that a file calls by their names must exist; words for windows, see
// docs/formats.md, need not.)
struct LackingRule {
  std::string place;              // file:line:column and the rule: "a.yaml:3:9: mapspace.dataflow"
  std::string preset;             // the dataflow, if the rule is one; otherwise empty
  std::vector<std::string> dims;  // words, in the order of the file
  friend bool operator==(const LackingRule&, const LackingRule&) = default;
};
// The warning for the user: the place, the dims, and what remains of the rule. `who` lacks the
// dims.
std::string warning_of(const LackingRule& rule, const std::string& who);
// Warnings about a machine and rules for this workload: the axes that stay idle, then each rule
// that lacks dims.
std::vector<std::string> warnings_of(const Problem& problem,
                                     const std::vector<LackingRule>& lacking);

// Reads the constraints of the mapspace of `problem` (docs/formats.md). The result is consistent:
// every given unrolling fits its axis, is allowed along it and divides its bound, and no rule
// contradicts the architecture. Otherwise throws a ConfigError that lists all faults of the file.
// `lacking`, if given, gets an entry per rule or dataflow. `imperfect`: factors are, whatever the
// file says (--imperfect).
Constraints load_constraints(const std::string& path, const Problem& problem,
                             std::vector<LackingRule>* lacking = nullptr, bool imperfect = false);
Constraints parse_constraints(const std::string& text, const std::string& filename,
                              const Problem& problem, std::vector<LackingRule>* lacking = nullptr,
                              bool imperfect = false);

}  // namespace mapsim
