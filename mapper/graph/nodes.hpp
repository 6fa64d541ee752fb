// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// A state of the search: a node of the state graph.
struct Node {
  std::size_t stage = 0;
  std::size_t residency = 0;
  std::size_t tile = 0;
};

// The node behind the end of a node's stage: the same tile in the next lattice. nullopt: a rule
// forbids to end the stage there.
std::optional<Node> cross(const StateGraph& graph, const Unrolled& unrolled, const Node& node);

// A row: all tiles of one stage and residency.
struct RowId {
  std::size_t stage = 0;
  std::size_t residency = 0;
};

// Where the nodes of each row begin in a flat array.
class NodeIndex {
 public:
  // `tiles`: how many the lattice of each stage has.
  NodeIndex(const StateGraph& graph, std::span<const std::size_t> tiles);
  std::size_t row(std::size_t stage, std::size_t residency) const {
    return rows_[stage * residencies_ + residency];
  }
  std::size_t at(const Node& node) const { return row(node.stage, node.residency) + node.tile; }
  std::size_t size() const { return size_; }
  std::size_t residencies() const { return residencies_; }

 private:
  std::size_t residencies_;
  std::vector<std::size_t> rows_;  // of reachable rows
  std::size_t size_ = 0;
};

}  // namespace mapsim::exact
