// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/additive.hpp"

#include <algorithm>

#include "mapper/graph/path_objective.hpp"

namespace mapsim::fusion {

bool is_additive(const Objective& objective) {
  const ObjectiveFunction& function = objective.function;
  const bool is_sum = function.is_energy() || function.is_latency() ||
                      function == ObjectiveFunction::weighted_sum(function.value(0, 1));
  return is_sum && !objective.exact_ties && !objective.max_energy && !objective.max_latency &&
         objective.mode == LatencyMode::kSteady;
}

AdditiveObjective::AdditiveObjective(const Problem& any, const Objective& objective)
    : objective_{objective},
      is_timed_{exact::tracked(any, objective).ports},
      leakage_{any.leakage(Cycles{1}).count()},
      ports_{ports_of(any.arch())} {}

double AdditiveObjective::value(const std::vector<double>& components,
                                double compute_cycles) const {
  double cycles = compute_cycles;
  for (std::size_t q = 0; q < ports_.size() && 1 + q < components.size(); ++q) {
    cycles = std::max(cycles, components[1 + q] / ports_[q].bits_per_cycle);
  }
  return value(components.empty() ? 0 : components[0], is_timed_ ? cycles : 0);
}

double AdditiveObjective::least_cycles(const Problem& problem, double operations) const {
  double instances = 1;
  for (const Fanout& fanout : problem.arch().fanouts) {
    instances *= static_cast<double>(fanout.x * fanout.y);
  }
  return operations * static_cast<double>(problem.arch().compute.issue_interval) / instances;
}

double AdditiveObjective::of_operations(const Problem& problem, double operations) const {
  return value(problem.mac_energy().count() * operations,
               is_timed_ ? least_cycles(problem, operations) : 0);
}

}  // namespace mapsim::fusion
