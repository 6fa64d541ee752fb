// SPDX-License-Identifier: Apache-2.0
#include "validate/agreement.hpp"

#include <gtest/gtest.h>

#include "tests/report/small_problem.hpp"

namespace mapsim::agreement_test {
namespace {

TEST(CompareCounts, FindsNoDifferenceBetweenModelAndWalk) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  const Counts model = count(problem, mapping);
  const PerTensor<DenseTensor> operands = random_operands(problem.workload(), 1);
  const Simulation walk = simulate(problem, mapping, operands, 1000);
  const Agreement agreement =
      compare_counts(problem.arch(), problem.workload(), model, walk.counts);
  EXPECT_EQ(agreement.compared, 2 + 3 + 6 * 11);
  EXPECT_TRUE(agreement.differences.empty());
  EXPECT_EQ(count_wrong(plain_loops(problem.workload(), operands), walk.output), 0);
}

TEST(CompareCounts, NamesWhatDiffers) {
  const Problem problem = testing::small_problem();
  const Counts model = count(problem, testing::small_mapping());
  Counts other = model;
  ++other.levels[LevelId{1}][TensorId{2}].busiest.readbacks;
  ++other.steps;
  const Agreement agreement = compare_counts(problem.arch(), problem.workload(), model, other);
  ASSERT_EQ(agreement.differences.size(), 2);
  EXPECT_EQ(agreement.differences[0].name, "steps");
  EXPECT_EQ(agreement.differences[1].name, "GLB Z read-backs (busiest instance)");
  EXPECT_EQ(agreement.differences[1].simulated, agreement.differences[1].model + 1);
}

TEST(PlainLoops, SlideAWindow) {
  const Workload work = parse_workload(
      "name: window\neinsum: {equation: 'O[p] += I[2*p+r] * W[r]', dims: {p: 2, r: 2}}\n",
      "w.yaml");
  PerTensor<DenseTensor> operands;
  operands.push_back({{4}, {1, 2, 3, 4}});
  operands.push_back({{2}, {10, 1}});
  operands.push_back({{2}, {0, 0}});
  EXPECT_EQ(plain_loops(work, operands), (DenseTensor{{2}, {12, 34}}));
  EXPECT_EQ(count_wrong({{2}, {12, 34}}, {{2}, {12, 35}}), 1);
}

}  // namespace
}  // namespace mapsim::agreement_test
