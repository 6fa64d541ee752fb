// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "costmodel/fusion/shape.hpp"

namespace mapsim {

// Rule F1 and the theorem of docs/model.md#fused-mappings: the points that a step of a tree must
// make are a product over lines, so each line is walked alone. Counts are products.

// The points of an intermediate that the steps of one scope instance need on one line: a tree with
// a node per index of each loop of the line, outermost first. Leaves are single steps.
struct NeedTrace {
  IndexRange points;        // of the rank that the line's loops move: of all steps below
  std::int64_t others = 1;  // points of its other ranks on this line
  std::vector<NeedTrace> inner;
  friend bool operator==(const NeedTrace&, const NeedTrace&) = default;
};

// The traffic of a keep in a group, on one line.
struct LineMoves {
  std::int64_t moved = 0;    // product over ranks on this line of what crosses, summed over moves
  std::int64_t largest = 0;  // of one tile
};

// How often a node is entered with boxes of one size.
struct BoxEntries {
  std::int64_t times = 0;
  std::int64_t first = 0;  // at the start of all dims that its output lacks
};

struct LineCounts {
  // Per node: by the sizes of its einsum's dims on this line when it is entered.
  std::vector<std::map<std::vector<std::int64_t>, BoxEntries>> entries;
  std::vector<LineMoves> keeps;                // as TreeShape::keeps; those of leaves are left out
  std::vector<std::vector<NeedTrace>> traces;  // per scope: of its instances, distinct ones
};

// Walks the loops of one line through the tree.
LineCounts walk_line(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                     const TreeShape& shape, std::size_t line);

// The most points of an intermediate that are held during a step of its scope (made, and needed now
// or later), and that are carried from one step to the next.
struct LiveSet {
  std::int64_t live = 0;
  std::int64_t carried = 0;
  friend bool operator==(const LiveSet&, const LiveSet&) = default;
};
// `lines`: of each line, the distinct instances; `order`: the lines of the loops within the scope,
// outermost loop first.
LiveSet live_set(const std::vector<const std::vector<NeedTrace>*>& lines,
                 const std::vector<std::size_t>& order);

}  // namespace mapsim
