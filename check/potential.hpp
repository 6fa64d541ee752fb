// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/array.hpp"
#include "check/goal.hpp"
#include "check/tolls.hpp"

namespace mapsim::check {

// The goal's figures of what has been paid: energy, bits through each port, first and last
// transfers.
class Price {
 public:
  // `steps`: of the compute units.
  Price(const Problem& problem, const Graph& graph, const Goal& goal, double steps);
  Tracked tracked() const { return tracked_; }
  // Does the time depend on what stays in a systolic array?
  bool times_array() const { return times_array_; }
  // `bits`: in the room of a curve. `array`: cycles of a systolic array, if they are asked for.
  Figures of(const double* components, double bits, double array) const;

 private:
  double ramped_cycles(const double* components, double compute) const;

  const Graph& graph_;
  const Goal& goal_;
  double compute_cycles_;
  double leakage_per_cycle_;  // pJ
  Tracked tracked_;
  bool times_array_;
};

// A node of the walk: a stage, where the tensors stand, and the tile.
struct Node {
  std::size_t stage = 0;
  std::size_t residency = 0;
  std::size_t tile = 0;
};

// The least that any walk has paid when it comes to a node, if every tile only has to fit its room
// alone: from the outside in, per component.
class CompletionBound {
 public:
  // `array`: of which the times are asked for, or none.
  CompletionBound(const Graph& graph, const Case& at, const Tiles& tiles, EdgeCosts& edge_costs,
                  ArrayTimes* array);
  double at(const Node& node, std::size_t component) const {
    return least_[component][rows_[node.stage * graph_.residencies() + node.residency] + node.tile];
  }
  // The least time of a systolic array that any of them leaves; infinite: nothing is in it.
  double array_at(const Node& node) const {
    return sooner_.empty()
               ? 0
               : sooner_[rows_[node.stage * graph_.residencies() + node.residency] + node.tile];
  }
  // Does a walk that crosses the event after `stage` do so at this tile?
  bool may_cross(std::size_t stage, std::size_t tile) const;
  std::int64_t states() const { return states_; }
  // Is every walk of the case one that the frontier covers?
  bool is_covered(EdgeCosts& edge_costs, const Price& price, const Frontier& frontier) const;

 private:
  void fill(std::size_t stage, std::size_t residency, EdgeCosts& edge_costs, std::size_t component);
  void arrive_by_slide(std::size_t stage, const Graph::Slide& slide, EdgeCosts& edge_costs,
                       std::size_t component, double* row) const;
  void arrive_by_loop(std::size_t stage, const Graph::Loop& loop, const double* from,
                      double* row) const;
  void fill_array(std::size_t stage, std::size_t residency, EdgeCosts& edge_costs,
                  ArrayTimes& array);
  void enter_by_slide(std::size_t stage, const Graph::Slide& slide, EdgeCosts& edge_costs,
                      ArrayTimes& array, double* row) const;
  const double* row_of(std::size_t component, std::size_t stage, std::size_t residency) const {
    return &least_[component][rows_[stage * graph_.residencies() + residency]];
  }

  const Graph& graph_;
  const Case& at_;
  const Tiles& tiles_;
  std::vector<std::size_t> rows_;  // of those alive
  std::vector<std::vector<double>> least_;
  std::vector<double> sooner_;  // times of a systolic array
  std::int64_t states_ = 0;
};

}  // namespace mapsim::check
