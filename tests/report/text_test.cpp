// SPDX-License-Identifier: Apache-2.0
#include "report/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/front.hpp"
#include "report/histogram.hpp"
#include "report/names.hpp"
#include "report/nest.hpp"
#include "report/sparse.hpp"
#include "report/table.hpp"
#include "tests/report/small_problem.hpp"
#include "workloads/conv.hpp"
#include "workloads/load.hpp"

namespace mapsim::text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Table, AlignsTheFirstColumnLeftAndOthersRight) {
  EXPECT_EQ(table({{"", "x", "y"}, {"longer", "1"}, {"b", "20", "300"}}),
            "           x    y\n"
            "  longer   1\n"
            "  b       20  300\n");
}

// Bytes are no columns of a terminal, nor are characters.
TEST(Table, PadsByWhatATerminalShows) {
  EXPECT_EQ(table({{"größe", "1"}, {"层", "2"}, {"width", "3"}}),
            "  größe  1\n  层     2\n  width  3\n");
}

TEST(TableName, KeepsBothEndsOfALongName) {
  const std::string wide = "ä" + std::string(300, 'x') + "/Conv_ß";
  const std::string name = table_name(wide);
  EXPECT_LE(name.size(), 60U);
  EXPECT_TRUE(name.starts_with("äx") && name.ends_with("x/Conv_ß")) << name;
  EXPECT_NE(name.find("x...x"), std::string::npos) << name;
  EXPECT_EQ(table_name("conv1"), "conv1");
}

TEST(HistogramText, CountsOneMapping) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  Histogram one;
  one.points = {{1000, 10}};
  EXPECT_NE(histogram_text(space, {}, one).find("\n1 distinct mapping within "), std::string::npos);
  EXPECT_NE(histogram_svg(space, {}, one).find(">1 mapping within "), std::string::npos);
  one.points.push_back({2000, 10});
  EXPECT_NE(histogram_text(space, {}, one).find("\n2 distinct mappings within "),
            std::string::npos);
}

TEST(DrawNest, IndentsLoopsAndSizesTiles) {
  const Problem problem = testing::small_problem();
  const Mapping mapping = testing::small_mapping();
  EXPECT_EQ(draw_nest(problem, mapping, count(problem, mapping)),
            "  keep DRAM: A, B, Z     # A 48 B, B 32 B, Z 24 B\n"
            "  for M in 2 tiles of 4, the last of 2\n"
            "    for K in 4 tiles of 2\n"
            "      keep GLB: A, B, Z  # A 8 B, B 8 B, Z 16 B; GLB has 64 B\n"
            "      parallel N in 2 blocks of 2 over X of PEs\n"
            "        parallel K in 2 blocks of 1 over Y of PEs\n"
            "          for N in 2 tiles of 1\n"
            "            for M in 4 tiles of 1\n"
            "              MAC\n");
}

TEST(EnergyText, ListsEveryNodeAndTheWhole) {
  const Problem problem = testing::small_problem();
  const Evaluation evaluation = evaluate(problem, testing::small_mapping());
  const std::string text = energy_text(problem, std::get<Cost>(evaluation));
  for (const char* name : {"DRAM", "GLB", "PEs", "MAC", "A", "B", "Z", "all", "share"}) {
    EXPECT_THAT(text, HasSubstr(name));
  }
  EXPECT_THAT(text, HasSubstr("\n  MAC                                 768.0 pJ   4.1 %\n"));
}

TEST(ExplainEnergyText, GivesEachNumberItsSource) {
  const Problem problem = testing::small_problem();
  const Evaluation evaluation = evaluate(problem, testing::small_mapping());
  const std::string text = explain_energy_text(problem, std::get<Cost>(evaluation));
  EXPECT_THAT(text, HasSubstr("\n  MAC            MAC    192            4 pJ  768.0 pJ     [1]\n"));
  EXPECT_THAT(text, HasSubstr("\n  [1] the architecture file\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("[2]")));
}

TEST(LatencyText, PointsAtTheBottleneckAlone) {
  const Problem problem = testing::small_problem();
  const Evaluation evaluation = evaluate(problem, testing::small_mapping());
  const std::string text = latency_text(problem, std::get<Cost>(evaluation));
  const std::size_t mark = text.find("<- bottleneck");
  ASSERT_NE(mark, std::string::npos);
  EXPECT_EQ(text.find("<- bottleneck", mark + 1), std::string::npos);
  const std::size_t line = text.rfind('\n', mark) + 1;
  EXPECT_EQ(text.substr(line, 6), "  DRAM");
  EXPECT_THAT(text, HasSubstr("100.0 %  <- bottleneck"));
  EXPECT_THAT(text, HasSubstr("PEs: 2 x 2 of 2 x 2 in use"));
}

// PEs of 2 x 2 between DRAM and a register: N along X, K or M along Y.
TEST(InfeasibleText, SaysWhatASystolicArrayCannotDo) {
  const auto text_of = [](const std::string& along_y, const std::string& kept) {
    const Arch arch = parse_arch(
        "name: a\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n    energy: {read: 1 pJ/B, "
        "write: 1 pJ/B}\n  - fanout: PEs\n    x: 2\n    y: 2\n    spatial_reduction: true\n"
        "  - storage: Register\n    capacity: 4 B\n    energy: {read: 0 pJ/B, write: 0 pJ/B}\n"
        "  - compute: MAC\n    energy: 1 pJ\n    timing: {model: systolic, array: PEs}\n",
        "a.yaml");
    const Problem problem{arch, parse_workload("name: g\ngemm: {m: 2, n: 2, k: 2}\n", "g.yaml")};
    const std::string other = along_y == "K" ? "M" : "K";
    const Mapping mapping = parse_mapping(
        "mapping:\n  - keep DRAM: [A, B, Z]\n  - parallel N: 1 over X of PEs\n  - parallel " +
            along_y + ": 1 over Y of PEs\n  - keep Register: [" + kept + "]\n  - for " + other +
            ": 1\n",
        "m.yaml", problem.arch(), problem.workload());
    const Evaluation evaluation = evaluate(problem, mapping);
    const auto* why = std::get_if<Infeasible>(&evaluation);
    return why != nullptr ? infeasible_text(problem.arch(), *why) : "it runs";
  };
  EXPECT_EQ(text_of("K", "B"), "it runs");
  EXPECT_EQ(text_of("M", "Z"), "it runs");
  EXPECT_EQ(
      text_of("K", "A"),
      "PEs: input stays, but weight is not shared along an axis; in a systolic array each other "
      "tensor moves along its own axis, and all instances on that axis use the same elements");
  EXPECT_EQ(
      text_of("M", "B"),
      "PEs: weight stays, but output is not shared along an axis; in a systolic array each other "
      "tensor moves along its own axis, and all instances on that axis use the same elements");
}

// A bank is 16 B; tiles of 8 B of A, 8 B of B, and 16 B of Z.
TEST(LatencyText, SplitsTheBanksOfAnEngine) {
  const Problem problem =
      testing::small_problem_timed("{model: nvdla, array: PEs, buffer: GLB, banks: 4}");
  const Evaluation evaluation = evaluate(problem, testing::small_mapping());
  EXPECT_THAT(latency_text(problem, std::get<Cost>(evaluation)),
              HasSubstr("; GLB banks: 1 of A, 1 of B, 1 of Z, of 4\n"));
}

TEST(LatencyText, NamesWinogradWhereTheShareExceedsThePeak) {
  const Problem problem = testing::small_problem();
  Cost cost = std::get<Cost>(evaluate(problem, testing::small_mapping()));
  EXPECT_THAT(latency_text(problem, cost), ::testing::Not(HasSubstr("Winograd")));
  cost.utilization = 2.25;
  EXPECT_THAT(latency_text(problem, cost),
              HasSubstr("225.0 % of the peak of 4 MAC units, multiplications that Winograd spares "
                        "included;"));
}

TEST(InfeasibleText, NamesTheLevelAndBothSizes) {
  const Problem problem = testing::small_problem();
  const Evaluation evaluation = evaluate(problem, testing::small_mapping(8));
  ASSERT_TRUE(std::holds_alternative<Infeasible>(evaluation));
  EXPECT_EQ(infeasible_text(problem.arch(), std::get<Infeasible>(evaluation)),
            "PEs: the mapping uses 8 instances along Y, there are 2");
  EXPECT_EQ(infeasible_text(problem.arch(),
                            CapacityExceeded{LevelId{1}, Role::kWeight, Bits{640}, Bits{512}}),
            "GLB: the tiles need 80 B for weight; the capacity is 64 B");
}

TEST(InfeasibleText, PutsTheCommonestReasonFirst) {
  InfeasibleReport report;
  report.reasons = {{"GLB: capacity", 3}, {"PEs: X", 1000}};
  report.smallest_need = {{"GLB: capacity", 640}, {"PEs: X", 4}};
  EXPECT_EQ(infeasible_text(report),
            "why mappings do not fit:\n"
            "                 times  the smallest that would do\n"
            "  PEs: X         1,000                 4 instances\n"
            "  GLB: capacity      3                        80 B\n");
}

// The exact strategy meets no mappings: it says how many unrollings cannot run, or what rules out
// all.
TEST(InfeasibleText, CountsUnrollingsWhereNoMappingsAreMet) {
  InfeasibleReport report;
  report.reasons = {{"GLB: capacity", 3}, {"latency limit", 1}};
  report.smallest_need = {{"GLB: capacity", 640}, {"latency limit", 1000}};
  EXPECT_EQ(infeasible_text(report, true),
            "why mappings do not fit:\n"
            "                 unrollings  the smallest that would do\n"
            "  GLB: capacity           3                        80 B\n"
            "  latency limit         all                1,000 cycles\n");
}

TEST(CertificateText, ClaimsNoMoreThanIsProven) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  SearchResult result;
  result.certificate = {Proof::kOptimal, 1500, 0, "12345678901"};
  EXPECT_EQ(
      certificate_text(space, Objective::kEnergy, result),
      "proven optimal: none of the 12,345,678,901 mappings (perfect factors) in the mapspace has a "
      "lower energy than 1.500 nJ\n");
  result.certificate = {Proof::kBounded, 100, 0.25, "12"};
  EXPECT_EQ(certificate_text(space, Objective::kLatency, result),
            "proven to the requested gap: best 125 cycles; none of the 12 mappings (perfect "
            "factors) in the mapspace is below 100 cycles (gap 25.0 %)\n");
  result.interrupted = true;
  EXPECT_EQ(certificate_text(space, Objective::kLatency, result),
            "not proven: best 125 cycles; none of the 12 mappings (perfect factors) in the "
            "mapspace is below 100 cycles (gap 25.0 %)\n");
  result.certificate = {Proof::kNone, 0, 0, "12"};
  EXPECT_EQ(certificate_text(space, Objective::kEdp, result),
            "no proof: the best seen of the 12 mappings (perfect factors) in the mapspace\n");
}

TEST(FrontText, SaysThatNothingWasFoundInTime) {
  const Problem problem = testing::small_problem();
  const Mapspace space{problem, {}};
  Front front;
  front.mapspace_size = "12";
  EXPECT_THAT(front_text(space, {}, front), HasSubstr("no feasible mapping found among"));
  front.complete = true;
  EXPECT_THAT(front_text(space, {}, front), HasSubstr("no feasible mapping among"));
}

TEST(RooflineText, SaysWhatLimits) {
  const Problem problem = testing::small_problem();
  const std::string text = roofline_text(problem.arch(), problem.workload(),
                                         roofline(problem.arch(), problem.workload()));
  EXPECT_THAT(text, HasSubstr("memory-limited"));
  EXPECT_THAT(text, HasSubstr("no mapping takes less than 104 cycles"));
  EXPECT_THAT(text, Not(HasSubstr("counted on the padded input")));
  ConvShape shape;
  shape.in_channels = shape.out_channels = 4;
  shape.input = {7, 7};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  const Workload padded = conv2d("padded", shape);
  EXPECT_THAT(roofline_text(problem.arch(), padded, roofline(problem.arch(), padded)),
              HasSubstr(", counted on the padded input, whose zeros move like pixels\n"));
}

// Lanes that are packed with places of which none is left out.
TEST(SparseText, NamesLanesThatArePackedForNothing) {
  const Arch arch = parse_arch(
      "name: m\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n    format: {input: bitmask, weight: bitmask}\n"
      "  - fanout: lanes\n    x: 4\n    balance: packed\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight]}\n",
      "m.yaml");
  const auto text = [&](const std::string& density, const std::string& dim) {
    const Problem problem{
        arch, parse_workload("name: w\ngemm: {m: 4, n: 4, k: 4}\n" + density, "w.yaml")};
    std::string nest = "mapping:\n  - keep DRAM: [A, B, Z]\n";
    for (const char* other : {"M", "N", "K"}) {
      nest += other == dim ? "" : fmt::format("  - for {}: 1\n", other);
    }
    nest += fmt::format("  - parallel {}: 1 over X of lanes\n", dim);
    const Mapping mapping = parse_mapping(nest, "t.yaml", arch, problem.workload());
    return sparse_text(problem, mapping, std::get<Cost>(evaluate(problem, mapping)));
  };
  const std::string note = "lanes packs lanes over M, but the compute units do not skip zeros of A";
  EXPECT_THAT(text("density: {A: 0.5, B: 0.5}\n", "M"), HasSubstr(note));
  EXPECT_THAT(text("density: {B: 0.5}\n", "M"), Not(HasSubstr("packs lanes")));
  EXPECT_THAT(text("density: {A: 0.5, B: 0.5}\n", "K"), Not(HasSubstr("packs lanes")));
}

}  // namespace
}  // namespace mapsim::text_test
