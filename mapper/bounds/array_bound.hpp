// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/graph/array_time.hpp"

namespace mapsim::exact {

// A lower bound, per node, of the cycles of a systolic array on all paths from the node to the end
// (docs/systolic.md): the least ArrayTime over the tensors that can still enter the array. Where no
// tensor has entered, and the nest may end without one, it is ArrayTime::without(). It is infinite
// where no tensor can enter any more, so that the label's own time stays. As in CompletionBound,
// every tile has each capacity to itself.
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
  void keep(const Row& at);
  void sliding_edge(const Row& at, const StateGraph::SlidingEdge& sliding_edge);
  void loop(const Row& at);
  double* row(const Row& at) { return least_.data() + nodes_.row(at.stage, at.residency); }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  ArrayTime& array_;
  const CompletionBound& bound_;
  const NodeIndex& nodes_;
  HeldMemory held_;  // of least_
  std::vector<double> least_;
};

}  // namespace mapsim::exact
