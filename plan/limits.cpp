// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.hpp"

#include <algorithm>

namespace mapsim {

namespace {

constexpr int kHalvings = 60;

Weights sum(const Weights& a, double m, const Weights& b) {
  return {std::max(0.0, a.latency + m * b.latency), std::max(0.0, a.energy + m * b.energy),
          std::max(0.0, a.bytes + m * b.bytes), a.busy};
}

double total(const PlanProblem& problem, const Weights& weights, std::vector<PlanStep> steps) {
  double value = 0;
  for (const PlanStep& step : steps) {
    value += weights.of(*problem.choices[step.choice].on[step.engine]);
    for (const PlanMove& move : step.moves) {
      value +=
          weights.of(*problem.tensors[move.tensor].moves[move.from * problem.places + move.to]);
    }
  }
  return value;
}

}  // namespace

std::optional<LimitedPlan> limited_path(const PlanProblem& problem, const Weights& weights,
                                        const Weights& excess, double limit, double most,
                                        double& least) {
  std::optional<LimitedPlan> best;
  double bound = 0;
  const auto look = [&](double m) {  // does the path for this multiplier keep the limit?
    const auto path = shortest_path(problem, sum(weights, m, excess));
    if (!path) {
      return true;
    }
    const double over = total(problem, excess, path->steps);
    least = std::min(least, over);
    bound = std::max(bound, path->value - m * limit);
    const double value = total(problem, weights, path->steps);
    if (over <= limit && (!best || value < best->value)) {
      best = LimitedPlan{*path, value, 0};
    }
    return over <= limit;
  };
  if (!look(0)) {
    double low = 0;
    double high = most;
    look(high);
    for (int k = 0; k < kHalvings && best; ++k) {
      const double middle = (low + high) / 2;
      (look(middle) ? high : low) = middle;
    }
  }
  if (best) {
    best->bound = std::min(best->value, bound);
  }
  return best;
}

}  // namespace mapsim
