// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "costmodel/problem.hpp"
#include "costmodel/resource_vector.hpp"
#include "mapper/objective.hpp"

namespace mapsim::fusion {

// An objective of a chain that is the sum of the same objective of its einsums: energy, latency, or
// energy + w * latency, without limits, leakage included. Others are searched by way of these
// (chain_hull.hpp).
class AdditiveObjective {
 public:
  // The objective is_additive(); any einsum on the machine.
  AdditiveObjective(const Problem& any, const Objective& objective);

  const Objective& objective() const { return objective_; }
  // Does time play a part? Else costs are energies alone.
  bool is_timed() const { return is_timed_; }
  double value(double picojoules, double cycles) const {
    return objective_.function.value(picojoules + leakage_ * cycles, cycles);
  }
  // Of a resource vector (empty: nothing) if the compute units need so many cycles, which are not
  // rounded.
  double value(const std::vector<double>& components, double compute_cycles) const;
  // Of so many operations of an einsum, at least: their energy, spread over the whole machine.
  double of_operations(const Problem& problem, double operations) const;
  double least_cycles(const Problem& problem, double operations) const;
  const std::vector<Port>& ports() const { return ports_; }
  // None where time plays no part.
  std::span<const Port> charged_ports() const {
    return is_timed_ ? std::span<const Port>(ports_) : std::span<const Port>{};
  }

 private:
  Objective objective_;
  bool is_timed_;
  double leakage_;  // pJ per cycle
  std::vector<Port> ports_;
};

bool is_additive(const Objective& objective);

}  // namespace mapsim::fusion
