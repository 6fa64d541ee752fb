// SPDX-License-Identifier: Apache-2.0
#include "plan/front.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "plan/priced.hpp"

namespace mapsim {

namespace {

constexpr double kRounding = 1e-11;  // figures of two sums that differ by no more are equal

class Envelope {
 public:
  explicit Envelope(const PlanProblem& problem) : problem_{problem} {}

  std::vector<FrontPlan> corners() {
    const std::optional<FrontPlan> fast = best({1, 0, 0, {}}, {0, 1, 0, {}});
    if (!fast) {
      return {};
    }
    const FrontPlan fastest = *fast;
    const FrontPlan cheapest = *best({0, 1, 0, {}}, {1, 0, 0, {}});
    found_.push_back(fastest);
    if (cheapest.latency > fastest.latency * (1 + kRounding) &&
        cheapest.energy < fastest.energy * (1 - kRounding)) {
      between(fastest, cheapest);
      found_.push_back(cheapest);
    }
    return std::move(found_);
  }

 private:
  std::optional<FrontPlan> best(const Weights& weights, const Weights& ties = {}) const {
    const auto path = shortest_path(problem_, weights, ties);
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
    if (below.latency <= fast.latency || below.energy <= cheap.energy) {
      return;  // a search that was short of memory missed it before
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
