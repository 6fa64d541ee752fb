// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/valuation.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim::exact {

Tracked tracked(const Problem& problem, const Objective& objective) {
  const bool timed = asks_for_latency(objective);
  return {timed || problem.leakage(mapsim::Cycles{1}) > Picojoules{0},
          timed && objective.mode == LatencyMode::kRamped};
}

Valuation::Valuation(const Skeleton& skeleton, const Objective& objective, double compute_cycles)
    : ports_{skeleton.ports()},
      objective_{objective},
      tracked_{tracked(skeleton.problem(), objective)},
      compute_cycles_{compute_cycles},
      leakage_per_cycle_{skeleton.problem().leakage(mapsim::Cycles{1}).count()} {
  for (const Port& port : ports_) {
    hides_.push_back(skeleton.problem().arch().levels[port.level].hides());
  }
}

// As latency_into() has it. The ports of a level are neighbours.
Valuation::Cycles Valuation::cycles(const double* components, double compute_cycles) const {
  double steady = compute_cycles;
  double hidden = compute_cycles;
  double shown = 0;        // of the levels before this one
  double level_shown = 0;  // of this one
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    const double time = std::ceil(components[1 + q] / ports_[q].bits_per_cycle);
    steady = std::max(steady, time);
    if (q > 0 && ports_[q].level != ports_[q - 1].level) {
      shown += level_shown;
      level_shown = 0;
    }
    double& part = hides_[q] ? hidden : level_shown;
    part = std::max(part, time);
  }
  const double edges = tracked_.edges ? components[1 + ports_.size()] : 0;
  return {steady, hidden + shown + level_shown + edges};
}

Key Valuation::key(const double* components, double compute_cycles) const {
  double energy = components[0];
  if (!(energy < kInfinity)) {
    return {};
  }
  if (!tracked_.ports) {
    const bool allowed =
        !objective_.max_energy || energy <= objective_.max_energy->count() * (1 + kRounding);
    return allowed ? Key{objective_value(objective_, energy, 1), 0} : Key{};
  }
  const Cycles taken = cycles(components, compute_cycles);
  const double latency = objective_.mode == LatencyMode::kSteady ? taken.steady : taken.ramped;
  energy += leakage_per_cycle_ * taken.steady;
  if ((objective_.max_energy && energy > objective_.max_energy->count() * (1 + kRounding)) ||
      (objective_.max_latency && latency > static_cast<double>(objective_.max_latency->count()))) {
    return {};
  }
  return {objective_value(objective_, energy, latency),
          objective_.latency_power == 0 ? latency : energy};
}

}  // namespace mapsim::exact
