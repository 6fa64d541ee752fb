// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/graph/array_time.hpp"

namespace mapsim::exact {

// Per node, the least time of a tensor that can still enter the array; `without` where none has
// entered and the nest may end like that; infinite where nothing can change any more. As in
// CompletionBound every tile has each capacity to itself.
class ArrayBound {
 public:
  ArrayBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs, ArrayTime& array,
             const CompletionBound& bound);
  double at(const Node& node) const { return least_[nodes_.at(node)]; }

 private:
  struct Row {
    std::size_t stage = 0;
    std::size_t residency = 0;
  };
  void fill(const Row& at);
  void end(const Row& at);
  void cross(const Row& at);
  void place(const Row& at);
  void sliding_edge(const Row& at, const StateGraph::SlidingEdge& sliding_edge);
  void loop(const Row& at);
  double* row(const Row& at) { return least_.data() + nodes_.row(at.stage, at.residency); }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  ArrayTime& array_;
  const CompletionBound& bound_;
  const NodeIndex& nodes_;
  std::vector<double> least_;
};

}  // namespace mapsim::exact
