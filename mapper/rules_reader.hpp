// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/reader.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim {

// Reads `unroll`, `extents` and `loops` of a mapspace (docs/formats.md) into `constraints`, whose
// other members have been read. Rules that contradict each other, the architecture or the workload
// are errors at their place.
void read_rules(Reader& reader, const Problem& problem, const Fields& mapspace,
                Constraints& constraints);

}  // namespace mapsim
