// SPDX-License-Identifier: Apache-2.0
#include "plan/front.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "plan/priced.hpp"

namespace mapsim {

namespace {

constexpr double kRounding = 1e-11;  // figures of two sums that differ by no more are equal
constexpr double kTie = 1e-7;        // weight of the other figure where one alone counts

class Envelope {
 public:
  explicit Envelope(const PlanProblem& problem) : problem_{problem} {}

  std::vector<FrontPlan> corners() {
    const std::optional<FrontPlan> any = best({1, 0, 0, {}});
    if (!any) {
      return {};
    }
    // So much of the other figure as a small share of this one is worth, for ties.
    const double rate = any->energy > 0 ? any->latency / any->energy : 0;
    const FrontPlan fastest = *best({1, kTie * rate, 0, {}});
    const FrontPlan cheapest = *best({kTie, rate, 0, {}});
    found_.push_back(fastest);
    if (cheapest.latency > fastest.latency * (1 + kRounding) &&
        cheapest.energy < fastest.energy * (1 - kRounding)) {
      between(fastest, cheapest);
      found_.push_back(cheapest);
    }
    return std::move(found_);
  }

 private:
  std::optional<FrontPlan> best(const Weights& weights) const {
    const auto path = shortest_path(problem_, weights);
    if (!path) {
      return std::nullopt;
    }
    const Load total = plan_of(problem_, path->steps).total;
    return FrontPlan{total.latency, total.energy, path->steps};
  }

  // The corners below the line from one plan to the other.
  void between(const FrontPlan& fast, const FrontPlan& cheap) {
    const Weights weights{fast.energy - cheap.energy, cheap.latency - fast.latency, 0, {}};
    const auto on = [&weights](const FrontPlan& plan) {
      return weights.latency * plan.latency + weights.energy * plan.energy;
    };
    const FrontPlan below = *best(weights);
    if (on(below) >= on(fast) - kRounding * std::abs(on(fast))) {
      return;
    }
    between(fast, below);
    found_.push_back(below);
    between(below, cheap);
  }

  const PlanProblem& problem_;
  std::vector<FrontPlan> found_;
};

}  // namespace

std::vector<FrontPlan> convex_front(const PlanProblem& problem) {
  return Envelope{problem}.corners();
}

}  // namespace mapsim
