// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "plan/shortest_path.hpp"

namespace mapsim {

// A sum of latency and energy, weights of either sign, of which plans may take no more. Mean power:
// energy less the power times latency is at most 0.
struct PlanLimit {
  Weights of;
  double most = 0;
};

// Whether latency [s] and energy [pJ] keep a limit, but for the rounding of sums: a plan adds up in
// another order than a search does.
bool keeps(const PlanLimit& limit, double latency, double energy);

// The plan of least value among those that keep limits.
struct LimitedPlan {
  std::optional<PlanPath> path{};  // nullopt: none was found
  bool is_impossible = false;      // there is none
  double bound = 0;                // none that keeps the limits has less value
  bool is_tie_open = false;        // the search ended before the ties of the best were examined
  // By limit: for plans that keep them, value + sum of multiplier * (what they take - most) is at
  // most their value; so the least of that sum over all plans is a bound.
  std::vector<double> multipliers{};
};

// Weights and ties of latency and energy alone. Every source of a move is tried, since each may
// be best for one of the figures. Exact, unless `most_labels` partial plans do not suffice, or the
// memory of the problem's searches: then what was found, with a bound. If the graph has more than
// `most_arcs`, only those plans of the convex front that keep the limits are considered.
//
// The frontiers are the nodes of a graph without cycles. Completion bounds of a label: the least
// value from its frontier to the end, the least of each limited resource, and the least sums of
// both with multipliers (Handler and Zang 1980). Labels are taken in the order of their bounds, and
// dropped where another one of the same frontier takes no more of anything.
LimitedPlan limited_path(const PlanProblem& problem, const Weights& weights, const Weights& ties,
                         const std::vector<PlanLimit>& limits, std::size_t most_labels,
                         std::size_t most_arcs);

// The least mean power of all plans: energy over latency (Dinkelbach 1967); nullopt: the graph of
// frontiers has more than `most_arcs`.
std::optional<double> least_power(const PlanProblem& problem, std::size_t most_arcs);

}  // namespace mapsim
