// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "costmodel/problem.hpp"
#include "costmodel/resource_vector.hpp"
#include "mapper/objective.hpp"

namespace mapsim::fusion {

// An additive objective: its value for a chain is the sum of its values for the chain's einsums.
// These are energy, latency and energy + w * latency, including leakage, without limits. Other
// objectives are reduced to these (chain_hull.hpp).
class AdditiveObjective {
 public:
  // `any`: any einsum on the machine. The objective is_additive().
  AdditiveObjective(const Problem& any, const Objective& objective);

  const Objective& objective() const { return objective_; }
  // Does latency matter? Otherwise costs are energies.
  bool is_timed() const { return is_timed_; }
  double value(double picojoules, double cycles) const {
    return objective_.function.value(picojoules + leakage_ * cycles, cycles);
  }
  // The value of a resource vector (empty: zero), if the compute units take `compute_cycles`.
  // Cycles are not rounded.
  double value(const std::vector<double>& components, double compute_cycles) const;
  // A lower bound of the value of `operations` operations of an einsum: their energy, and their
  // time on the whole machine.
  double of_operations(const Problem& problem, double operations) const;
  double least_cycles(const Problem& problem, double operations) const;
  const std::vector<Port>& ports() const { return ports_; }
  // None if latency does not matter.
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
