// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/sparse/model.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/divisor_lattice.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// How zeros in tensors change the flow across one boundary (docs/sparsity.md), per tile of a
// lattice. Tiles of equal shape that serve an equal part of the operation space share an entry.
// Empty where the flow is the same for all tiles. Throws OutOfBudget once the time of `within` is
// over, as stored_bits() does.
class FlowsByTile {
 public:
  FlowsByTile() = default;
  FlowsByTile(const StateGraph& graph, const Unrolled& unrolled, const BoundaryEdge& edge,
              HeldMemory& within);
  bool empty() const { return flows_.empty(); }
  const FlowOfNonzeros* at(std::size_t tile) const {
    return flows_.empty() ? nullptr : &flows_[index_[tile]];
  }

 private:
  std::vector<FlowOfNonzeros> flows_;
  std::vector<std::uint32_t> index_;  // per tile
};

// Bits of capacity that the tile of an edge takes at its inner end: [tile].
std::vector<double> stored_bits(const StateGraph& graph, const Unrolled& unrolled,
                                const BoundaryEdge& edge, Bits width, const HeldMemory& within);

}  // namespace mapsim::exact
