// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

// A graph of three to eight operations on one to three engines, with chains and siblings as groups,
// and costs in whole numbers, so that sums are exact. Some groups do not run on some engines, and
// some tensors have no way.
PlanProblem random_plan_problem(std::uint64_t seed);
// The same with few values of energy, so that many plans are equal in it.
PlanProblem coarse_plan_problem(std::uint64_t seed);
Weights random_weights(Rng& rng, std::size_t engines);

// The least value of all plans, by looking at every one; nullopt: there is none.
std::optional<double> best_of_all_plans(const PlanProblem& problem, const Weights& weights);

// What every plan takes: busy time of each engine, bytes, energy.
std::vector<std::vector<double>> loads_of_all_plans(const PlanProblem& problem);

// Latency and energy of every plan, with every source of the tensors that move.
std::vector<std::pair<double, double>> figures_of_all_plans(const PlanProblem& problem);

// What is wrong with the shortest path of a random problem; empty: nothing. `plans`: adds one where
// there is a plan.
std::string compare_with_all_plans(std::uint64_t seed, std::int64_t& plans);

}  // namespace mapsim
