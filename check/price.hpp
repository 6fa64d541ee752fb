// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/goal.hpp"
#include "check/graph.hpp"

namespace mapsim::check {

// The goal's figures of a resource vector: energy, bits through each port, first and last
// transfers.
class Price {
 public:
  Price(const Problem& problem, const Graph& graph, const Goal& goal);
  Tracked tracked() const { return tracked_; }
  // Does the time depend on what stays in a systolic array?
  bool times_array() const { return times_array_; }
  // Cycles of the compute units for so many steps.
  double cycles_of(double steps) const;
  // `compute`: cycles of the compute units or of a systolic array. `bits`: capacity that the tiles
  // in the curve's capacity ask for.
  Figures of(const double* components, double compute, double bits) const;

 private:
  double ramped_cycles(const double* components, double compute) const;

  const Graph& graph_;
  const Goal& goal_;
  double leakage_per_cycle_;  // pJ
  Tracked tracked_;
  bool times_array_;
};

}  // namespace mapsim::check
