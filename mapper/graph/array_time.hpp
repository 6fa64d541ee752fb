// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/timing/model.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// How `whole_tiles` (docs/systolic.md) pads the tiles of the tensor at a level above the array.
// With perfect factors all tiles of a tensor at a level have one size, so this does not depend on
// the tile.
Padding padding_of(const Problem& problem, const Unrolling& unrolling, TensorId tensor,
                   LevelId level);

// How the unrolling uses the array of the timing model; idle_array() if the unrolling leaves it
// unused.
ArrayUse array_use(const Problem& problem, const Unrolling& unrolling);

// A lower bound of the time of the compute units [cycles]. It is exact if the timing model has no
// array.
double least_compute_cycles(const StateGraph& graph, const Unrolled& unrolled);

// The time at which a systolic array is done [cycles] (docs/systolic.md).
//
// All folds of a perfect nest are equal, so this time depends only on which tensor stays in the
// array and on the tile with which it enters. If several tensors are in the array, the least of
// their times counts. So a label carries the least time so far: of two labels with the same
// continuation, the one with the smaller value ends with the smaller or an equal one. The time
// without any tensor in the array is no more than the time with any.
class ArrayTime {
 public:
  // Requires a timing model with an array. `costs` outlives this.
  ArrayTime(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs);

  // The time if no tensor stayed in the array: a lower bound of all others.
  double without() const { return without_; }
  // Does the edge keep its tensor inside the array, its last keep being outside, and may the tensor
  // stay?
  bool enters(std::size_t edge) const;
  // May some tensor still enter the array from this residency? Is some tensor in it?
  bool may_enter(std::size_t residency) const;
  bool has_entered(std::size_t residency) const;
  // Cycles if the tensor of an edge that enters() stays: [tile]. Tiles that do not fit have values,
  // too.
  const std::vector<double>& cycles(std::size_t edge);

 private:
  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  const ArrayModel& model_;
  ArraySize used_;
  double steps_ = 1;  // cycles of the first instance, at the issue interval
  double without_ = 0;
  std::vector<std::vector<double>> cycles_;  // by edge
};

}  // namespace mapsim::exact
