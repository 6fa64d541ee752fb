// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/timing/model.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What `whole_tiles` adds to the tensor at a level above the array: with perfect factors all tiles
// of it are as full.
Padding padding_of(const Problem& problem, const Unrolling& unrolling, TensorId tensor,
                   LevelId level);

// The array of the timing model as an unrolling uses it; idle without one.
ArrayUse array_use(const Problem& problem, const Unrolling& unrolling);

// The compute units take no less [cycles], and exactly this where the timing model has no array.
double least_compute_cycles(const StateGraph& graph, const Unrolled& unrolled);

// When an array is done [cycles], by what stays in it: docs/systolic.md. All folds of a
// perfect nest are equal, so it depends on nothing but where that tensor is placed. With several
// tensors in the array the least of their times counts: a label carries the least so far, and of
// two labels with one future the one with the smaller value has the smaller one in the end. An
// array with none takes less than with any.
class ArrayTime {
 public:
  // The timing model has an array. `costs` outlives this.
  ArrayTime(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs);

  // As if nothing stayed, a lower bound of all.
  double without() const { return without_; }
  // Does the edge bring its tensor into the array, and may it stay there?
  bool enters(std::size_t edge) const;
  // May a tensor still enter, and has one?
  bool may_enter(std::size_t residency) const;
  bool has_entered(std::size_t residency) const;
  // If the tensor of an edge that enters stays: [tile]. Does not look at whether the tile fits.
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
