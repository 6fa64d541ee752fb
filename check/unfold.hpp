// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "check/imperfect.hpp"
#include "check/relaxed.hpp"

namespace mapsim::check {

struct ForwardResult {
  double bound = 0;  // no mapping has less of the target
  std::int64_t labels = 0;
};

// What tells partial nests apart that have come to the same tile: what their loops have made of
// each dim, or nothing but what they use of rooms that are shared.
enum class Memory : std::uint8_t { kLoops, kRooms };

// Walks the nests of an unrolling from the outside in, those first that may come to the least:
// until one is whole that is below all others, or nothing is left that does not meet the target, or
// as many partial nests have been looked at as the effort allows. With loops known a whole one
// costs what it moves; whether there are loops to put between those of one dim is not asked, which
// leaves a bound. With rooms only each edge costs what it does in the relaxation, the least of
// all loops above. `relaxed`: of bins that no two extents share.
ForwardResult search_forward(const Graph& graph, const ExtentBins& bins, const Relaxed& relaxed,
                             const Goal& goal, const Target& target, Memory memory,
                             const Effort& effort);

}  // namespace mapsim::check
