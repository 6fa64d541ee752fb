// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "check/arcs.hpp"
#include "check/goal.hpp"

namespace mapsim::check {

// What the tiles of a label take of the capacities that several tensors share, and of the capacity
// of a curve: one value per such capacity in the label, from the `first` on, in bits.
class CapacityUse {
 public:
  CapacityUse(const Graph& graph, const Goal& goal, std::size_t first);
  std::size_t end() const { return end_; }  // behind the last value
  // Adds the tile that an edge leads to. False: it does not fit with the others.
  bool add(std::size_t edge, double bits, std::vector<double>& values) const;
  // Adds what the outermost level holds, every tensor whole. False: they do not fit.
  bool add_outermost(std::size_t residency, std::vector<double>& values) const;
  // Bits of the curve's capacity that the tiles take, all copies together.
  double capacity_for(const std::vector<double>& values) const;
  // A capacity counts no longer once nothing more can come into it.
  void leave(std::size_t residency, Direction direction, std::vector<double>& values) const;

 private:
  const Graph& graph_;
  std::vector<std::optional<std::size_t>> slots_;  // per capacity: where in a label
  std::optional<std::size_t> measured_;            // the capacity of a curve
  std::size_t end_;
};

}  // namespace mapsim::check
