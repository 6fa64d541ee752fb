// SPDX-License-Identifier: Apache-2.0
#include "plan/front.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/plan/random_plan.hpp"

namespace mapsim::front_test {
namespace {

// Is a point below the lines between the corners, or left of or below all of them?
bool is_below(const std::vector<FrontPlan>& front, double latency, double energy) {
  constexpr double kClose = 1e-9;
  if (latency < front.front().latency - kClose || energy < front.back().energy - kClose) {
    return true;
  }
  for (std::size_t i = 1; i < front.size(); ++i) {
    const FrontPlan& a = front[i - 1];
    const FrontPlan& b = front[i];
    const double line = (a.energy - b.energy) * latency + (b.latency - a.latency) * energy;
    const double corner = (a.energy - b.energy) * a.latency + (b.latency - a.latency) * a.energy;
    if (line < corner - kClose * (1 + corner)) {
      return true;
    }
  }
  return false;
}

TEST(Front, HasNoPlanBelowIt) {
  int corners = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    const std::vector<FrontPlan> front = convex_front(problem);
    const auto plans = figures_of_all_plans(problem);
    EXPECT_EQ(front.empty(), plans.empty()) << seed;
    for (const auto& [latency, energy] : plans) {
      EXPECT_FALSE(is_below(front, latency, energy)) << seed;
    }
    for (const FrontPlan& plan : front) {
      EXPECT_NE(std::find(plans.begin(), plans.end(), std::pair{plan.latency, plan.energy}),
                plans.end())
          << seed;
    }
    corners += static_cast<int>(front.size());
  }
  EXPECT_GT(corners, 300);
}

}  // namespace
}  // namespace mapsim::front_test
