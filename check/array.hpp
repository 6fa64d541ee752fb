// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/geometry.hpp"
#include "check/graph.hpp"
#include "check/tolls.hpp"

namespace mapsim::check {

// When a systolic array is done, if the tensor of a edge that brings it into the array stays
// there; from the sum over folds of docs/systolic.md. With divisors all folds are alike, so that
// neither the order of the loops nor what else is placed matters. Of several tensors in the array
// the one with which it is done first counts.
class ArrayTimes {
 public:
  // The architecture has such an array; the rest outlives this.
  ArrayTimes(const Graph& graph, const Case& at, const Tiles& tiles, EdgeCosts& edge_costs);
  bool enters(std::size_t edge) const;
  // Cycles of the array, of a edge that enters: [tile].
  const std::vector<double>& cycles(std::size_t edge);

 private:
  double time(double folds, double fresh, double elements, bool sums) const;

  const Graph& graph_;
  const Tiles& tiles_;
  EdgeCosts& edge_costs_;
  const SystolicTiming& timing_;
  double rows_ = 1;
  double columns_ = 1;
  double steps_ = 1;  // cycles of one instance's operations, all folds together
  std::vector<std::vector<double>> cycles_;
};

}  // namespace mapsim::check
