// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "costmodel/objective_function.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/resource_vector.hpp"

namespace mapsim::check {

// Is a function a sum over the einsums of a chain, which run one after the other? Energy, latency,
// and energy + w * latency are.
bool is_sum_over_einsums(const ObjectiveFunction& function);

// What the certificate of a chain minimises, as a function of resource vectors. The machine does
// not leak.
class ChainObjective {
 public:
  ChainObjective(const Arch& arch, const ObjectiveFunction& function);

  const ObjectiveFunction& function() const { return function_; }
  bool is_timed() const { return function_.uses_latency(); }
  // The ports whose bits count; none if latency does not.
  std::span<const Port> ports() const { return ports_; }

  // The value of a resource vector (empty: zero) if the compute units take `cycles`. Fractions of
  // cycles are left as they are.
  double value(const std::vector<double>& components, double cycles) const;
  // Of its energy alone.
  double of_energy(const std::vector<double>& components) const {
    return function_.value(components.empty() ? 0 : components[0], 0);
  }
  // A lower bound of the cost of `operations` operations of an einsum: their energy, and their time
  // on the whole machine.
  double of_operations(const Problem& problem, double operations) const;
  double least_cycles(const Problem& problem, double operations) const;
  // A lower bound of an einsum's whole run, of which this is one without the rounding of cycles.
  double of_run(double value) const;
  // The most that rounding to whole cycles adds.
  double rounding() const { return function_.value(0, 1); }

 private:
  ObjectiveFunction function_;
  std::vector<Port> ports_;
};

}  // namespace mapsim::check
