// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/sparse/sparse_counts.hpp"

namespace mapsim {

// The flow of a boundary, input of boundary_cost.hpp.

// Elements that cross one end of a boundary, and sums that come back down.
struct EndFlow {
  double crossing = 0;
  double returning = 0;
};

// The effect of zeros on a flow: what an element moves at each end, the shares of transfers that
// are made, gated and skipped, and the cost of an element that is not moved [pJ per bit].
struct FlowOfNonzeros {
  MovedShare parent, child;
  double made = 1;
  double unskipped = 1;  // made or gated: they pass the ports
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

// The traffic in the network of one fanout between child and parent. An element at its outer end
// reaches groups of instances; each group is served over one route.
struct NetworkFlow {
  double entering = 0;    // elements at the inner end, each instance's by itself
  double leaving = 0;     // ... at the outer end
  double returning = 0;   // sums that come back down
  double group_size = 1;  // instances per group
  double route = 0;       // hops to a group, on average
};
}  // namespace mapsim
