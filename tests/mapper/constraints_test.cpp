// SPDX-License-Identifier: Apache-2.0
#include "mapper/constraints.hpp"

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "tests/support/bad_inputs.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

// RF has no room for weights; N may not go along X.
const Problem& small_problem() {
  static const Problem problem{
      parse_arch("name: toy\n"
                 "nodes:\n"
                 "  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
                 "  - {fanout: PEs, x: {size: 4, dims: [gemm_m, gemm_k]}, y: 2}\n"
                 "  - storage: RF\n"
                 "    capacity: {input: 24 B, output: 48 B}\n"
                 "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n"
                 "  - {compute: MAC, energy: 1 pJ}\n",
                 "toy.yaml"),
      gemm("small", {8, 4, 6, {}, false})};
  return problem;
}

Constraints parse(const std::string& text) {
  return parse_constraints(text, "space.yaml", small_problem());
}

constexpr DimId kM{0};
constexpr DimId kN{1};
constexpr DimId kK{2};
constexpr FanoutId kPes{0};

TEST(LoadConstraints, ReadsEveryKey) {
  const Constraints constraints = parse(
      "mapspace:\n"
      "  tiling: even\n"
      "  spatial:\n"
      "    PEs: {Y: {N: 2}, X: {K: 2, M: 2}}\n"
      "  keep: {RF: [input]}\n"
      "  bypass: {RF: [Z]}\n");
  EXPECT_TRUE(constraints.even);
  EXPECT_EQ(constraints.spatial,
            (Unrolling{{kM, kPes, Axis::kX, 2}, {kK, kPes, Axis::kX, 2}, {kN, kPes, Axis::kY, 2}}));
  const PerTensor<KeepRule>& rules = constraints.keeps[LevelId{1}];
  EXPECT_EQ(rules[TensorId{0}], KeepRule::kKeep);
  EXPECT_EQ(rules[TensorId{1}], KeepRule::kFree);
  EXPECT_EQ(rules[TensorId{2}], KeepRule::kBypass);
  EXPECT_EQ(constraints.keeps[LevelId{0}][TensorId{0}], KeepRule::kFree);
}

TEST(LoadConstraints, LeavesFreeWhatIsNotSaid) {
  EXPECT_EQ(parse("mapspace: {}\n"), Constraints{});
  EXPECT_EQ(parse("mapspace: {tiling: uneven}\n"), Constraints{});
}

TEST(LoadConstraints, LeavesAFanoutIdleThatIsNamedWithoutFactors) {
  for (const char* axes : {"{}", "{X: {}}", "{X: {}, Y: {}}"}) {
    const Constraints constraints =
        parse(std::string{"mapspace: {spatial: {PEs: "} + axes + "}}\n");
    ASSERT_TRUE(constraints.spatial) << axes;
    const Mapspace space{small_problem(), constraints};
    EXPECT_EQ(space.unrollings(), std::vector<Unrolling>{Unrolling{}}) << axes;
  }
}

TEST(LoadConstraints, FixesTheUnrollingOfTheMapspace) {
  const Mapspace space{small_problem(),
                       parse("mapspace: {spatial: {PEs: {X: {M: 4}, Y: {N: 2}}}}\n")};
  EXPECT_EQ(space.unrollings(),
            (std::vector<Unrolling>{{{kM, kPes, Axis::kX, 4}, {kN, kPes, Axis::kY, 2}}}));
}

TEST(LoadConstraints, TellsAllThatIsWrong) {
  expect_errors("mapper/bad_constraints.txt", 17, parse);
}

TEST(LoadConstraints, SurvivesDamagedFiles) {
  expect_survival(
      "mapspace:\n  tiling: even\n  spatial:\n    PEs: {X: {M: 2, K: 2}, Y: {N: 2}}\n"
      "  keep: {RF: [input]}\n  bypass: {RF: [Z]}\n",
      parse);
}

}  // namespace
}  // namespace mapsim
