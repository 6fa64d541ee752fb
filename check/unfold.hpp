// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "check/relaxed.hpp"

namespace mapsim::check {

struct Unfolding {
  double bound = 0;  // no mapping has less of the target
  std::int64_t labels = 0;
};

// Walks the nests of an unrolling from the outside in, those first that may come to the least, and
// knows what their loops have made of each dim: until one is whole that is below all others, or
// nothing is left that does not meet the target, or so many partial nests have been looked at. A
// whole one costs what it moves; whether there are loops to put between those of one dim is not
// asked, which leaves a bound. `relaxed`: of rungs that no two extents share.
Unfolding unfold(const Graph& graph, const Rungs& rungs, const Relaxed& relaxed, const Goal& goal,
                 const Target& target, std::int64_t labels);

}  // namespace mapsim::check
