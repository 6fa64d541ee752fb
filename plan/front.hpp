// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "plan/shortest_path.hpp"

namespace mapsim {

// A plan that is best for some exchange rate between latency and energy.
struct FrontPlan {
  double latency = 0;  // [s]
  double energy = 0;   // [pJ]
  std::vector<PlanStep> steps;
};

// The corners of the lower convex envelope of all plans, fastest first (Aneja and Nair 1979): no
// plan lies below the lines between them. Empty: there is no plan.
std::vector<FrontPlan> convex_front(const PlanProblem& problem);

}  // namespace mapsim
