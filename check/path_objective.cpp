// SPDX-License-Identifier: Apache-2.0
#include "check/path_objective.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/timing/model.hpp"

namespace mapsim::check {

PathObjective::PathObjective(const Problem& problem, const Graph& graph, const Goal& goal)
    : graph_{graph},
      goal_{goal},
      leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
      tracked_{goal.needs_time() || leakage_per_cycle_ > 0, goal.needs_time() && goal.ramped},
      times_array_{tracked_.ports && timing_model(problem.arch()).array != nullptr} {}

double PathObjective::cycles_of(double steps) const {
  const Problem& problem = graph_.problem();
  return timing_model(problem.arch())
      .cycles_of_steps(problem, steps * static_cast<double>(problem.arch().compute.issue_interval));
}

// docs/model.md: the compute units with first fills and last drains overlap with ports that hide;
// the busiest port of each storey that does not hide is added.
double PathObjective::ramped_cycles(const double* components, double compute) const {
  double hidden = compute + components[1 + graph_.ports().size()];
  PerLevel<double> shown(graph_.problem().arch().levels.size(), 0.0);
  for (std::size_t q = 0; q < graph_.ports().size(); ++q) {
    const Port& port = graph_.ports()[q];
    const Overlap& overlap = graph_.problem().overlap(port.level);
    double& time = overlap.hides(port.kind) ? hidden : shown[static_cast<LevelId>(overlap.storey)];
    time = std::max(time, std::ceil(components[1 + q] / port.bits_per_cycle));
  }
  double cycles = hidden;
  for (const double time : shown) {
    cycles += time;
  }
  return cycles;
}

Figures PathObjective::of(const double* components, double compute, double bits) const {
  if (!(components[0] < kInfinity) || !(compute < kInfinity)) {
    return {kInfinity, kInfinity};
  }
  double cycles = compute;
  for (std::size_t q = 0; tracked_.ports && q < graph_.ports().size(); ++q) {
    cycles = std::max(cycles, std::ceil(components[1 + q] / graph_.ports()[q].bits_per_cycle));
  }
  const double energy = components[0] + leakage_per_cycle_ * cycles;
  cycles = tracked_.edges ? ramped_cycles(components, compute) : cycles;
  return goal_.figures(energy, cycles, bits);
}

}  // namespace mapsim::check
