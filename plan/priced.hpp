// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

// The parts that plans of a frame and of a stream of frames are made from.

// What a tensor takes from one engine to another; nullopt: there is no way.
using MoveLoad =
    std::function<std::optional<Load>(std::size_t tensor, std::size_t from, std::size_t to)>;

// What the search is given: costs of groups on engines, in numbers.
PlanProblem problem_of(const Soc& soc, const Operations& operations, const Groups& groups,
                       const Prices& prices, const MoveLoad& move);
// The same with all engines but one left out.
PlanProblem only_on(PlanProblem problem, std::size_t engine);

// What steps take, one after the other; with their prices if these are given.
Plan plan_of(const PlanProblem& problem, const std::vector<PlanStep>& steps,
             const Prices* prices = nullptr);

// Throws ConfigError about `file` if nothing has a price, or an operation runs on no engine.
void check_engines(const Soc& soc, const Operations& operations, const Groups& groups,
                   const Prices& prices, const std::string& file);
// Throws ConfigError: operations run, but tensors do not get there.
[[noreturn]] void fail_without_plan(const Network& network, const std::string& soc_file);

std::vector<std::string> unpriced_of(const Operations& operations);

}  // namespace mapsim
