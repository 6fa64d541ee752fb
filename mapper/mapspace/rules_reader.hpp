// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "core/reader.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/rule_values.hpp"

namespace mapsim {

// Reads `unroll`, `extents` and `loops` of a mapspace (docs/formats.md) into `constraints`, whose
// other members have been read. Rules that contradict each other, the architecture or the workload
// are errors at their place in the file. Returns the words that mean no dim of the workload.
std::vector<LackingWord> read_rules(Reader& reader, const Problem& problem, const Fields& mapspace,
                                    Constraints& constraints);

}  // namespace mapsim
