// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/exact/costs.hpp"
#include "mapper/exact/lattice.hpp"
#include "mapper/exact/skeleton.hpp"

namespace mapsim::exact {

// A node of the search graph.
struct Node {
  std::size_t phase = 0;
  std::size_t pointers = 0;
  std::size_t tile = 0;
};

// Fanout f is crossed where the tile is the block that the unrolling says.
bool may_cross(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled,
               std::size_t phase, std::size_t tile);

// The least that is still to pay from each node to the end, per component, when every tile has its
// room for itself: the exact shortest path of that relaxed problem, found from the inside out. So it
// never overestimates, and along an edge it falls by at most the edge's cost (admissible, consistent).
class Bound {
 public:
  Bound(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled, Costs& costs);
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][(node.phase * pointers_ + node.pointers) * tiles_ + node.tile];
  }
  std::int64_t states() const { return states_; }

 private:
  std::size_t pointers_;
  std::size_t tiles_;
  std::int64_t states_ = 0;
  std::vector<std::vector<double>> to_go_;
};

}  // namespace mapsim::exact
