// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What `whole_tiles` adds to the tensor at a level above the array: with perfect factors all tiles
// of it are as full.
Padding padding_of(const Problem& problem, const Unrolling& unrolling, TensorId tensor,
                   LevelId level);

// When a systolic array is done [cycles], by what stays in it: docs/systolic.md. All folds of a
// perfect nest are equal, so it depends on nothing but where that tensor is placed. With several
// tensors in the array the least of their times counts: a label carries the least so far, which
// only falls, and an array with none takes less than with any.
class ArrayTime {
 public:
  // The timing model is a systolic one. `costs` outlives this.
  ArrayTime(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs);

  // As if nothing stayed, a lower bound of all.
  double without() const { return without_; }
  // Does the edge bring its tensor into the array, and may it stay there?
  bool enters(std::size_t edge) const;
  // May a tensor still enter, and has one?
  bool may_enter(std::size_t residency) const;
  bool has_entered(std::size_t residency) const;
  // If the tensor of a edge that enters stays: [tile]. Does not look at whether the tile fits.
  const std::vector<double>& cycles(std::size_t edge);

 private:
  double time(double folds, double tiles, double elements, bool sums) const;

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  EdgeCosts& costs_;
  const SystolicTiming& timing_;
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
  std::int64_t steps_ = 1;  // of the first instance, at the issue interval
  double without_ = 0;
  std::vector<std::vector<double>> cycles_;  // by edge
};

// No mapping of the unrolling has a systolic array done sooner [cycles], whatever its tiles;
// `bounds` are the temporal ones, rounded up; where they were, folds may leave a `remainder`.
double least_array_cycles(const Problem& problem, const UnrollingClass& unrolling_class,
                          const PerDim<std::int64_t>& bounds, TensorSet may_stay,
                          bool remainder = false);

}  // namespace mapsim::exact
