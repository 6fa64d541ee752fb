// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/array_times.hpp"
#include "check/edge_costs.hpp"
#include "check/price.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// A node of the walk: a stage, the residency of the tensors, and the tile.
struct Node {
  std::size_t stage = 0;
  std::size_t residency = 0;
  std::size_t tile = 0;
};

// The least that the rest of any walk costs that a label at a node is a part of, per component, if
// every tile only has to fit its capacity alone: a dynamic program along the graph. Perfect
// factors: from a start to the node, since labels walk outwards there. Imperfect ones: from the
// node to the end. Admissible: with imperfect factors the tables of edge costs are bounds
// themselves, and loops are taken to lead to any smaller extent.
class CompletionBound {
 public:
  // `array`: of which the times are asked for, or none. Told to stop it leaves rows out, and says
  // nothing. All else outlives this.
  CompletionBound(const Graph& graph, EdgeCosts& costs, ArrayTimes* array, Stop stop = {});
  double at(const Node& node, std::size_t component) const {
    return rest_[component][rows_[node.stage * graph_.residencies() + node.residency] + node.tile];
  }
  // The least time of a systolic array that any of the walks enters with there; infinite: none
  // enters.
  double array_at(const Node& node) const { return array_ == nullptr ? 0 : at(node, components_); }
  std::int64_t states() const { return states_; }
  // Figures that no whole walk is better than, of each residency in which walks start or end.
  // `steps`: of the compute units, at least.
  std::vector<Figures> of_whole_walks(const Price& price, double steps) const;

  // Doubles that it takes for each tile.
  static std::size_t width(const Graph& graph, Tracked tracked);

 private:
  void fill(std::size_t stage, std::size_t residency);
  void begin(std::size_t stage, std::size_t residency);
  void loops(std::size_t component, std::size_t stage, std::size_t residency, bool stays);
  void arrive(std::size_t component, std::size_t stage, std::size_t residency);
  void take_steps(DimId dim, const std::vector<Lattice::Loop>& steps, const double* source,
                  double* target) const;
  void cross(std::size_t component, std::size_t stage, std::size_t from, std::size_t residency);
  void move(std::size_t component, std::size_t stage, std::size_t residency,
            const Graph::Move& each);
  void slide(std::size_t component, std::size_t stage, std::size_t residency,
             const Graph::SlidingEdge& slide);
  void slide_in(std::size_t stage, std::size_t residency, const Graph::SlidingEdge& slide);
  void take_runs(std::size_t component, std::size_t stage, const Graph::SlidingEdge& slide,
                 const double* source, double* target);
  double* row_of(std::size_t component, std::size_t stage, std::size_t residency) {
    return &rest_[component][rows_[stage * graph_.residencies() + residency]];
  }

  const Graph& graph_;
  EdgeCosts& costs_;
  const Lattice& lattice_;
  ArrayTimes* array_;
  bool from_outside_;
  std::size_t components_;
  std::vector<std::size_t> rows_;          // of those alive
  std::vector<std::vector<double>> rest_;  // per component; then times of the array
  std::int64_t states_ = 0;
};

}  // namespace mapsim::check
