// SPDX-License-Identifier: Apache-2.0
#include "plan/throughput.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "plan/linear_program.hpp"
#include "tests/plan/random_plan.hpp"

namespace mapsim::throughput_test {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

LinearProgram random_program(std::uint64_t seed) {
  Rng rng{seed};
  LinearProgram program;
  for (std::int64_t r = rng.between(1, 5); r > 0; --r) {
    program.capacities.push_back(0.5 + rng.uniform());
  }
  for (std::int64_t c = rng.between(1, 12); c > 0; --c) {
    std::vector<double>& column = program.columns.emplace_back();
    for (std::size_t r = 0; r < program.capacities.size(); ++r) {
      column.push_back(rng.below(3) == 0 ? 0 : rng.uniform());
    }
    column[rng.below(column.size())] += 0.1;
    program.gains.push_back(rng.uniform());
  }
  return program;
}

// What x needs fits, what the duals charge for a column is worth it, and both sums are equal: then
// neither can be better.
TEST(LinearProgram, IsProvenByItsDuals) {
  constexpr double kClose = 1e-9;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const LinearProgram program = random_program(seed);
    const LinearSolution found = solve(program);
    for (std::size_t r = 0; r < program.capacities.size(); ++r) {
      double used = 0;
      for (std::size_t c = 0; c < program.columns.size(); ++c) {
        used += program.columns[c][r] * found.x[c];
      }
      EXPECT_LE(used, program.capacities[r] + kClose) << seed;
      EXPECT_GE(found.duals[r], -kClose) << seed;
    }
    for (std::size_t c = 0; c < program.columns.size(); ++c) {
      EXPECT_GE(found.x[c], -kClose) << seed;
      EXPECT_GE(dot(program.columns[c], found.duals), program.gains[c] - kClose) << seed;
    }
    EXPECT_NEAR(found.value, dot(program.gains, found.x), kClose) << seed;
    EXPECT_NEAR(found.value, dot(program.capacities, found.duals), kClose) << seed;
  }
}

// The same linear program with a column for every plan there is.
TEST(Throughput, IsThatOfAllPlansAtOnce) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const PlanProblem problem = random_plan_problem(seed);
    std::vector<double> capacities(problem.places + 2, 50);
    capacities.front() = 20;
    LinearProgram program{capacities, loads_of_all_plans(problem), {}};
    const bool is_bounded = std::all_of(program.columns.begin(), program.columns.end(),
                                        [](const auto& column) { return dot(column, column) > 0; });
    if (program.columns.empty() || program.columns.size() > 400 || !is_bounded) {
      continue;
    }
    program.gains.assign(program.columns.size(), 1);
    const double wanted = solve(program).value;
    const StreamMix mix = best_mix(problem, capacities);
    EXPECT_NEAR(mix.rate, wanted, 1e-7 * wanted) << seed;
    EXPECT_NEAR(mix.bound, wanted, 1e-7 * wanted) << seed;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(Throughput, SharesFramesAmongEngines) {
  PlanProblem problem;
  problem.operations = 1;
  problem.places = problem.engines = 2;
  problem.tensors = {{}};
  problem.choices = {{{0}, 0, {}, {}, {Load{1, 10, 100, 0, 1}, Load{4, 1, 100, 1, 4}}}};
  // A frame takes engine 0 a second, engine 1 four; there are two of the latter.
  const StreamMix mix = best_mix(problem, {1, 2, 1e6, 1e6});
  EXPECT_DOUBLE_EQ(mix.rate, 1.5);
  EXPECT_DOUBLE_EQ(mix.bound, 1.5);
  EXPECT_DOUBLE_EQ(mix.duals[0], 1);
  EXPECT_DOUBLE_EQ(mix.duals[1], 0.25);
  // The memory moves one frame a second: then it is all that counts.
  EXPECT_DOUBLE_EQ(best_mix(problem, {1, 2, 100, 1e6}).duals[2], 0.01);
  // Power for one frame a second on engine 0, or ten on the other.
  EXPECT_DOUBLE_EQ(best_mix(problem, {1, 2, 1e6, 5.5}).rate, 1);
}

}  // namespace
}  // namespace mapsim::throughput_test
