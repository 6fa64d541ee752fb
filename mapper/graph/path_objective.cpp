// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/path_objective.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "costmodel/boundary_cost.hpp"

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
    overlaps_.push_back(graph.problem().overlap(port.level));
  }
}

double PathObjective::whole(double cycles) const {
  return is_entry_ ? cycles : ceil_of_sum(cycles * (1 - noise_));
}

// The rule of latency_into().
PathObjective::Cycles PathObjective::cycles(const double* components, double compute_cycles) const {
  const double computing = noise_ > 0 ? whole(compute_cycles * entries_) : compute_cycles;
  double steady = computing;
  RampedLatency ramped{computing + (tracked_.edges ? components[1 + ports_.size()] : 0)};
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    const double time = whole(component(components, 1 + q) / ports_[q].bits_per_cycle);
    steady = std::max(steady, time);
    ramped.add(overlaps_[q], ports_[q].kind, time);
  }
  return {steady, ramped.total()};
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
  if (!(figures.energy < kInfinity) ||
      !is_within_limits(objective_, figures.energy, figures.latency)) {
    return {};
  }
  ObjectiveKey key{objective_.function.value(figures.energy, figures.latency), 0};
  if (tracked_.ports) {
    key.second = second_figure(objective_, figures.energy, figures.latency);
  }
  return key;
}

}  // namespace mapsim::exact
