// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/constraints.hpp"

#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "mapper/mapspace/unrolling.hpp"
#include "tests/support/bad_inputs.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::constraints_test {
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

constexpr int kBadRules = 0;
constexpr DimId kM{0};
constexpr DimId kN{1};
constexpr DimId kK{2};
constexpr FanoutId kPes{0};

TEST(LoadConstraints, ReadsEveryKey) {
  const Constraints constraints = parse(
      "mapspace:\n"
      "  tiling: even\n"
      "  one_loop_per_dim: true\n"
      "  spatial:\n"
      "    PEs: {Y: {N: 2}, X: {K: 2, M: 2}}\n"
      "  keep: {RF: [input]}\n"
      "  bypass: {RF: [Z]}\n");
  EXPECT_TRUE(constraints.even);
  EXPECT_TRUE(constraints.one_loop_per_dim);
  EXPECT_EQ(constraints.spatial,
            (Unrolling{{kM, kPes, Axis::kX, 2}, {kK, kPes, Axis::kX, 2}, {kN, kPes, Axis::kY, 2}}));
  const PerTensor<KeepRule>& rules = constraints.keeps[LevelId{1}];
  EXPECT_EQ(rules[TensorId{0}], KeepRule::kKeep);
  EXPECT_EQ(rules[TensorId{1}], KeepRule::kFree);
  EXPECT_EQ(rules[TensorId{2}], KeepRule::kBypass);
  EXPECT_EQ(constraints.keeps[LevelId{0}][TensorId{0}], KeepRule::kFree);
}

// As --imperfect asks: 3 does not divide 8, and the file does not say which factors it means.
TEST(LoadConstraints, TakesFactorsThatNeedNotDivideWhereTheCallerSaysSo) {
  const std::string text = "mapspace: {spatial: {PEs: {X: {M: 3}}}}\n";
  EXPECT_THROW(parse(text), ConfigError);
  const Constraints constraints =
      parse_constraints(text, "space.yaml", small_problem(), nullptr, true);
  EXPECT_TRUE(constraints.factors.imperfect);
  EXPECT_EQ(constraints.spatial, (Unrolling{{kM, kPes, Axis::kX, 3}}));
}

// The file has no place for it: the caller asked for imperfect factors.
TEST(LoadConstraints, SaysOfTheCallersFactorsThatExtentsAreTooMany) {
  const Problem large{small_problem().arch(), gemm("large", {10'000'000, 4, 6, {}, false})};
  try {
    parse_constraints("mapspace:\n  one_loop_per_dim: true\n", "space.yaml", large, nullptr, true);
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("extents are too many"), std::string::npos)
        << error.what();
  }
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

TEST(LoadConstraints, ReadsRulesForUnrollings) {
  const Constraints constraints = parse(
      "mapspace:\n"
      "  unroll:\n"
      "    PEs: {min_utilization: 0.5, X: {dims: [gemm_k, M], factors: {M: [1, 2]}}, "
      "Y: {max_dims: 0}}\n");
  UnrollRule rule;
  rule.fanout = kPes;
  rule.min_utilization = 0.5;
  rule.x = {DimSet{kM, kK}, {{kM, {{1, 2}, 1, Allowed{}.most}}}, {}};
  rule.y.max_dims = 0;
  EXPECT_EQ(constraints.unroll, std::vector{rule});
  // 4 or 2 of 8 instances: M and K along X, at least half of all.
  EXPECT_EQ((Mapspace{small_problem(), constraints}.unrollings()),
            (std::vector<Unrolling>{{{kM, kPes, Axis::kX, 2}, {kK, kPes, Axis::kX, 2}}}));
}

TEST(LoadConstraints, ReadsRulesForExtents) {
  const Constraints constraints = parse(
      "mapspace:\n"
      "  extents:\n"
      "    RF: {M: {max: 4}, A: {gemm_k: whole}, output: {N: [4, 2]}}\n");
  const std::int64_t most = Allowed{}.most;
  EXPECT_EQ(constraints.extents,
            (std::vector<ExtentRule>{{LevelId{1}, TensorId{0}, kM, {{}, 1, 4}},
                                     {LevelId{1}, TensorId{2}, kM, {{}, 1, 4}},
                                     {LevelId{1}, TensorId{0}, kK, {{6}, 1, most}},
                                     {LevelId{1}, TensorId{2}, kN, {{2, 4}, 1, most}}}));
}

TEST(LoadConstraints, ReadsRulesForLoopsOutermostFirst) {
  const Constraints constraints = parse(
      "mapspace:\n"
      "  tiling: even\n"
      "  loops:\n"
      "    MAC: {factors: {gemm_n: rest}}\n"
      "    RF: {dims: []}\n"
      "    PEs: {order: [K, rest], factors: {M: {min: 2, max: 4}, N: 1}}\n");
  const std::int64_t most = Allowed{}.most;
  LoopRule above_pes;
  above_pes.fanout = kPes;
  above_pes.ordered = true;
  above_pes.order = {DimSet{kK}, DimSet{kM, kN}};
  above_pes.factors = {{kM, {{}, 2, 4}}, {kN, {{1}, 1, most}}};
  LoopRule above_rf;
  above_rf.level = LevelId{1};
  above_rf.ordered = true;
  LoopRule above_mac;
  above_mac.rest = {kN};
  EXPECT_EQ(constraints.loops, (std::vector<LoopRule>{above_pes, above_rf, above_mac}));
}

TEST(LoadConstraints, JoinsWhatIsSaidOfAnExtentByDimAndByTensor) {
  const Constraints constraints =
      parse("mapspace: {extents: {RF: {M: [1, 2, 4], A: {M: {max: 2}}, Z: {M: done}}}}\n");
  EXPECT_EQ(constraints.extents,
            (std::vector<ExtentRule>{
                {LevelId{1}, TensorId{0}, kM, {{1, 2}, 1, Allowed{}.most}, false},
                {LevelId{1}, TensorId{2}, kM, {{1, 2, 4}, 1, Allowed{}.most}, true}}));
}

// Output stationary: Z of M x N stays in RF, below the array, while only K runs.
TEST(LoadConstraints, WritesDataflowsOut) {
  const Constraints constraints = parse("mapspace: {dataflow: output_stationary}\n");
  EXPECT_EQ(constraints.keeps[LevelId{1}][TensorId{2}], KeepRule::kKeep);
  EXPECT_EQ(constraints.extents,
            (std::vector<ExtentRule>{{LevelId{1}, TensorId{2}, kM, Allowed{}, true},
                                     {LevelId{1}, TensorId{2}, kN, Allowed{}, true}}));
  LoopRule above_mac;
  above_mac.ordered = true;
  above_mac.order = {DimSet{kM, kN}, DimSet{kK}};
  EXPECT_EQ(constraints.loops, std::vector{above_mac});
  const Mapspace space{small_problem(), constraints};
  int mappings = 0;
  space.enumerate([&](const Mapping& mapping) {
    bool kept = false;
    for (const MappingNode& node : mapping.nodes) {
      const auto* keep = std::get_if<Keep>(&node);
      const auto* loop = std::get_if<Temporal>(&node);
      kept = kept ||
             (keep != nullptr && keep->level == LevelId{1} && keep->tensors.contains(TensorId{2}));
      EXPECT_FALSE(kept && loop != nullptr && loop->dim != kK);
    }
    EXPECT_TRUE(kept);
    return ++mappings < 2'000;
  });
  EXPECT_GT(mappings, 100);
}

// RF has room for everything.
std::vector<LackingRule> lacking(const std::string& text) {
  const Problem problem{
      parse_arch("name: roomy\n"
                 "nodes:\n"
                 "  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
                 "  - {fanout: PEs, x: 4, y: 2}\n"
                 "  - {storage: RF, capacity: 96 B, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
                 "  - {compute: MAC, energy: 1 pJ}\n",
                 "roomy.yaml"),
      gemm("small", {8, 4, 6, {}, false})};
  std::vector<LackingRule> rules;
  parse_constraints(text, "space.yaml", problem, &rules);
  return rules;
}

// A GEMM has no windows. Axes of a GEMM count as 1 where they are not there.
TEST(LoadConstraints, NamesRulesWhoseDimsAreNotThere) {
  const std::vector<LackingRule> preset =
      lacking("mapspace:\n  tiling: uneven\n  dataflow: row_stationary\n");
  ASSERT_EQ(preset.size(), 1U);
  EXPECT_EQ(preset[0], (LackingRule{"space.yaml:3:13: mapspace.dataflow",
                                    "row_stationary",
                                    {"column_out", "row_kernel", "column_kernel"}}));
  EXPECT_EQ(warning_of(preset[0], "small has"),
            "space.yaml:3:13: mapspace.dataflow: small has no column_out, row_kernel, "
            "column_kernel: the rest of row_stationary is another dataflow");
  const std::vector<LackingRule> rules = lacking(
      "mapspace:\n"
      "  unroll: {PEs: {X: {dims: [gemm_m, column_out], factors: {row_kernel: 1}}}}\n"
      "  extents: {RF: {input: {row_kernel: whole, gemm_batch: done}}}\n"
      "  loops: {MAC: {order: [[M, row_out], rest]}}\n");
  std::vector<std::string> places;
  for (const LackingRule& rule : rules) {
    EXPECT_EQ(rule.preset, "");
    EXPECT_EQ(rule.dims.size(), 1U);
    places.push_back(rule.place);
  }
  EXPECT_EQ(places, (std::vector<std::string>{"space.yaml:2:37: mapspace.unroll.PEs.X.dims[1]",
                                              "space.yaml:2:60: mapspace.unroll.PEs.X.factors",
                                              "space.yaml:3:26: mapspace.extents.RF.input",
                                              "space.yaml:4:29: mapspace.loops.MAC.order[0][1]"}));
  EXPECT_TRUE(lacking("mapspace: {dataflow: output_stationary}\n").empty());
}

TEST(IdleAxes, AreThoseThatTakeNoDimOfTheWorkload) {
  const Problem problem{
      parse_arch(
          "name: wide\n"
          "nodes:\n"
          "  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
          "  - {fanout: PEs, x: {size: 4, dims: [Q, gemm_batch]}, y: {size: 2, dims: [Q, N]}}\n"
          "  - {fanout: lanes, x: {size: 1, dims: [Q]}, y: 3}\n"
          "  - {compute: MAC, energy: 1 pJ}\n",
          "wide.yaml"),
      gemm("small", {8, 4, 6, {}, false})};
  EXPECT_EQ(idle_axes(problem),
            std::vector<std::string>{"axis X of PEs takes gemm_batch, Q: small has none of them, "
                                     "so that the axis stays idle"});
}

TEST(LoadConstraints, TellsAllThatIsWrongWithRules) {
  expect_errors("mapper/bad_rules.txt", kBadRules, parse);
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
}  // namespace mapsim::constraints_test
