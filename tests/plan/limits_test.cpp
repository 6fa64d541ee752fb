// SPDX-License-Identifier: Apache-2.0
#include "plan/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/priced.hpp"
#include "tests/plan/random_plan.hpp"

namespace mapsim::limits_test {
namespace {

constexpr std::size_t kEnough = 1'000'000;
const Weights kLatency{1, 0, 0, {}};
const Weights kEnergy{0, 1, 0, {}};

Load load_of(const std::pair<double, double>& figures) {
  return {figures.first, figures.second, 0, {}, 0};
}

// The least value of all plans that keep limits, and of those the least tie. Figures are whole
// numbers; a limit on power is a ratio, which is rounded.
std::optional<Value> best_of(const std::vector<std::pair<double, double>>& plans,
                             const Weights& weights, const Weights& ties,
                             const std::vector<PlanLimit>& limits) {
  std::optional<Value> best;
  for (const auto& figures : plans) {
    const Load load = load_of(figures);
    const Value value{weights.of(load), ties.of(load)};
    const bool fits = std::all_of(limits.begin(), limits.end(), [&](const PlanLimit& limit) {
      return limit.of.of(load) <= limit.most + 1e-9;
    });
    if (fits && (!best || value < *best)) {
      best = value;
    }
  }
  return best;
}

TEST(ShortestPath, BreaksTiesByTheOtherFigure) {
  int slower = 0;  // without
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = coarse_plan_problem(seed);
    const auto path = shortest_path(problem, kEnergy, kLatency);
    const auto wanted = best_of(figures_of_all_plans(problem), kEnergy, kLatency, {});
    ASSERT_EQ(path.has_value(), wanted.has_value()) << seed;
    if (!path) {
      continue;
    }
    EXPECT_EQ(path->value, wanted->first) << seed;
    EXPECT_EQ(path->tie, wanted->second) << seed;
    const Load total = plan_of(problem, path->steps).total;
    EXPECT_EQ(total.energy, path->value) << seed;
    EXPECT_EQ(total.latency, path->tie) << seed;
    const Load other = plan_of(problem, shortest_path(problem, kEnergy)->steps).total;
    slower += other.latency > total.latency ? 1 : 0;
  }
  EXPECT_GT(slower, 30);
}

// Limits at random between what plans take, one or both; the energy or the latency is least.
TEST(Limits, LeaveTheBestOfAllPlansOfRandomProblems) {
  int found = 0;
  int impossible = 0;
  int gaps = 0;  // where no multiplier proves the best plan
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem =
        seed % 2 == 0 ? random_plan_problem(seed) : coarse_plan_problem(seed);
    const auto plans = figures_of_all_plans(problem);
    if (plans.empty()) {
      continue;
    }
    Rng rng{seed};
    const auto some = [&] { return plans[rng.below(plans.size())]; };
    const PlanLimit latency{kLatency, some().first - static_cast<double>(rng.below(2))};
    const auto [time, energy] = some();
    const PlanLimit power{{time > 0 ? -energy / time : -1, 1, 0, {}}, 0};
    for (const auto& limits : {std::vector{latency}, {power}, {latency, power}}) {
      for (const auto& [weights, ties] : {std::pair{kEnergy, kLatency}, {kLatency, kEnergy}}) {
        const auto wanted = best_of(plans, weights, ties, limits);
        const LimitedPlan limited = limited_path(problem, weights, ties, limits, kEnough, kEnough);
        ASSERT_EQ(limited.path.has_value(), wanted.has_value()) << seed;
        EXPECT_EQ(limited.is_impossible, !wanted) << seed;
        if (!wanted) {
          ++impossible;
          continue;
        }
        ++found;
        EXPECT_EQ(limited.path->value, wanted->first) << seed;
        EXPECT_EQ(limited.path->tie, wanted->second) << seed;
        EXPECT_EQ(limited.bound, wanted->first) << seed;
        const Load total = plan_of(problem, limited.path->steps).total;
        EXPECT_EQ(weights.of(total), wanted->first) << seed;
        EXPECT_EQ(ties.of(total), wanted->second) << seed;
        Weights sum = weights;
        double constant = 0;
        for (std::size_t k = 0; k < limits.size(); ++k) {
          EXPECT_GE(limited.multipliers[k], 0);
          sum.latency += limited.multipliers[k] * limits[k].of.latency;
          sum.energy += limited.multipliers[k] * limits[k].of.energy;
          constant -= limited.multipliers[k] * limits[k].most;
        }
        double bound = wanted->first + 1;
        for (const auto& figures : plans) {
          bound = std::min(bound, sum.of(load_of(figures)) + constant);
        }
        EXPECT_LE(bound, wanted->first + 1e-9) << seed;
        gaps += bound < wanted->first - 1e-9 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(impossible, 20);
  EXPECT_GT(gaps, 100);
}

// Where labels do not suffice, no plan has less than the bound.
TEST(Limits, BoundWhatTheyCouldNotSearch) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    const auto plans = figures_of_all_plans(problem);
    if (plans.empty()) {
      continue;
    }
    Rng rng{seed};
    const auto [time, energy] = plans[rng.below(plans.size())];
    const std::vector<PlanLimit> power{{{time > 0 ? -energy / time : -1, 1, 0, {}}, 0}};
    const LimitedPlan limited = limited_path(problem, kLatency, kEnergy, power, 2, kEnough);
    const auto wanted = best_of(plans, kLatency, kEnergy, power);
    if (limited.is_impossible || !wanted) {
      EXPECT_TRUE(!wanted) << seed;
      continue;
    }
    EXPECT_LE(limited.bound, wanted->first + 1e-9) << seed;
    const LimitedPlan none = limited_path(problem, kLatency, kEnergy, power, kEnough, 0);
    EXPECT_FALSE(none.is_impossible) << seed;
    EXPECT_LE(none.bound, wanted->first) << seed;
    EXPECT_TRUE(!none.path || none.path->value >= wanted->first - 1e-9) << seed;
    EXPECT_TRUE(!limited.path || limited.path->value >= wanted->first) << seed;
    open += limited.bound < wanted->first ? 1 : 0;
  }
  EXPECT_GT(open, 10);
}

TEST(Limits, KnowTheLeastPower) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    double least = std::numeric_limits<double>::infinity();
    const auto plans = figures_of_all_plans(problem);
    for (const auto& [latency, energy] : plans) {
      least = latency > 0 ? std::min(least, energy / latency) : least;
    }
    if (!plans.empty()) {
      EXPECT_DOUBLE_EQ(*least_power(problem, kEnough), least) << seed;
    }
  }
}

}  // namespace
}  // namespace mapsim::limits_test
