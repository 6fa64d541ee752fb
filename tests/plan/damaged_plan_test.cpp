// SPDX-License-Identifier: Apache-2.0
// Certificates of plans with one number changed are refused, or what they say is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "check/plan_at_once.hpp"
#include "plan/at_once.hpp"
#include "tests/plan/every_schedule.hpp"
#include "tests/plan/plan_claim.hpp"

namespace mapsim::damaged_plan_test {
namespace {

constexpr double kClose = 1e-6;
constexpr std::size_t kMany = 1'000'000;

// When each tensor is at each server, by tasks in any order: what is found in as many rounds as
// there are tasks.
std::vector<std::vector<double>> arrivals_of(const PlanProblem& problem,
                                             const std::vector<Server>& servers,
                                             const std::vector<check::PlanClaim::Task>& tasks) {
  std::vector<std::vector<double>> there(problem.tensors.size(),
                                         std::vector<double>(servers.size(), kNever));
  const auto arrive = [&](std::size_t tensor, std::size_t server, double time) {
    there[tensor][server] = std::min(there[tensor][server], time);
  };
  for (std::size_t round = 0; round <= tasks.size() + servers.size(); ++round) {
    for (const auto& task : tasks) {
      if (task.group) {
        const PlanProblem::Choice& choice = problem.choices[*task.group];
        for (const std::size_t t : choice.writes) {
          arrive(t, task.server, task.start + choice.on[servers[task.server].place]->latency);
        }
      } else if (there[task.tensor][task.from] <= task.start + kClose) {
        const Load* way =
            move_between(problem, task.tensor, servers[task.from], servers[task.server]);
        arrive(task.tensor, task.server, task.start + way->latency);
      }
    }
    for (std::size_t t = 0; t < there.size(); ++t) {
      for (std::size_t m = 0; m < servers.size() * servers.size(); ++m) {
        const std::size_t from = m / servers.size(), to = m % servers.size();
        const Load* way =
            from == to ? nullptr : move_between(problem, t, servers[from], servers[to]);
        if (way != nullptr && !way->engine) {
          arrive(t, to, there[t][from] + way->latency);
        }
      }
    }
  }
  return there;
}

// What is wrong with a schedule; empty: nothing.
std::string fault_of(const check::PlanClaim& claim, const PlanProblem& problem,
                     const std::vector<Server>& servers) {
  const auto& tasks = claim.at_once->tasks;
  const auto there = arrivals_of(problem, servers, tasks);
  std::vector<int> covered(problem.operations, 0);
  struct Busy {
    std::size_t clock;
    double from, to;
  };
  std::vector<Busy> busy;
  double end = 0;
  for (const auto& task : tasks) {
    if (task.group) {
      const PlanProblem::Choice& choice = problem.choices[*task.group];
      for (const std::size_t i : choice.operations) {
        ++covered[i];
      }
      for (const std::size_t t : choice.reads) {
        if (there[t][task.server] > task.start + kClose) {
          return "a tensor comes too late";
        }
      }
      const double time = choice.on[servers[task.server].place]->latency;
      busy.push_back({servers[task.server].clock, task.start, task.start + time});
      end = std::max(end, task.start + time);
    } else {
      const Load* way =
          move_between(problem, task.tensor, servers[task.from], servers[task.server]);
      busy.push_back({task.clock, task.start, task.start + way->busy});
      if (there[task.tensor][task.from] > task.start + kClose) {
        return "a conversion comes too early";
      }
    }
  }
  for (const Busy& a : busy) {
    for (const Busy& b : busy) {
      if (&a != &b && a.clock == b.clock &&
          std::max(a.from, b.from) + kClose < std::min(a.to, b.to)) {
        return "two tasks at a time";
      }
    }
  }
  const bool is_whole =
      std::all_of(covered.begin(), covered.end(), [](int times) { return times == 1; });
  return !is_whole                              ? "an operation runs not once"
         : std::abs(end - claim.value) > kClose ? "it ends at another time"
                                                : "";
}

TEST(DamagedPlan, WithEnginesAtOnceIsRefusedOrTrue) {
  int problems = 0;
  Damaged damaged;
  for (std::uint64_t seed = 1; problems < 12; ++seed) {
    Rng rng{seed};
    const auto& engine_of = kEnginesOf[seed % 2];
    const PlanProblem problem = random_graph_problem(rng, engine_of);
    const std::vector<Server> servers =
        servers_of(engine_of, std::vector<std::int64_t>(problem.engines, 1));
    const AtOnce schedule =
        problem.operations > 3 ? AtOnce{{}, {}, kNever} : schedule_at_once(problem, servers, kMany);
    if (schedule.value == kNever || schedule.value == 0) {
      continue;
    }
    ++problems;
    check::PlanClaim claim = claim_of(problem, engine_of, servers);
    add_schedule(schedule, claim);
    ASSERT_TRUE(check::check_plan(claim).problems.empty()) << seed;
    for_each_accepted_damage(
        claim, damaged,
        [&](const check::PlanClaim& changed, const check::PlanVerdict& /*verdict*/,
            const std::string& what) {
          const PlanProblem other = problem_of(changed);
          const std::vector<std::int64_t> counts(changed.at_once->counts.begin(),
                                                 changed.at_once->counts.end());
          const auto others = servers_of(changed.at_once->engine_of, counts);
          EXPECT_EQ(fault_of(changed, other, others), "") << seed << ' ' << what;
          EXPECT_GE(best_of_all_schedules(other, others), changed.at_once->bound - kClose)
              << seed << ' ' << what;
        });
  }
  EXPECT_GT(damaged.refused, 1000);
  EXPECT_GT(damaged.unreadable, 1000);
  EXPECT_GT(damaged.accepted, 1000);
}

}  // namespace
}  // namespace mapsim::damaged_plan_test
