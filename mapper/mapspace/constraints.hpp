// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A rule whose dims a workload lacks, in part or all: it means something else there, or nothing.
// Dims that a file names by name must exist; words for windows (docs/formats.md) need not.
struct LackingRule {
  std::string place;              // file:line:column: the rule: "a.yaml:3:9: mapspace.dataflow"
  std::string preset;             // the dataflow, if the rule is one; else empty
  std::vector<std::string> dims;  // words, in the order of the file
  friend bool operator==(const LackingRule&, const LackingRule&) = default;
};
// What to tell the user: the place, the dims, and what the rule is without them. `who` lacks them.
std::string warning_of(const LackingRule& rule, const std::string& who);

// Read what the user fixes in the mapspace of `problem` (docs/formats.md). Every unrolling that
// comes back fits its axis, is allowed along it, and divides its bound; no rule contradicts the
// architecture; anything else throws a ConfigError with all that is wrong with the file.
// `lacking`, if given, gets one entry a rule, or a dataflow.
Constraints load_constraints(const std::string& path, const Problem& problem,
                             std::vector<LackingRule>* lacking = nullptr);
Constraints parse_constraints(const std::string& text, const std::string& filename,
                              const Problem& problem, std::vector<LackingRule>* lacking = nullptr);

}  // namespace mapsim
