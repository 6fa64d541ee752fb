// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// The flow of a boundary, which boundary_cost.hpp charges.

// Elements that cross one end of a boundary; and of sums, those that come down again.
struct EndFlow {
  double crossing = 0;
  double returning = 0;
};

// What zeros make of a flow: what an element moves at each end; the shares of transfers that are
// made, gated and skipped; and what an element costs that is not moved [pJ per bit of its width].
struct FlowOfNonzeros {
  MovedShare parent, child;
  double made = 1;
  double parent_idle_pj = 0, child_idle_pj = 0;
};

struct BoundaryFlow {
  EndFlow parent, child;                     // over all instances
  EndFlow busy_parent, busy_child;           // of the busiest instance
  double tile = 0;                           // elements of the child's tile
  double networks_pj = 0;                    // of the networks between: BoundaryCost::network_pj()
  bool is_bound = false;                     // the true flow may be larger
  const FlowOfNonzeros* nonzeros = nullptr;  // of a tile; none: whatever the tile
};

// What crosses the network of one fanout between child and parent. An element that leaves at its
// outer end reaches groups of instances, each of which is served over one route.
struct NetworkFlow {
  double entering = 0;    // elements at the inner end, each instance's by itself
  double leaving = 0;     // ... at the outer end
  double returning = 0;   // sums that come down again
  double group_size = 1;  // instances of a group
  double route = 0;       // hops to a group, on average
};
}  // namespace mapsim
