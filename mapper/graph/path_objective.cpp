// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/path_objective.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mapsim::exact {

ObjectiveKey without_noise(const ObjectiveKey& key) {
  const auto rounded = [](double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x3FF});
  };
  return {rounded(key.first), rounded(key.second)};
}

Tracked tracked(const Problem& problem, const Objective& objective) {
  const bool timed = asks_for_latency(objective);
  return {timed || problem.leakage(mapsim::Cycles{1}) > Picojoules{0},
          timed && objective.mode == LatencyMode::kRamped};
}

PathObjective::PathObjective(const StateGraph& graph, const Objective& objective,
                             double compute_cycles)
    : ports_{graph.ports()},
      objective_{objective},
      tracked_{tracked(graph.problem(), objective)},
      compute_cycles_{compute_cycles},
      leakage_per_cycle_{graph.problem().leakage(mapsim::Cycles{1}).count()} {
  if (const BranchEntry& entry = graph.space().entry(); entry.run.entries > 0) {
    constexpr double kNoise = 1e-12;
    entries_ = entry.run.entries;
    charged_ = entry.run.charged;
    noise_ = kNoise;
  } else {
    is_entry_ = entry.is_of_branch();
  }
  charged_.resize(1 + ports_.size());
  for (const Port& port : ports_) {
    const Overlap& overlap = graph.problem().overlap(port.level);
    hides_.push_back(overlap.hides(port.kind));
    storeys_.push_back(overlap.storey);
  }
}

double PathObjective::whole(double cycles) const {
  return is_entry_ ? cycles : std::ceil(cycles * (1 - noise_));
}

// The rule of latency_into(). Ports of one storey are adjacent.
PathObjective::Cycles PathObjective::cycles(const double* components, double compute_cycles) const {
  const double computing = noise_ > 0 ? whole(compute_cycles * entries_) : compute_cycles;
  double steady = computing;
  double hidden = computing + (tracked_.edges ? components[1 + ports_.size()] : 0);
  double shown = 0;         // of the storeys before this one
  double storey_shown = 0;  // of this one
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    const double time = whole(component(components, 1 + q) / ports_[q].bits_per_cycle);
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

PathObjective::Figures PathObjective::figures(const double* components,
                                              double compute_cycles) const {
  Figures figures{component(components, 0)};
  if (tracked_.ports && figures.energy < kInfinity) {
    const Cycles taken = cycles(components, compute_cycles);
    figures.energy += leakage_per_cycle_ * taken.steady;
    figures.latency = objective_.mode == LatencyMode::kSteady ? taken.steady : taken.ramped;
  }
  return figures;
}

ObjectiveKey PathObjective::key(const Figures& figures) const {
  const double most_energy =
      objective_.max_energy ? objective_.max_energy->count() * (1 + kRounding) : kInfinity;
  const double most_cycles =
      objective_.max_latency ? static_cast<double>(objective_.max_latency->count()) : kInfinity;
  if (!(figures.energy < kInfinity) || figures.energy > most_energy ||
      figures.latency > most_cycles) {
    return {};
  }
  ObjectiveKey key{objective_.function.value(figures.energy, figures.latency), 0};
  if (tracked_.ports) {
    key.second = second_figure(objective_, figures.energy, figures.latency);
  }
  return key;
}

}  // namespace mapsim::exact
