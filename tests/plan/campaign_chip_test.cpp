// SPDX-License-Identifier: Apache-2.0
#include "plan/campaign_chip.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "campaign/network_file.hpp"
#include "campaign/report.hpp"
#include "campaign/results.hpp"
#include "core/diagnostic.hpp"
#include "plan/plan.hpp"
#include "plan/soc.hpp"
#include "plan/throughput.hpp"
#include "report/page.hpp"
#include "tests/campaign/sweeps.hpp"

namespace mapsim::campaign_chip_test {
namespace {

using testing::HasSubstr;

// A folder with a chip of two engines and a small graph.
class ChipSweeps : public Sweeps {
 protected:
  ChipSweeps() {
    std::ofstream{path("chip.yaml")}
        << "name: chip\nsoc:\n"
           "  memory: {bandwidth: 16 GB/s, capacity: 1 GB, energy: {read: 100 pJ/B, write: 100 "
           "pJ/B}}\n"
           "  power: 5 W\n"
           "  engines:\n"
           "    - {name: small, arch: nv_small, overhead: 1 us, formats: [linear]}\n"
           "    - {name: large, arch: nv_large, overhead: 2 us, formats: [tiled], operators: "
           "[Conv, Gemm]}\n"
           "  transitions:\n"
           "    - {from: small, to: large, sync: 1 us, reformat: small}\n"
           "    - {from: large, to: small, sync: 1 us, reformat: small}\n";
    std::ofstream{path("graph.yaml")}
        << "name: net\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
           "inputs: {x: {shape: [1, 32, 14, 14]}}\ngraph:\n"
           "  - {name: a, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: x}\n"
           "  - {name: p, op: MaxPool, kernel: 2, stride: 2, in: a}\n"
           "  - {name: b, conv2d: {out_channels: 64, kernel: 3, padding: 1}, in: p}\n";
  }
  Campaign chips(const std::string& rest, const std::string& settings = "") const {
    return parse_campaign("name: chips\narchitectures:\n  - file: chip.yaml\n" + settings + rest,
                          path("chips.yaml"), {kConfigs}, chip_reader({kConfigs}));
  }
  // Place and message of the first thing that is wrong.
  std::string problem(const std::string& rest, const std::string& settings = "") const {
    try {
      chips(rest, settings);
    } catch (const ConfigError& error) {
      const Diagnostic& first = error.diagnostics().front();
      return fmt::format("{}:{}: {}", first.line, first.column, first.message);
    }
    return "";
  }
  double number(std::size_t row, const std::string& column) const {
    return std::get<double>(cell("a.sqlite", row, column));
  }
};

const std::string kNet = "networks: [graph.yaml]\n";
const std::string kGrid =
    "    grid: {soc.memory.bandwidth: [1 GB/s, 16 GB/s], soc.engines.large.count: [1, 2]}\n";
const std::string kAll = "objectives: [latency, energy, throughput]\n";

// Each row is what `plan` says of the network on that chip.
TEST_F(ChipSweeps, RowsArePlans) {
  const Campaign asked = chips(kNet + kAll, kGrid);
  const SweepSummary summary = run(asked, "a.sqlite");
  EXPECT_EQ(summary.statistics.mapped, 12) << summary_text(asked, summary);
  Soc soc = load_soc(path("chip.yaml"), {kConfigs});
  const Network network = read_network(path("graph.yaml"), {});
  std::size_t row = 0;
  for (const char* rate : {"1 GB/s", "16 GB/s"}) {
    for (const std::int64_t count : {1, 2}) {
      Document document = read_yaml(path("chip.yaml"));
      Node value;
      value.text = rate;
      value.kind = Node::Kind::kScalar;
      for (Entry& entry : document.root.entries) {
        if (entry.key.text == "soc") {
          entry.value.entries[0].value.entries[0].value = value;
        }
      }
      soc = read_soc(document, {kConfigs});
      soc.engines[1].count = count;
      PlanOptions options;
      const PlanAnswer fastest = make_plan(soc, network, options, "chip", "net");
      options.objective = PlanObjective::kEnergy;
      const PlanAnswer least = make_plan(soc, network, options, "chip", "net");
      options.objective = PlanObjective::kThroughput;
      const StreamAnswer stream = make_stream(soc, {&network, &network}, {1, 1}, options, "", "");
      EXPECT_EQ(number(row, "latency_seconds"), fastest.plan.total.latency);
      EXPECT_EQ(number(row, "energy_pj"), fastest.plan.total.energy);
      EXPECT_EQ(number(row, "lower_bound"), fastest.bound);
      EXPECT_EQ(number(row + 1, "energy_pj"), least.plan.total.energy);
      EXPECT_EQ(number(row + 2, "latency_seconds"), 1 / stream.rate);
      EXPECT_EQ(number(row + 2, "lower_bound"), 1 / stream.bound);
      for (std::size_t i = row; i < row + 3; ++i) {
        EXPECT_EQ(cell("a.sqlite", i, "status"), Cell{"optimal"});
        EXPECT_EQ(number(i, "gap"), 0);
        EXPECT_EQ(cell("a.sqlite", i, "macs"), Cell{network.macs()});
      }
      row += 3;
    }
  }
  EXPECT_GT(number(0, "latency_seconds"), number(6, "latency_seconds")) << "more bandwidth";
  EXPECT_EQ(cell("a.sqlite", 2, "objective"), Cell{"throughput"});
  EXPECT_THAT(std::get<std::string>(cell("a.sqlite", 0, "mapping")), HasSubstr("plan:\n"));
  EXPECT_THAT(
      std::get<std::string>(cell("a.sqlite", 2, "mapping")),
      HasSubstr(
          fmt::format("frames_per_second: {}", 1 / number(2, "latency_seconds")).substr(0, 22)));
  EXPECT_THAT(results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kCsv}),
              HasSubstr(",net,throughput,steady,,none,exact,1,0,"));
}

// Frames of a stream run in the batches of their network.
TEST_F(ChipSweeps, OfBatchesStreamByTheFrame) {
  const std::string batched = "networks: [{file: graph.yaml, batch: 4}]\n";
  run(chips(batched + "objectives: [throughput]\n", ""), "a.sqlite");
  const Soc soc = load_soc(path("chip.yaml"), {kConfigs});
  OnnxOptions four;
  four.batch = 4;
  const Network network = read_network(path("graph.yaml"), four);
  PlanOptions options;
  options.objective = PlanObjective::kThroughput;
  const StreamAnswer stream = make_stream(soc, {&network, &network}, {4, 4}, options, "", "");
  EXPECT_EQ(number(0, "latency_seconds"), 1 / stream.rate);
}

TEST_F(ChipSweeps, GoOnAndShareRowsByContent) {
  EXPECT_EQ(run(chips(kNet, kGrid), "a.sqlite").progress.computed, 4) << "latency is the default";
  EXPECT_EQ(run(chips(kNet, kGrid), "a.sqlite").progress.computed, 0);
  EXPECT_EQ(
      run(chips(kNet, "    grid: {soc.memory.bandwidth: [1 GB/s, 16 GB/s, 2 GB/s]}\n"), "a.sqlite")
          .progress.computed,
      3)
      << "the count is not written in the file, which is another text";
  edit("graph.yaml", "kernel: 2, stride: 2", "kernel: 3, stride: 2");
  EXPECT_EQ(run(chips(kNet, kGrid), "a.sqlite").progress.computed, 4) << "another graph";
  run(chips(kNet + kAll, kGrid), "one.sqlite", 1);
  Store whole{path("whole.sqlite"), Store::Open::kOrNew};
  for (std::size_t shard = 0; shard < 2; ++shard) {
    const std::string name = fmt::format("shard{}.sqlite", shard);
    run(chips(kNet + kAll, kGrid), name, 1, {shard, 2});
    whole.merge(path(name));
  }
  EXPECT_EQ(answers("whole.sqlite"), answers("one.sqlite"));
}

// Limits that no plan keeps, operators that no engine runs, and engines that are no others'.
TEST_F(ChipSweeps, RecordWhyThereIsNoPlan) {
  run(chips(kNet + "objectives: [{minimize: energy, max_latency: 1 ns}, {minimize: energy, "
                   "max_latency: 1 s}]\n",
            "    list: [{}, {soc.engines.small.operators: [Conv]}]\n"),
      "a.sqlite");
  EXPECT_EQ(cell("a.sqlite", 0, "status"), Cell{"infeasible"});
  EXPECT_EQ(cell("a.sqlite", 1, "status"), Cell{"optimal"});
  EXPECT_EQ(cell("a.sqlite", 2, "status"), Cell{"error"});
  EXPECT_THAT(std::get<std::string>(cell("a.sqlite", 2, "reason")), HasSubstr("MaxPool"));
}

// Siblings whose runs fill the memory for groups stand before two that had better be one kernel.
TEST_F(ChipSweeps, BoundNothingOfGroupsThatMemoryWasShortFor) {
  std::string graph =
      "name: net\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\ninputs:\n";
  const std::string first(20'000, 'x');  // it is in the reason of each group
  graph += fmt::format(
      "  ? {}\n  : {{shape: [1, 8, 4, 4]}}\n  y: {{shape: [1, 8, 4, 4]}}\ngraph:\n", first);
  for (int i = 0; i < 26; ++i) {
    graph += fmt::format("  - {{name: c{}, conv2d: {{out_channels: 8, kernel: 1}}, in: {}}}\n", i,
                         i < 24 ? first : "y");
  }
  std::ofstream{path("graph.yaml")} << graph;
  constexpr std::size_t kFew = 8 << 20;
  const std::string text = "name: chips\narchitectures:\n  - file: chip.yaml\n" + kNet + kAll;
  run(parse_campaign(text, path("chips.yaml"), {kConfigs}, chip_reader({kConfigs})), "a.sqlite");
  run(parse_campaign(text, path("chips.yaml"), {kConfigs}, chip_reader({kConfigs}, kFew)),
      "few.sqlite");
  for (std::size_t row = 0; row < 3; ++row) {
    const std::string value = row == 1 ? "energy_pj" : "latency_seconds";
    EXPECT_EQ(cell("a.sqlite", row, "status"), Cell{"optimal"});
    EXPECT_LE(std::get<double>(cell("few.sqlite", row, "lower_bound")), number(row, value)) << row;
    EXPECT_EQ(cell("few.sqlite", row, "status"), Cell{"bounded"});
    EXPECT_EQ(cell("few.sqlite", row, "gap"), Cell{});
  }
  EXPECT_GT(std::get<double>(cell("few.sqlite", 0, "latency_seconds")),
            number(0, "latency_seconds"));
}

TEST_F(ChipSweeps, RefuseWhatPlansDoNotAnswer) {
  std::ofstream{path("list.yaml")} << "name: list\nlayers: [{workload: gemm.yaml}]\n";
  EXPECT_THAT(problem("networks: [list.yaml]\n"), HasSubstr("4:12: "));
  EXPECT_THAT(problem("networks: [list.yaml]\n"), HasSubstr("has no edges"));
  EXPECT_THAT(problem("workloads: [gemm.yaml]\n"), HasSubstr("4:12: 'workloads' is about single"));
  EXPECT_THAT(problem(kNet + "strategy: random\n"), HasSubstr("5:11: 'strategy'"));
  EXPECT_THAT(problem(kNet + "objectives: [latency, edp]\n"), HasSubstr("5:23: edp is not"));
  EXPECT_THAT(problem(kNet + "objectives: [{minimize: latency, latency: ramped}]\n"),
              HasSubstr("5:14: ramped latency"));
  EXPECT_THAT(problem(kNet + "objectives: [{minimize: throughput, max_latency: 1 ms}]\n"),
              HasSubstr("only those of least energy have a limit"));
  EXPECT_THAT(problem(kNet + "objectives: [{minimize: energy, max_latency: 5 cycles}]\n"),
              HasSubstr("give a time"));
  EXPECT_THAT(problem(kNet, "    grid: {soc.memory.speed: [1 GB/s]}\n"), HasSubstr("speed"));
  EXPECT_THAT(problem(kNet, "    grid: {soc.memory.bandwidth: [1 GB/cycle]}\n"),
              HasSubstr("4:35: '1 GB/cycle' is a rate by the cycle"));
  EXPECT_THAT(problem(kNet, "    precision: f16\n"), HasSubstr("4:16: "));
  EXPECT_THAT(problem(kNet, "  - file: teaching.yaml\n"), HasSubstr("beside architectures"));
  try {
    parse_campaign(
        "name: c\narchitectures: [{file: teaching.yaml}]\nworkloads: [gemm.yaml]\n"
        "objectives: [throughput]\n",
        path("c.yaml"));
    ADD_FAILURE() << "one engine has no stream of frames";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.diagnostics().front().message,
                HasSubstr("throughput is an objective of chips"));
  }
}

TEST_F(ChipSweeps, AreNoSpacesOfDesigns) {
  try {
    load_design_space(kConfigs + "campaigns/orin_chips.yaml", {}, {kConfigs});
    ADD_FAILURE() << "a design is one machine";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.diagnostics().front().message, HasSubstr("a chip, not an architecture"));
  }
}

TEST_F(ChipSweeps, AreInReports) {
  run(chips(kNet + kAll, kGrid), "a.sqlite");
  const ReportInput input{"", {"a.sqlite"}, {read_studies(path("a.sqlite"), ""), {}, {}}, {}, {}};
  ASSERT_EQ(input.results.studies.size(), 3U);
  const Study& stream = input.results.studies[2];
  EXPECT_EQ(stream.question(), "most throughput");
  ASSERT_NE(stream.best(), nullptr);
  EXPECT_NEAR(stream.best()->seconds(), number(11, "latency_seconds"), 1e-12);
  EXPECT_THAT(page_html(report_page(input)),
              HasSubstr("12 with a mapping, 12 of them proven optimal"));
}

TEST_F(ChipSweeps, StopWhenTheyAreTold) {
  const Campaign asked = chips(kNet);
  const std::atomic<bool> stop{true};
  EXPECT_FALSE(solve(asked, load(design(asked, 0)), asked.layers[0], asked.questions[0], stop));
}

}  // namespace
}  // namespace mapsim::campaign_chip_test
