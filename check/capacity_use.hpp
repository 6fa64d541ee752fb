// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "check/arcs.hpp"
#include "check/goal.hpp"

namespace mapsim::check {

// The use of capacities in a label's values [b]: one value, from index `first` on, per capacity
// that several tensors share, and one for the capacity of a curve.
class CapacityUse {
 public:
  CapacityUse(const Graph& graph, const Goal& goal, std::size_t first);
  std::size_t end() const { return end_; }  // index behind the last value
  // Adds the tile of an edge. Returns false if it does not fit with the others.
  bool add(std::size_t edge, double bits, std::vector<double>& values) const;
  // Adds what the outermost level holds, every tensor whole. Returns false if it does not fit.
  bool add_outermost(std::size_t residency, std::vector<double>& values) const;
  // The use of the curve's capacity, over all copies of the level [b].
  double capacity_for(const std::vector<double>& values) const;
  // Sets the use of each capacity to 0 that no tensor can enter any more.
  void leave(std::size_t residency, Direction direction, std::vector<double>& values) const;

 private:
  const Graph& graph_;
  std::vector<std::optional<std::size_t>> slots_;  // per capacity: index in a label's values
  std::optional<std::size_t> measured_;            // the capacity of a curve
  std::size_t end_;
};

}  // namespace mapsim::check
