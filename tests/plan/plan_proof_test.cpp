// SPDX-License-Identifier: Apache-2.0
#include "check/plan_proof.hpp"

#include <gmock/gmock.h>

#include <tuple>

#include "plan/limits.hpp"
#include "plan/priced.hpp"
#include "plan/throughput.hpp"
#include "tests/plan/random_plan.hpp"

namespace mapsim {
namespace {

constexpr std::size_t kLabels = 1'000'000;

check::PlanPrice price_of(const Load& load) {
  return {load.latency, load.energy, load.bytes, load.busy, load.engine};
}

std::vector<std::optional<check::PlanPrice>> prices_of(
    const std::vector<std::optional<Load>>& loads) {
  std::vector<std::optional<check::PlanPrice>> prices;
  for (const auto& load : loads) {
    prices.push_back(load ? std::optional{price_of(*load)} : std::nullopt);
  }
  return prices;
}

check::PlanClaim claim_of(const PlanProblem& problem) {
  check::PlanClaim claim;
  claim.operations = problem.operations;
  claim.engines = problem.engines;
  claim.places = problem.places;
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    claim.tensors.push_back({tensor.readers, prices_of(tensor.moves)});
  }
  for (const PlanProblem::Choice& choice : problem.choices) {
    claim.groups.push_back(
        {choice.operations, choice.reads, choice.writes, choice.anchor, prices_of(choice.on)});
  }
  return claim;
}

check::PlanChoices choices_of(const std::vector<PlanStep>& steps) {
  check::PlanChoices choices;
  for (const PlanStep& step : steps) {
    choices.emplace_back(step.choice, step.engine);
  }
  return choices;
}

// The search that found the plan goes forward, the checker's backward.
TEST(PlanProof, HoldsForPathsAndRefutesOthers) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    Rng rng{seed};
    const Weights weights = random_weights(rng, problem.engines);
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {weights.latency, weights.energy, weights.bytes, weights.busy};
    std::size_t labels = 0;
    const auto path = shortest_path(problem, weights);
    const auto least = check::least_plan(claim, claim.weights, {}, kLabels, labels);
    ASSERT_EQ(path.has_value(), least.has_value()) << seed;
    if (!path) {
      continue;
    }
    EXPECT_EQ(least->first, path->value) << seed;
    claim.plan = choices_of(path->steps);
    claim.value = path->value;
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    ++compared;
    claim.value += 1;
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
    claim.value -= 1;
    claim.plan.pop_back();
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
  }
  EXPECT_GT(compared, 300);
}

TEST(PlanProof, HoldsForMixesByTheirDuals) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    std::vector<double> rooms(problem.engines + 2, 50);
    const StreamMix mix = best_mix(problem, rooms);
    if (mix.plans.empty() || !(mix.rate < 1e6)) {
      continue;
    }
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {1, 0, 0, {}};
    claim.rooms = rooms;
    claim.duals = mix.duals;
    claim.value = mix.rate;
    for (const auto& [rate, steps] : mix.plans) {
      claim.mix.emplace_back(rate, choices_of(steps));
    }
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    ++compared;
    claim.rooms.front() *= 2;  // more is possible than is claimed, and the duals say so
    for (double& dual : claim.duals) {
      dual /= 2;
    }
    claim.value = mix.rate * 2;
    EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
  }
  EXPECT_GT(compared, 50);
}

// Of plans with as little energy the fastest one.
TEST(PlanProof, RefutesPlansThatLoseATie) {
  int refuted = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = coarse_plan_problem(seed);
    check::PlanClaim claim = claim_of(problem);
    claim.weights = {0, 1, 0, {}};
    claim.ties = {1, 0, 0, {}};
    const auto path = shortest_path(problem, {0, 1, 0, {}}, {1, 0, 0, {}});
    if (!path) {
      continue;
    }
    claim.plan = choices_of(path->steps);
    claim.value = path->value;
    claim.tie = path->tie;
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    const auto other = shortest_path(problem, {0, 1, 0, {}});
    const Load total = plan_of(problem, other->steps).total;
    if (total.latency > path->tie) {
      claim.plan = choices_of(other->steps);
      claim.tie = total.latency;
      EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
      ++refuted;
    }
  }
  EXPECT_GT(refuted, 30);
}

// Limits on latency, power or both, between what two plans take; then plans that are worse, break
// the limit, or have been found under a tighter one.
TEST(PlanProof, HoldsForPlansUnderLimitsAndRefutesOthers) {
  const Weights latency{1, 0, 0, {}};
  const Weights energy{0, 1, 0, {}};
  int compared = 0;
  int worse = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    const auto fast = shortest_path(problem, latency, energy);
    const auto cheap = shortest_path(problem, energy, latency);
    if (!fast || fast->tie == cheap->value || fast->value == 0) {
      continue;
    }
    const double power = (fast->tie / fast->value + cheap->value / cheap->tie) / 2;
    const PlanLimit by_power{{-power, 1, 0, {}}, 0};
    const PlanLimit by_time{latency, (fast->value + cheap->tie) / 2};
    for (const auto& [weights, ties, limits] :
         {std::tuple{latency, energy, std::vector{by_power}},
          {energy, latency, std::vector{by_time}},
          {energy, latency, std::vector{by_time, by_power}}}) {
      const LimitedPlan found = limited_path(problem, weights, ties, limits, kLabels, kLabels);
      if (!found.path) {
        continue;
      }
      const auto claimed = [&](const LimitedPlan& plan) {
        check::PlanClaim claim = claim_of(problem);
        claim.weights = {weights.latency, weights.energy, 0, {}};
        claim.ties = {ties.latency, ties.energy, 0, {}};
        claim.value = plan.path->value;
        claim.tie = plan.path->tie;
        claim.plan = choices_of(plan.path->steps);
        for (const PlanStep& step : plan.path->steps) {
          claim.moves.emplace_back();
          for (const PlanMove& move : step.moves) {
            claim.moves.back().emplace_back(move.tensor, move.from);
          }
        }
        for (std::size_t k = 0; k < limits.size(); ++k) {
          claim.limits.push_back({{limits[k].of.latency, limits[k].of.energy, 0, {}},
                                  limits[k].most,
                                  found.multipliers[k]});
        }
        return claim;
      };
      check::PlanClaim claim = claimed(found);
      EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
      ++compared;
      for (check::PlanLimit& limit : claim.limits) {
        limit.multiplier = 0;  // any multiplier is good for a proof
      }
      EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
      claim.value += 1;
      EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
      // The best plan without limits breaks one, if it is another.
      const LimitedPlan free = limited_path(problem, weights, ties, {}, kLabels, kLabels);
      if (free.path->value < found.path->value) {
        EXPECT_FALSE(check::check_plan(claimed(free)).problems.empty()) << seed;
      }
      // The best one under a tighter limit is worse.
      std::vector<PlanLimit> tighter = limits;
      tighter.front().most -= 1;
      const LimitedPlan other = limited_path(problem, weights, ties, tighter, kLabels, kLabels);
      if (other.path && other.path->value > found.path->value) {
        EXPECT_FALSE(check::check_plan(claimed(other)).problems.empty()) << seed;
        ++worse;
      }
    }
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(worse, 15);
}

TEST(PlanProof, FindsTensorsThatShareBytes) {
  check::PlanClaim claim = claim_of(random_plan_problem(1));
  claim.buffers = {{8, 0, 0, 2}, {8, 8, 1, 3}, {8, 0, 3, 4}};
  claim.peak = 16;
  claim.alive = 16;
  const auto shares = [](const check::PlanClaim& each) {
    const auto verdict = check::check_plan(each);
    return std::count(verdict.problems.begin(), verdict.problems.end(),
                      "two tensors that are alive at once share bytes");
  };
  EXPECT_EQ(shares(claim), 0);
  claim.buffers[1].offset = 4;
  EXPECT_EQ(shares(claim), 2);  // with the one in front and the one behind
}

}  // namespace
}  // namespace mapsim
