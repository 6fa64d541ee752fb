// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_stats.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "core/diagnostic.hpp"
#include "interop/timeloop_counts.hpp"
#include "interop/timeloop_import.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::timeloop_stats_test {
namespace {

// What Timeloop prints of a layer that can be counted by hand, and how many figures differ from it.
std::vector<ComparedFigure> compared(const TimeloopImport& import, const std::string& stats) {
  const TimeloopResult result = parse_timeloop_stats(stats, "stats.txt", import.design);
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  const auto figures =
      compare(import.design, problem, count(problem, to_mapping(import.design)), result);
  EXPECT_EQ(figures.size(), 36U);
  return figures;
}

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const std::string kByHand = source_path("tests/app/data/timeloop_gemm");

std::size_t unexplained(const std::string& stats) {
  const auto figures = compared(read_timeloop({kByHand + ".yaml"}), stats);
  return static_cast<std::size_t>(std::count_if(
      figures.begin(), figures.end(),
      [](const ComparedFigure& each) { return each.verdict == Verdict::kUnexplained; }));
}

TEST(TimeloopStats, AreReadAsTimeloopPrintsThem) {
  const std::string stats = text_of(kByHand + ".stats.txt");
  EXPECT_EQ(unexplained(stats), 0U);
  // Each figure of the text is looked at.
  for (const char* line : {"Utilized capacity                        : 12",
                           "Scalar reads (per-instance)              : 18",
                           "Scalar fills (per-instance)              : 8",
                           "Scalar updates (per-instance)            : 6"}) {
    std::string wrong = stats;
    wrong.insert(wrong.find(line) + std::string{line}.size(), "0");
    EXPECT_EQ(unexplained(wrong), 1U) << line;
  }
  std::string energy = stats;
  energy.replace(
      energy.find("384.00 pJ\n", energy.find("Energy (total)                           : 384")), 9,
      "385.00 pJ");
  EXPECT_EQ(unexplained(energy), 3U);  // and both totals
  // A level that keeps something is printed.
  const std::size_t gone = stats.find("=== DRAM ===");
  EXPECT_THROW(unexplained(stats.substr(0, gone)), ConfigError);
}

TEST(TimeloopStats, LeaveOutALevelThatKeepsNothing) {
  std::string design = text_of(kByHand + ".yaml");
  design.insert(design.find("  - {name: DRAM, instances"),
                "  - {name: point, instances: 1, word_bits: 8, entries: 64}\n");
  design.insert(
      design.find("  - {name: DRAM, actions"),
      "  - {name: point, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n");
  design += "- {target: point, type: temporal, factors: M=1 N=1 K=1, permutation: MNK}\n";
  const std::string stats = text_of(kByHand + ".stats.txt");
  const auto read = [&](const std::string& text) {
    return parse_timeloop_stats(stats, "s.txt", parse_timeloop(text, "d.yaml").design);
  };
  EXPECT_THROW(read(design), ConfigError);
  const TimeloopResult result =
      read(design + "- {target: point, type: datatype, keep: [], bypass: [A, B, Z]}\n");
  EXPECT_FALSE(result.levels[1].cycles.has_value());
  EXPECT_EQ(result.levels[2].cycles, 24);
}

// One of four instances works, and pays for the cluster.
TEST(TimeloopStats, AreRefusedWithACountThatIsNone) {
  const TimeloopDesign design = read_timeloop({kByHand + ".yaml"}).design;
  const std::string stats = text_of(kByHand + ".stats.txt");
  const std::string line = "Scalar fills (per-instance)              : ";
  for (const char* count : {"inf", "-1", "1e308", "nan"}) {
    std::string wrong = stats;
    wrong.replace(wrong.find(line + "8") + line.size(), 1, count);
    EXPECT_EQ(error_text([&] { parse_timeloop_stats(wrong, "stats.txt", design); }),
              "stats.txt: 'Scalar fills (per-instance)' of RF is " +
                  fmt::format("{}", std::stod(count)) + ", which is no count up to 2^53");
  }
}

TEST(TimeloopStats, ChargeAClusterWhole) {
  std::string design = text_of(kByHand + ".yaml");
  const auto replace = [&](const std::string& what, const std::string& by) {
    design.replace(design.find(what), what.size(), by);
  };
  replace("MAC, instances: 1", "MAC, instances: 4");
  replace("RF, instances: 1", "RF, instances: 4, cluster_size: 4");
  std::size_t whole = 0;
  for (const ComparedFigure& each :
       compared(parse_timeloop(design, "d.yaml"), text_of(kByHand + ".stats.txt"))) {
    EXPECT_NE(each.verdict, Verdict::kUnexplained) << each.where;
    whole += each.rules == TimeloopRules{TimeloopRule::kWholeClusters} ? 1U : 0U;
  }
  EXPECT_EQ(whole, 5U);  // the energies of three tensors, and both totals
}

// A window that slides by 2 of 4 words, and between two moves a loop that does not concern it.
TEST(TimeloopStats, OfOldVersionsLoseTheOverlapOverARest) {
  const TimeloopImport import = parse_timeloop(
      R"(arch:
  arithmetic: {name: MAC, instances: 1, word_bits: 8}
  storage:
  - {name: RF, instances: 1, word_bits: 8, entries: 64}
  - {name: DRAM, instances: 1, word_bits: 8, technology: DRAM}
problem:
  shape:
    name: slide
    dimensions: [M, P, R]
    data_spaces:
    - {name: W, projection: [[[M]], [[R]]]}
    - {name: I, projection: [[[P], [R]]]}
    - {name: O, projection: [[[M]], [[P]]], read_write: true}
  instance: {M: 2, P: 8, R: 3}
mapping:
- {target: DRAM, type: temporal, factors: M=2 P=4 R=1, permutation: MPR}
- {target: RF, type: temporal, factors: M=1 P=2 R=3, permutation: RPM}
)",
      "d.yaml");
  TimeloopCounter counter{import.design};
  const auto input = *import.design.workload.find_tensor("I");
  EXPECT_EQ(counter.accesses(input, 1, kAllTimeloopRules).fills, 4 + 3 * 2);
  EXPECT_EQ(counter.accesses(input, 1, kTimeloopRulesOf2024).fills, 4 * 4);
}

// Inferred from the results of 2020 that baseline-designs publishes.
TEST(TimeloopStats, Of2020ChargeOneEnergyAndAClusterOnce) {
  const TimeloopImport import = parse_timeloop(
      R"(arch:
  arithmetic: {name: MAC, instances: 4, word_bits: 8}
  storage:
  - {name: RF, instances: 4, entries: 64, word_bits: 8, width: 64, cluster_size: 4}
  - {name: DRAM, instances: 1, word_bits: 8, technology: DRAM}
problem:
  shape:
    name: row
    dimensions: [M, K]
    data_spaces:
    - {name: W, projection: [[[M]], [[K]]]}
    - {name: I, projection: [[[K]]]}
    - {name: O, projection: [[[M]]], read_write: true}
  instance: {M: 4, K: 6}
mapping:
- {target: DRAM, type: temporal, factors: M=4 K=1, permutation: MK}
- {target: RF, type: temporal, factors: M=1 K=6, permutation: KM}
ERT:
  version: 0.3
  tables:
  - {name: RF, actions: [{name: read, energy: 8}, {name: write, energy: 24}]}
  - {name: DRAM, actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
  - {name: MAC, actions: [{name: compute, energy: 1}]}
)",
      "d.yaml");
  const TimeloopStorage& storage = import.design.machine.storages[1];
  ASSERT_EQ(storage.block, 2);  // of 8 b, a quarter of 64 b
  TimeloopCounter counter{import.design};
  const auto weight = *import.design.workload.find_tensor("W");
  const TimeloopAccesses at = counter.accesses(weight, 1, kAllTimeloopRules);
  ASSERT_EQ(at.reads, 24);
  ASSERT_EQ(at.fills, 24);
  // One of four instances works. An access is of two words by all of the cluster, at 8 and 24 pJ.
  EXPECT_DOUBLE_EQ(counter.energy(weight, 1, kAllTimeloopRules), 12 * 8 + 12 * 24);
  // In 2020 each is at 24 pJ, a quarter of which is paid.
  EXPECT_DOUBLE_EQ(counter.energy(weight, 1, kTimeloopRulesOf2020), 24 * 24 / 4.0);
  EXPECT_DOUBLE_EQ(counter.energy(weight, 1, kTimeloopRulesOf2021),
                   counter.energy(weight, 1, kAllTimeloopRules));
}

}  // namespace
}  // namespace mapsim::timeloop_stats_test
