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
  const bool ramped = objective.mode == LatencyMode::kRamped;
  for (const Port& port : ports_) {
    const Overlap& overlap = skeleton.problem().overlap(port.level);
    hides_.push_back(overlap.hides(port.kind));
    storeys_.push_back(overlap.storey);
    groups_.push_back(ramped && !hides_.back() ? 1 + overlap.storey : 0);
  }
}

// As latency_into() has it. The ports of a storey are neighbours.
Valuation::Cycles Valuation::cycles(const double* components, double compute_cycles) const {
  double steady = compute_cycles;
  double hidden = compute_cycles + (tracked_.edges ? components[1 + ports_.size()] : 0);
  double shown = 0;         // of the storeys before this one
  double storey_shown = 0;  // of this one
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    const double time = std::ceil(components[1 + q] / ports_[q].bits_per_cycle);
    steady = std::max(steady, time);
    if (q > 0 && storeys_[q] != storeys_[q - 1]) {
      shown += storey_shown;
      storey_shown = 0;
    }
    double& part = hides_[q] ? hidden : storey_shown;
    part = std::max(part, time);
  }
  return {steady, hidden + shown + storey_shown};
}

Outlook Valuation::outlook(const double* components, double compute_cycles) const {
  Outlook outlook{components[0], 1};
  if (tracked_.ports && outlook.energy < kInfinity) {
    const Cycles taken = cycles(components, compute_cycles);
    outlook.energy += leakage_per_cycle_ * taken.steady;
    outlook.latency = objective_.mode == LatencyMode::kSteady ? taken.steady : taken.ramped;
  }
  return outlook;
}

Valuation::Least Valuation::least(const Outlook& outlook) const {
  Outlook within = outlook;
  const double most_energy =
      objective_.max_energy ? objective_.max_energy->count() * (1 + kRounding) : kInfinity;
  const double most_cycles =
      objective_.max_latency ? static_cast<double>(objective_.max_latency->count()) : kInfinity;
  for (const Line& line : outlook.lines) {
    within.latency = std::max(within.latency, (line.energy - most_energy) / line.slope);
    within.energy = std::max(within.energy, line.energy - line.slope * most_cycles);
  }
  Least least;
  if (!(within.energy < kInfinity) || within.energy > most_energy || within.latency > most_cycles) {
    return least;
  }
  for_each_corner(within, [&](const Corner& corner) {
    Key key{objective_.function.value(corner.energy, corner.latency), 0};
    if (tracked_.ports) {
      key.second = second_figure(objective_, corner.energy, corner.latency);
    }
    if (key < least.key) {
      least = {key, corner};
    }
  });
  return least;
}

Key Valuation::key(const Outlook& outlook) const { return least(outlook).key; }
Corner Valuation::corner(const Outlook& outlook) const { return least(outlook).corner; }

}  // namespace mapsim::exact
