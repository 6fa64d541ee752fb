// SPDX-License-Identifier: Apache-2.0
#include "plan/at_once.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "core/rng.hpp"
#include "tests/plan/every_schedule.hpp"

namespace mapsim::at_once_test {
namespace {

constexpr double kClose = 1e-9;
constexpr std::size_t kMany = 1'000'000;

// Nothing runs before what it reads is there, and no clock does two things at a time.
void expect_possible(const PlanProblem& problem, const AtOnce& schedule, std::uint64_t seed) {
  std::map<std::size_t, std::vector<std::pair<double, double>>> by_clock;
  for (const Task& task : schedule.tasks) {
    if (task.choice) {
      const Server& server = schedule.servers[task.server];
      const Load& load = *problem.choices[*task.choice].on[server.place];
      EXPECT_NEAR(task.finish - task.start, load.latency, kClose) << seed;
      if (load.latency > 0) {
        by_clock[server.clock].emplace_back(task.start, task.finish);
      }
    } else {
      const std::size_t m =
          schedule.servers[task.from].place * problem.places + schedule.servers[task.server].place;
      by_clock[task.clock].emplace_back(task.start,
                                        task.start + problem.tensors[task.tensor].moves[m]->busy);
    }
  }
  for (auto& [clock, times] : by_clock) {
    std::sort(times.begin(), times.end());
    for (std::size_t k = 1; k < times.size(); ++k) {
      EXPECT_LE(times[k - 1].second, times[k].first + kClose) << seed;
    }
  }
}

TEST(AtOnce, IsAsFastAsTheBestOfAllSchedules) {
  int compared = 0;
  int cut = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto random = compared_schedules(seed);
    if (!random) {
      continue;
    }
    const auto& [problem, engine_of, servers, wanted] = *random;
    const AtOnce found = schedule_at_once(problem, servers, kMany);
    ASSERT_EQ(found.value < kNever, wanted < kNever) << seed;
    if (found.value < kNever) {
      EXPECT_NEAR(found.value, wanted, kClose) << seed;
      EXPECT_NEAR(found.bound, wanted, kClose) << seed;
      expect_possible(problem, found, seed);
      ++compared;
      cut += found.blocks > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(cut, 30);
}

std::optional<Load> taking(double time, std::size_t engine) {
  return Load{time, 0, 0, engine, time};
}

// Each operation by itself: what it reads, and its time at each place.
PlanProblem problem_of(const std::vector<std::vector<std::size_t>>& reads,
                       const std::vector<std::vector<std::optional<Load>>>& on) {
  PlanProblem problem;
  problem.operations = reads.size();
  problem.places = on.front().size();
  problem.tensors.resize(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    for (const std::size_t tensor : reads[i]) {
      problem.tensors[tensor].readers.push_back(i);
    }
    problem.choices.push_back({{i}, i, reads[i], {i}, on[i]});
    problem.tensors[i].moves.resize(problem.places * problem.places);
  }
  return problem;
}

// Two copies of an engine with two formats: one that holds a tensor in the one format is not the
// same as its twin for groups of the other.
TEST(AtOnce, TellsCopiesApartByAllOfTheirFormats) {
  PlanProblem problem = problem_of({{}, {}, {1}, {2}, {2}, {0, 3}}, {{{}, taking(3, 0), {}},
                                                                     {{}, {}, taking(4, 1)},
                                                                     {{}, {}, taking(1, 1)},
                                                                     {{}, {}, taking(2, 1)},
                                                                     {taking(12, 0), {}, {}},
                                                                     {{}, taking(10, 0), {}}});
  problem.engines = 2;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.moves[2] = tensor.moves[6] = tensor.moves[7] = Load{};
  }
  const auto servers = servers_of({0, 0, 1}, {2, 1});
  EXPECT_EQ(best_of_all_schedules(problem, servers), 17);
  EXPECT_EQ(schedule_at_once(problem, servers, kMany).value, 17);
}

// A third engine that is there twice converts on the copy that is free.
TEST(AtOnce, ConvertsOnAnyCopyOfAThirdEngine) {
  PlanProblem problem = problem_of({{}, {}, {1}, {0, 2}}, {{{}, {}, taking(13, 2)},
                                                           {taking(1, 0), {}, {}},
                                                           {{}, taking(8, 1), {}},
                                                           {{}, {}, taking(1, 2)}});
  problem.engines = 3;
  for (PlanProblem::Tensor& tensor : problem.tensors) {
    tensor.moves[1] = Load{3, 0, 0, 2, 2};
    tensor.moves[5] = Load{1, 0, 0, {}, 0};
  }
  const auto servers = servers_of({0, 1, 2}, {1, 1, 2});
  EXPECT_EQ(best_of_all_schedules(problem, servers), 14);
  EXPECT_EQ(schedule_at_once(problem, servers, kMany).value, 14);
}

// Only what is faster than a known plan is looked for, and nothing is claimed of the rest.
TEST(AtOnce, IsFasterThanAKnownPlanOrProvesThatNothingIs) {
  int faster = 0, known_best = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng{seed};
    const auto& engine_of = kEnginesOf[seed % kEnginesOf.size()];
    const PlanProblem problem = random_graph_problem(rng, engine_of);
    const auto servers = random_servers(problem, engine_of, rng);
    const double wanted = schedule_at_once(problem, servers, kMany).value;
    if (wanted == kNever) {
      continue;
    }
    const double known = wanted * (0.7 + 0.05 * static_cast<double>(rng.below(12)));
    const AtOnce found = schedule_at_once(problem, servers, kMany, known);
    EXPECT_NEAR(std::min(found.value, known), std::min(wanted, known), kClose) << seed;
    EXPECT_NEAR(found.bound, std::min(wanted, known), kClose) << seed;
    EXPECT_EQ(found.tasks.empty(), found.value == kNever) << seed;
    (found.value < known ? faster : known_best) += 1;
  }
  EXPECT_GT(faster, 30);
  EXPECT_GT(known_best, 30);
}

// Stopped early, the value is that of a schedule and the bound is none's.
TEST(AtOnce, BoundsWhatItHasNotLookedAt) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    const PlanProblem problem = random_graph_problem(rng, {0, 1}, 8);
    const auto servers = servers_of({0, 1}, {1, 1});
    const AtOnce all = schedule_at_once(problem, servers, kMany);
    const AtOnce some = schedule_at_once(problem, servers, 16);
    EXPECT_GE(some.value, all.value - kClose) << seed;
    EXPECT_LE(some.bound, all.value + kClose) << seed;
    open += some.bound < all.value - kClose ? 1 : 0;
  }
  EXPECT_GT(open, 20);
}

TEST(AtOnce, BoundsWhatItHasNoMemoryFor) {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    PlanProblem problem = random_graph_problem(rng, {0, 1}, 8);
    const auto servers = servers_of({0, 1}, {1, 1});
    const AtOnce all = schedule_at_once(problem, servers, kMany);
    problem.searches = std::make_shared<PlanSearches>();
    problem.searches->bytes = 1000;
    const AtOnce some = schedule_at_once(problem, servers, kMany);
    ASSERT_EQ(all.value < kNever, some.value < kNever);
    if (all.value < kNever) {
      EXPECT_GE(some.value, all.value - kClose) << seed;
      EXPECT_LE(some.bound, all.value + kClose) << seed;
      open += some.bound < all.value - kClose ? 1 : 0;
      EXPECT_TRUE(problem.searches->ended_early > 0 || some.bound >= some.value - kClose) << seed;
    }
  }
  EXPECT_GT(open, 20);
}

}  // namespace
}  // namespace mapsim::at_once_test
