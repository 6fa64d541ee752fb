// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// A node of the search graph.
struct Node {
  std::size_t phase = 0;
  std::size_t pointers = 0;
  std::size_t tile = 0;
};

// The node behind the event that ends a node's phase: the same tile, as the next lattice knows it.
// nullopt: the phase must not end there.
std::optional<Node> cross(const Skeleton& skeleton, const Unrolled& unrolled, const Node& node);

struct RowId {
  std::size_t phase = 0;
  std::size_t pointers = 0;
};

// Where the nodes of each (phase, pointers) begin in a flat array.
class NodeIndex {
 public:
  NodeIndex(const Skeleton& skeleton, const Unrolled& unrolled);
  std::size_t row(std::size_t phase, std::size_t pointers) const {
    return rows_[phase * pointers_ + pointers];
  }
  std::size_t at(const Node& node) const { return row(node.phase, node.pointers) + node.tile; }
  std::size_t size() const { return size_; }
  std::size_t pointers() const { return pointers_; }

 private:
  std::size_t pointers_;
  std::vector<std::size_t> rows_;  // of reachable ones
  std::size_t size_ = 0;
};

}  // namespace mapsim::exact
