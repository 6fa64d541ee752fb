// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/edge_costs.hpp"
#include "check/geometry.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

// The time of a systolic array [cycles], if the tensor of an edge that enters the array stays
// there. With divisors all folds are alike, so the time does not depend on the order of loops or on
// other tensors. If several tensors are in the array, the least of their times counts.
class ArrayTimes {
 public:
  // Requires an architecture with such an array. All arguments outlive the object.
  ArrayTimes(const Graph& graph, const BlockedUnrolling& at, const Lattice& tiles,
             EdgeCosts& edge_costs);
  bool enters(std::size_t edge) const;
  // Cycles of the array for an edge that enters(): [tile]; infinite where the tile does not fit.
  const std::vector<double>& cycles(std::size_t edge);

 private:
  const Graph& graph_;
  const Lattice& tiles_;
  EdgeCosts& edge_costs_;
  const ArrayModel& model_;
  ArraySize used_;
  double steps_ = 1;  // cycles of one instance for all its operations
  std::vector<std::vector<double>> cycles_;
};

}  // namespace mapsim::check
