// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "check/plan_at_once.hpp"
#include "plan/at_once.hpp"
#include "tests/plan/every_schedule.hpp"
#include "tests/plan/plan_claim.hpp"

namespace mapsim::at_once_proof_test {
namespace {

constexpr double kClose = 1e-9;
constexpr std::size_t kMany = 1'000'000;

// The checker's bound is the time of the fastest of all schedules, where it may look at all, and
// never above it, however few it may look at.
TEST(AtOnceProof, BoundsTheBestOfAllSchedules) {
  int compared = 0, cut = 0, open = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto random = compared_schedules(seed);
    if (!random || random->best == kNever) {
      continue;
    }
    const auto& [problem, engine_of, servers, wanted] = *random;
    const check::PlanClaim claim = claim_of(problem, engine_of, servers);
    const auto found = check::bound_at_once(claim, 2 * wanted + 1, kMany);
    EXPECT_NEAR(found.value, wanted, kClose) << seed;
    EXPECT_FALSE(found.is_open) << seed;
    for (const std::size_t nodes : {0, 1, 5, 20}) {
      const auto some = check::bound_at_once(claim, 2 * wanted + 1, nodes);
      EXPECT_LE(some.value, wanted + kClose) << seed << ' ' << nodes;
      open += some.is_open && some.value < wanted - kClose ? 1 : 0;
    }
    EXPECT_NEAR(check::bound_at_once(claim, wanted, kMany).value, wanted, kClose) << seed;
    ++compared;
    cut += check::segments_of(claim).size() > 1 ? 1 : 0;
  }
  EXPECT_GT(compared, 200);
  EXPECT_GT(cut, 40);
  EXPECT_GT(open, 60);
}

TEST(AtOnceProof, HoldsForSchedulesAndRefusesForgedOnes) {
  int proven = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng{seed};
    const auto& engine_of = kEnginesOf[seed % kEnginesOf.size()];
    const PlanProblem problem = random_graph_problem(rng, engine_of, seed % 3 == 0 ? 6 : 0);
    const auto servers = random_servers(problem, engine_of, rng);
    const AtOnce schedule = schedule_at_once(problem, servers, kMany);
    if (schedule.value == kNever || schedule.value == 0) {
      continue;
    }
    check::PlanClaim claim = claim_of(problem, engine_of, servers);
    add_schedule(schedule, claim);
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    EXPECT_THAT(check::check_plan(claim).verified,
                testing::Contains("no schedule of these groups at these prices is faster"))
        << seed;
    ++proven;
    check::PlanClaim lie = claim;
    lie.at_once->bound = lie.value * 1.001;  // above the schedule
    EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
    lie = claim;
    lie.value *= 0.999;  // a cheaper one than it is
    lie.at_once->bound = lie.value;
    EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
    // A slower schedule that is claimed to be the fastest: the last task of all waits.
    lie = claim;
    auto& tasks = lie.at_once->tasks;
    const auto last = std::find_if(tasks.rbegin(), tasks.rend(), [&](const auto& task) {
      return task.group &&
             std::abs(task.start + lie.groups[*task.group].on[servers[task.server].place]->latency -
                      lie.value) < kClose;
    });
    last->start += 1;
    lie.value += 1;
    lie.at_once->bound = lie.value;
    EXPECT_FALSE(check::check_plan(lie).problems.empty()) << seed;
    // Other tables: it must hold for these, or be refused.
    for (int change = 0; change < 10; ++change) {
      PlanProblem other = problem;
      auto& on = other.choices[rng.below(other.choices.size())].on;
      auto& price = on[rng.below(on.size())];
      if (!price) {
        continue;
      }
      price->latency = price->busy = static_cast<double>(rng.between(0, 20));
      const AtOnce truth = schedule_at_once(other, servers, kMany);
      lie = claim_of(other, engine_of, servers);
      add_schedule(schedule, lie);
      const bool holds = check::check_plan(lie).problems.empty();
      EXPECT_TRUE(!holds || truth.value >= schedule.value - kClose) << seed;
      refused += holds ? 0 : 1;
    }
  }
  EXPECT_GT(proven, 150);
  EXPECT_GT(refused, 200);
}

// Schedules that a search left with a gap: the bound holds, one above the best of all does not.
TEST(AtOnceProof, HoldsForSchedulesWithAGap) {
  int open = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    const PlanProblem problem = random_graph_problem(rng, {0, 1}, 8);
    const auto servers = servers_of({0, 1}, {1, 1});
    const AtOnce all = schedule_at_once(problem, servers, kMany);
    const AtOnce some = schedule_at_once(problem, servers, 16);
    if (some.value == kNever || some.bound > some.value - 0.5) {
      continue;
    }
    check::PlanClaim claim = claim_of(problem, {0, 1}, servers);
    add_schedule(some, claim);
    const check::PlanVerdict verdict = check::check_plan(claim);
    EXPECT_THAT(verdict.problems, testing::IsEmpty()) << seed;
    EXPECT_THAT(verdict.verified, testing::Contains(testing::HasSubstr(" takes less than ")))
        << seed;
    ++open;
    claim.at_once->bound = all.value;
    EXPECT_THAT(check::check_plan(claim).problems, testing::IsEmpty()) << seed;
    if (all.value < some.value) {
      claim.at_once->bound = all.value + 0.5;
      EXPECT_FALSE(check::check_plan(claim).problems.empty()) << seed;
      ++refused;
    }
  }
  EXPECT_GT(open, 30);
  EXPECT_GT(refused, 10);
}

// One operation makes what 70 others read, all on one engine: of so many there are too many
// schedules, and the check says so.
TEST(AtOnceProof, SaysWhatItHasNotVerified) {
  constexpr std::size_t kReaders = 70;
  check::PlanClaim claim;
  claim.objective = "latency";
  claim.weights = {1, 0, 0, {}};
  claim.operations = 1 + kReaders;
  claim.engines = claim.places = 1;
  claim.at_once = check::PlanClaim::AtOnce{{0}, {1}, {}, 0};
  claim.tensors.resize(1);
  for (std::size_t i = 0; i < claim.operations; ++i) {
    std::vector<std::size_t> reads, writes;
    (i == 0 ? writes : reads).push_back(0);
    claim.groups.push_back({{i}, reads, writes, i, {check::PlanPrice{1, 0, 0, 1, 0}}});
    claim.at_once->tasks.push_back({i, 0, 0, 0, 0, static_cast<double>(i)});
    claim.value += 1;
  }
  claim.at_once->bound = claim.value;
  const check::PlanVerdict verdict = check::check_plan(claim);
  EXPECT_THAT(verdict.problems, testing::IsEmpty());
  EXPECT_THAT(verdict.verified, testing::Not(testing::Contains(testing::HasSubstr("is faster"))));
  EXPECT_THAT(verdict.unverified,
              testing::Contains("whether a schedule takes less than 71 s: too many partial "
                                "schedules"));
  claim.at_once->bound = -1;
  EXPECT_TRUE(check::wrong_engines(claim));
}

}  // namespace
}  // namespace mapsim::at_once_proof_test
