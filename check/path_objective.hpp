// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "check/goal.hpp"
#include "check/graph.hpp"

namespace mapsim::check {

// The goal's figures as a function of a resource vector: energy, bits through each port, cycles of
// first fills and last drains.
class PathObjective {
 public:
  PathObjective(const Problem& problem, const Graph& graph, const Goal& goal);
  Tracked tracked() const { return tracked_; }
  // Does the time depend on the tensor that stays in a systolic array?
  bool times_array() const { return times_array_; }
  // The time of the compute units for this number of steps [cycles].
  double cycles_of(double steps) const;
  // `compute`: cycles of the compute units or of a systolic array. `capacity_bits`: use of the
  // curve's capacity. In a branch of a fused mapping all are of the mean entry; the figures are,
  // too, in fractions of cycles, or they are those of the run (BranchEntry::Run).
  Figures of(const double* components, double compute, double capacity_bits) const;

 private:
  double whole(double cycles) const;

  const Graph& graph_;
  const Goal& goal_;
  double leakage_per_cycle_;  // pJ
  Tracked tracked_;
  bool times_array_;
  double entries_ = 1;           // over which the figures sum
  std::vector<double> charged_;  // costs of the run besides the entries
  double noise_ = 0;             // relative error of what is to be whole
  bool is_of_mean_entry_ = false;
};

}  // namespace mapsim::check
