// SPDX-License-Identifier: Apache-2.0
#include "check/path_objective.hpp"

#include <algorithm>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

PathObjective::PathObjective(const Problem& problem, const Graph& graph, const Goal& goal)
    : graph_{graph},
      goal_{goal},
      leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
      tracked_{goal.needs_time() || leakage_per_cycle_ > 0, goal.needs_time() && goal.ramped},
      times_array_{tracked_.ports && timing_model(problem.arch()).array != nullptr},
      charged_(1 + graph.ports().size(), 0.0) {
  const BranchEntry& entry = graph.entry();
  if (entry.run.entries > 0) {
    constexpr double kNoise = 1e-12;
    entries_ = entry.run.entries;
    noise_ = kNoise;
    std::copy(entry.run.charged.begin(), entry.run.charged.end(), charged_.begin());
  } else {
    is_of_mean_entry_ = entry.is_of_branch();
  }
}

double PathObjective::whole(double cycles) const {
  return is_of_mean_entry_ ? cycles : ceil_of_sum(cycles * (1 - noise_));
}

double PathObjective::cycles_of(double steps) const {
  const Problem& problem = graph_.problem();
  return timing_model(problem.arch())
      .cycles_of_steps(problem, steps * static_cast<double>(problem.arch().compute.issue_interval));
}

Figures PathObjective::of(const double* components, double compute, double capacity_bits) const {
  if (!(components[0] < kInfinity) || !(compute < kInfinity)) {
    return {kInfinity, kInfinity};
  }
  compute = noise_ > 0 ? whole(compute * entries_) : compute;
  double steady = compute;
  RampedLatency ramped{compute + (tracked_.edges ? components[1 + graph_.ports().size()] : 0)};
  for (std::size_t q = 0; tracked_.ports && q < graph_.ports().size(); ++q) {
    const Port& port = graph_.ports()[q];
    const double bits = charged_[1 + q] + entries_ * components[1 + q];
    const double time = whole(bits / port.bits_per_cycle);
    steady = std::max(steady, time);
    ramped.add(graph_.problem().overlap(port.level), port.kind, time);
  }
  const double energy = charged_[0] + entries_ * components[0] + leakage_per_cycle_ * steady;
  return goal_.figures(energy, tracked_.edges ? ramped.total() : steady, capacity_bits);
}

}  // namespace mapsim::check
