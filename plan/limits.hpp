// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "plan/shortest_path.hpp"

namespace mapsim {

// The plan of least value among those that keep a limit on another sum.
struct LimitedPlan {
  PlanPath path;
  double value = 0;  // by the weights, without the limit
  double bound = 0;  // none that keeps the limit has less
};

// `excess`: what must not be above `limit`; its latency may count negatively (power: energy less
// the limit's power times latency). Lagrangian relaxation: the path for weights + m x excess bounds
// the value by its own less m x limit, and the multiplier m is halved in between where the limit is
// kept. `most`: the largest m for which no weight is negative. nullopt: no plan was found that
// keeps the limit; `least`: the least excess of all plans.
std::optional<LimitedPlan> limited_path(const PlanProblem& problem, const Weights& weights,
                                        const Weights& excess, double limit, double most,
                                        double& least);

}  // namespace mapsim
