// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "plan/front.hpp"
#include "plan/groups.hpp"
#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "plan/throughput.hpp"
#include "tests/plan/random_plan.hpp"
#include "workloads/network.hpp"

namespace mapsim::plan_memory_test {
namespace {

const Weights kLatency{1, 0, 0, {}};
const Weights kEnergy{0, 1, 0, {}};

PlanProblem with_memory(PlanProblem problem, std::size_t bytes) {
  problem.searches = std::make_shared<PlanSearches>();
  problem.searches->bytes = bytes;
  return problem;
}

// `branches` operations that each make a tensor, all of which the last one reads, so that every
// choice of places of the tensors is a frontier of its own. A tensor takes its number on its own
// place and one more on the other, where moving it takes two.
PlanProblem fan_in(std::size_t branches) {
  PlanProblem problem;
  problem.operations = branches + 1;
  problem.places = problem.engines = 2;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < branches; ++i) {
    const auto load = [i](std::size_t e) {
      const double time = static_cast<double>(i + (i % 2 == e ? 1 : 2));
      return std::optional{Load{time, 0, 0, e, time}};
    };
    const Load move{2, 0, 0, 0, 2};
    problem.tensors.push_back({{branches}, {Load{}, move, move, Load{}}, {}});
    problem.choices.push_back({{i}, i, {}, {i}, {load(0), load(1)}});
    all.push_back(i);
  }
  problem.choices.push_back({{branches}, branches, all, {}, {Load{5, 0, 0, 0, 5}, std::nullopt}});
  return problem;
}

double best_of_fan_in(std::size_t branches) {  // all on the first place
  double sum = 5;
  for (std::size_t i = 0; i < branches; ++i) {
    sum += static_cast<double>(i + (i % 2 == 0 ? 1 : 2));
  }
  return sum;
}

// With whatever memory, the bound is at most the best of all plans, and the plan one of them.
TEST(PlanMemory, LeavesATrueGapOfRandomProblems) {
  int exact = 0;
  int open = 0;
  int none = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng{seed};
    const PlanProblem problem =
        with_memory(random_plan_problem(seed), static_cast<std::size_t>(rng.between(1, 4000)));
    const Weights weights = random_weights(rng, problem.places);
    const auto wanted = best_of_all_plans(problem, weights);
    try {
      const auto path = shortest_path(problem, weights);
      ASSERT_EQ(path.has_value(), wanted.has_value()) << seed;
      if (!path) {
        continue;
      }
      const bool is_short = problem.searches->ended_early > 0;
      EXPECT_LE(path->bound, *wanted) << seed;
      EXPECT_GE(path->value, *wanted) << seed;
      std::vector<PlanStep> steps = path->steps;
      EXPECT_EQ(walk(problem, weights, steps), path->value) << seed;
      if (!is_short || path->bound == path->value) {
        EXPECT_EQ(path->value, *wanted) << seed;
      }
      (path->value > path->bound ? open : exact) += 1;
    } catch (const NoPlanInBudget&) {
      EXPECT_GT(problem.searches->ended_early, 0) << seed;
      ++none;
    }
  }
  EXPECT_GT(exact, 50);
  EXPECT_GT(open, 50);
  EXPECT_GT(none, 0);
}

// 2^24 frontiers would take more than 3 GB.
TEST(PlanMemory, IsKeptByAWideNetwork) {
  constexpr std::size_t kMebibyte = 1 << 20;
  for (const std::size_t branches : {8U, 24U}) {
    const PlanProblem problem = with_memory(fan_in(branches), kMebibyte);
    const double best = best_of_fan_in(branches);
    const auto path = shortest_path(problem, kLatency);
    ASSERT_TRUE(path);
    EXPECT_LE(problem.searches->peak_bytes, kMebibyte);
    EXPECT_LE(path->bound, best);
    EXPECT_GE(path->value, best);
    EXPECT_LE(path->value, 1.1 * best);
    EXPECT_EQ(problem.searches->ended_early > 0, branches == 24U);
    EXPECT_EQ(path->is_tie_open, branches == 24U);
    EXPECT_EQ(path->bound < path->value || path->is_tie_open, branches == 24U);
  }
}

// Without time, a beam of frontiers leads to a plan, and what left it is in the bound.
TEST(PlanTime, LeavesATrueGapOfRandomProblems) {
  int early = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng{seed};
    PlanProblem problem = random_plan_problem(seed);
    problem.searches = std::make_shared<PlanSearches>();
    problem.searches->last = PlanSearches::end_in(0);
    const Weights weights = random_weights(rng, problem.places);
    const auto wanted = best_of_all_plans(problem, weights);
    try {
      const auto path = shortest_path(problem, weights);
      ASSERT_EQ(path.has_value(), wanted.has_value()) << seed;
      if (path) {
        EXPECT_LE(path->bound, *wanted) << seed;
        EXPECT_GE(path->value, *wanted) << seed;
      }
    } catch (const NoPlanInBudget&) {
    }
    early += problem.searches->ended_early > 0 ? 1 : 0;
  }
  EXPECT_GT(early, 10);
}

// 2^60 frontiers have no end.
TEST(PlanTime, IsKeptByAWideNetwork) {
  for (const bool is_limited : {false, true}) {
    PlanProblem problem = fan_in(60);
    problem.searches = std::make_shared<PlanSearches>();
    problem.searches->last = PlanSearches::end_in(0.02);
    const double best = best_of_fan_in(60);
    if (is_limited) {
      const PlanLimit limit{kLatency, 2 * best};
      const LimitedPlan found =
          limited_path(problem, kLatency, kEnergy, {limit}, 1'000'000, 1'000'000'000);
      ASSERT_TRUE(found.path);
      EXPECT_LE(found.bound, best);
      EXPECT_GE(found.path->value, best);
    } else {
      const auto path = shortest_path(problem, kLatency);
      ASSERT_TRUE(path);
      EXPECT_LE(path->bound, best);
      EXPECT_GE(path->value, best);
      EXPECT_LE(path->value, 1.1 * best);
      EXPECT_TRUE(path->is_tie_open);
    }
    EXPECT_GT(problem.searches->ended_early, 0);
  }
}

// A plan that keeps limits is found without the graph of all frontiers, with a bound.
TEST(PlanMemory, LeavesATrueGapUnderLimits) {
  int coarse = 0;
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng{seed};
    const auto plans = figures_of_all_plans(random_plan_problem(seed));
    if (plans.empty()) {
      continue;
    }
    const PlanLimit limit{kLatency, plans[rng.below(plans.size())].first};
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [latency, energy] : plans) {
      best = latency <= limit.most ? std::min(best, energy) : best;
    }
    const PlanProblem problem =
        with_memory(random_plan_problem(seed), static_cast<std::size_t>(rng.between(1500, 60000)));
    try {
      const LimitedPlan found = limited_path(problem, kEnergy, kLatency, {limit}, 1000, 100000);
      EXPECT_FALSE(found.is_impossible) << seed;
      EXPECT_LE(found.bound, best) << seed;
      const bool is_short = problem.searches->ended_early > 0;
      coarse += is_short ? 1 : 0;
      if (!found.path) {
        EXPECT_TRUE(is_short) << seed;
        continue;
      }
      const Load total = plan_of(problem, found.path->steps).total;
      EXPECT_LE(total.latency, limit.most) << seed;
      EXPECT_EQ(total.energy, found.path->value) << seed;
      EXPECT_GE(found.path->value, best) << seed;
      if (!is_short) {
        EXPECT_EQ(found.path->value, best) << seed;
      }
      open += found.path->value > found.bound ? 1 : 0;
    } catch (const NoPlanInBudget&) {
      ++coarse;
    }
  }
  EXPECT_GT(coarse, 50);
  EXPECT_GT(open, 10);
}

// Of siblings every run is a group, more than there is memory for; single operations always are.
TEST(PlanMemory, LeavesOutGroups) {
  std::string text =
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 8, 6, 6]}}\ngraph:\n";
  constexpr std::size_t kSiblings = 30;
  for (std::size_t i = 0; i < kSiblings; ++i) {
    text += "  - {name: c" + std::to_string(i) + ", conv2d: {out_channels: 8, kernel: 1}, in: x}\n";
  }
  const Network network = parse_network(text, "n.yaml");
  const Operations operations = operations_of(*network.graph);
  const Groups all = groups_of(operations, Fusion::kElision);
  EXPECT_FALSE(all.is_cut);
  EXPECT_EQ(all.all.size(), kSiblings + kSiblings * (kSiblings - 1) / 2);
  const Groups some = groups_of(operations, Fusion::kElision, {100'000, 1'000});
  EXPECT_TRUE(some.is_cut);
  EXPECT_GT(some.all.size(), kSiblings + 5);
  EXPECT_LT(some.all.size(), kSiblings + 100);
  const Groups none = groups_of(operations, Fusion::kElision, {0, 0});
  EXPECT_EQ(none.all.size(), kSiblings);
}

// A stream's rate and bound, beside those with enough memory.
TEST(PlanMemory, LeavesATrueGapOfAStream) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    std::vector<double> capacities(problem.places + 2, 50);
    capacities.front() = 20;
    const StreamMix wanted = best_mix(problem, capacities);
    const StreamMix found = best_mix(with_memory(problem, 1500), capacities);
    if (wanted.plans.empty() || found.plans.empty()) {
      continue;
    }
    EXPECT_LE(found.rate, wanted.rate * (1 + 1e-7)) << seed;
    EXPECT_GE(found.bound, wanted.rate * (1 - 1e-7)) << seed;
    open += found.bound > found.rate * (1 + 1e-7) ? 1 : 0;
  }
  EXPECT_GT(open, 10);
}

TEST(PlanMemory, IsGivenUpOnceAskedTo) {
  const std::atomic<bool> stop{true};
  PlanProblem problem = with_memory(fan_in(4), 1 << 20);
  problem.searches->stop = &stop;
  EXPECT_THROW(shortest_path(problem, kLatency), PlanStopped);
}

}  // namespace
}  // namespace mapsim::plan_memory_test
