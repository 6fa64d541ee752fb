// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "costmodel/crossing.hpp"
#include "costmodel/problem.hpp"
#include "mapper/graph/parts.hpp"

namespace mapsim::exact {

// How the used fanouts above a boundary's inner end share its transfers.
struct Sharing {
  std::vector<LoopUse> uses;  // how each used fanout above the inner end counts
  std::size_t crossed = 0;    // how many of them lie above the loops that end in the tile
  // A union of tiles that slides moves as one; otherwise each instance's gain counts.
  bool together = true;
  LoopUse temporal = LoopUse::kSum;  // kMerge: count the distinct elements of the whole run
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// How instances share each end of a boundary (parent, child): all instances, and the busiest one
// (busy_). met_: the distinct sums of the whole run, by which read-backs are counted.
struct BoundarySharing {
  Sharing parent, child, busy_parent, busy_child;
  Sharing met_parent, met_child, met_busy_parent, met_busy_child;
};
// `used`: the used fanouts. `parent_fanouts`, `child_fanouts`: how many lie above each end.
BoundarySharing sharing_of(const Problem& problem, const std::vector<FanoutId>& used,
                           const BoundaryEdge& edge, std::size_t parent_fanouts,
                           std::size_t child_fanouts);

}  // namespace mapsim::exact
