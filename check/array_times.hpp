// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/edge_costs.hpp"
#include "check/geometry.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

// When an array is done, if the tensor of an edge that brings it into the array stays there. With
// divisors all folds are alike, so that
// neither the order of the loops nor what else is placed matters. Of several tensors in the array
// the one with which it is done first counts.
class ArrayTimes {
 public:
  // The architecture has such an array; the rest outlives this.
  ArrayTimes(const Graph& graph, const Case& at, const Lattice& tiles, EdgeCosts& edge_costs);
  bool enters(std::size_t edge) const;
  // Cycles of the array, of an edge that enters: [tile].
  const std::vector<double>& cycles(std::size_t edge);

 private:
  const Graph& graph_;
  const Lattice& tiles_;
  EdgeCosts& edge_costs_;
  const ArrayModel& model_;
  ArraySize used_;
  double steps_ = 1;  // cycles of one instance's operations, all folds together
  std::vector<std::vector<double>> cycles_;
};

}  // namespace mapsim::check
