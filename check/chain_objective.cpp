// SPDX-License-Identifier: Apache-2.0
#include "check/chain_objective.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim::check {

bool is_sum_over_einsums(const ObjectiveFunction& function) {
  return function.is_energy() || function.is_latency() ||
         function == ObjectiveFunction::weighted_sum(function.value(0, 1));
}

ChainObjective::ChainObjective(const Arch& arch, const ObjectiveFunction& function)
    : function_{function} {
  if (is_timed()) {
    ports_ = ports_of(arch);
  }
}

double ChainObjective::value(const std::vector<double>& components, double cycles) const {
  for (std::size_t q = 0; q < ports_.size() && 1 + q < components.size(); ++q) {
    cycles = std::max(cycles, components[1 + q] / ports_[q].bits_per_cycle);
  }
  return function_.value(components.empty() ? 0 : components[0], cycles);
}

double ChainObjective::least_cycles(const Problem& problem, double operations) const {
  double instances = 1;
  for (const Fanout& fanout : problem.arch().fanouts) {
    instances *= static_cast<double>(fanout.x * fanout.y);
  }
  return operations * static_cast<double>(problem.arch().compute.issue_interval) / instances;
}

double ChainObjective::of_operations(const Problem& problem, double operations) const {
  return value({problem.mac_energy().count() * operations}, least_cycles(problem, operations));
}

double ChainObjective::of_run(double value) const {
  constexpr double kNoise = 1e-12;  // relative error of a sum of products of whole numbers
  return function_.is_latency() ? std::ceil(value * (1 - kNoise)) : value;
}

}  // namespace mapsim::check
