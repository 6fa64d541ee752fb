// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/sparse/model.hpp"
#include "mapper/graph/lattice.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What zeros make of the flow of one boundary, per tile of a lattice: tiles of one shape, serving
// one part of the operation space, share an entry. Empty where it is the same for all tiles.
class FlowsByTile {
 public:
  FlowsByTile() = default;
  FlowsByTile(const StateGraph& graph, const Unrolled& unrolled, const BoundaryEdge& edge);
  bool empty() const { return flows_.empty(); }
  const FlowOfNonzeros* at(std::size_t tile) const {
    return flows_.empty() ? nullptr : &flows_[index_[tile]];
  }

 private:
  std::vector<FlowOfNonzeros> flows_;
  std::vector<std::uint32_t> index_;  // per tile
};

// Bits that tiles of a boundary's child take of its capacity: [tile].
std::vector<double> stored_bits(const StateGraph& graph, const Unrolled& unrolled,
                                const BoundaryEdge& edge, Bits width);

}  // namespace mapsim::exact
