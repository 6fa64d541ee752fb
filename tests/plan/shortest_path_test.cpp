// SPDX-License-Identifier: Apache-2.0
#include "plan/shortest_path.hpp"

#include <gtest/gtest.h>

#include "tests/plan/random_plan.hpp"

namespace mapsim::shortest_path_test {
namespace {

TEST(ShortestPath, IsTheBestOfAllPlansOfRandomProblems) {
  std::int64_t plans = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    EXPECT_EQ(compare_with_all_plans(seed, plans), "") << "seed " << seed;
  }
  EXPECT_GT(plans, 250);
  // Tensors that are cheapest to fetch where a plan has moved them for another reader.
  for (const std::uint64_t seed : {5061, 5263, 7627, 8485, 12779, 16941}) {
    EXPECT_EQ(compare_with_all_plans(seed, plans), "") << "seed " << seed;
  }
}

Load seconds(double time) { return {time, 0, 0, {}, 0}; }

// Operation 0 makes tensor 0, which 1 and 2 read.
PlanProblem two_readers() {
  PlanProblem problem;
  problem.operations = 3;
  problem.places = problem.engines = 2;
  problem.tensors = {{{1, 2}, {Load{}, seconds(3), seconds(3), Load{}}}};
  problem.choices = {{{0}, 0, {}, {0}, {seconds(1), std::nullopt}},
                     {{1}, 1, {0}, {}, {seconds(9), seconds(1)}},
                     {{2}, 2, {0}, {}, {seconds(9), seconds(1)}}};
  return problem;
}

TEST(ShortestPath, MovesATensorOnceForAllReadersOfAnEngine) {
  const auto path = shortest_path(two_readers(), {1, 0, 0, {}});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->value, 1 + 3 + 1 + 1);
  ASSERT_EQ(path->steps.size(), 3U);
  EXPECT_EQ(path->steps[1].moves, (std::vector<PlanMove>{{0, 0, 1}}));
  EXPECT_TRUE(path->steps[2].moves.empty());
}

TEST(ShortestPath, TakesTheDearerEngineWhereNoWayLeadsToTheCheaperOne) {
  PlanProblem problem = two_readers();
  problem.tensors[0].moves[1] = std::nullopt;
  const auto path = shortest_path(problem, {1, 0, 0, {}});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->value, 1 + 9 + 9);
}

TEST(ShortestPath, FindsNoneWhereAnOperationRunsNowhere) {
  PlanProblem problem = two_readers();
  problem.choices[2].on = {std::nullopt, std::nullopt};
  EXPECT_FALSE(shortest_path(problem, {1, 0, 0, {}}));
}

}  // namespace
}  // namespace mapsim::shortest_path_test
