// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// A node of the search graph.
struct Node {
  std::size_t stage = 0;
  std::size_t residency = 0;
  std::size_t tile = 0;
};

// The node behind the stage_end that ends a node's stage: the same tile, as the next lattice knows
// it. nullopt: the stage must not end there.
std::optional<Node> cross(const StateGraph& graph, const Unrolled& unrolled, const Node& node);

struct RowId {
  std::size_t stage = 0;
  std::size_t residency = 0;
};

// Where the nodes of each (stage, residency) begin in a flat array.
class NodeIndex {
 public:
  // `tiles`: of the lattice of each stage.
  NodeIndex(const StateGraph& graph, std::span<const std::size_t> tiles);
  std::size_t row(std::size_t stage, std::size_t residency) const {
    return rows_[stage * residencies_ + residency];
  }
  std::size_t at(const Node& node) const { return row(node.stage, node.residency) + node.tile; }
  std::size_t size() const { return size_; }
  std::size_t residencies() const { return residencies_; }

 private:
  std::size_t residencies_;
  std::vector<std::size_t> rows_;  // of reachable ones
  std::size_t size_ = 0;
};

}  // namespace mapsim::exact
