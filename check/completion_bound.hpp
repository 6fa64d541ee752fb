// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check/array_times.hpp"
#include "check/edge_costs.hpp"
#include "check/path_objective.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// A node of the state graph: a stage, the residency of the tensors, and the tile.
struct Node {
  std::size_t stage = 0;
  std::size_t residency = 0;
  std::size_t tile = 0;
};

// The completion bound: per component, the least cost of the part of a path that a label at the
// node has not walked yet. A dynamic program along the graph computes it.
//
// - Relaxation: each tile must fit each capacity alone.
// - Direction: with perfect factors the part from a start to the node, since labels walk outwards;
//   with imperfect factors the part from the node to the end.
// - It is admissible. Every path that a label can take is a path of the dynamic program. Edges cost
//   no more there: with imperfect factors their tables hold lower bounds, and a loop leads to any
//   smaller extent. Each component is minimised by itself.
class CompletionBound {
 public:
  // `array`: null if times of a systolic array do not count. If `stop` is set, rows are left out,
  // and the object must not be used. All other arguments outlive it.
  CompletionBound(const Graph& graph, EdgeCosts& costs, ArrayTimes* array, Stop stop = {});
  double at(const Node& node, std::size_t component) const {
    return rest_[component][rows_[node.stage * graph_.residencies() + node.residency] + node.tile];
  }
  // A lower bound of the time of the systolic array [cycles] over these paths; infinite: no tensor
  // enters the array on them.
  double array_at(const Node& node) const { return array_ == nullptr ? 0 : at(node, components_); }
  std::int64_t states() const { return states_; }
  // Lower bounds of the figures of all whole paths, one per residency in which labels end. `steps`:
  // a lower bound of the steps of the compute units.
  std::vector<Figures> of_whole_walks(const PathObjective& objective, double steps) const;

  // How many doubles a tile takes.
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
  std::vector<std::size_t> rows_;          // where the rows of live residencies begin
  std::vector<std::vector<double>> rest_;  // per component; then the times of the array
  std::int64_t states_ = 0;
};

}  // namespace mapsim::check
