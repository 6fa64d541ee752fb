// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "arch/load.hpp"
#include "campaign/report_data.hpp"
#include "campaign/results.hpp"
#include "campaign/results_version.hpp"
#include "plan/campaign_chip.hpp"
#include "report/figures.hpp"
#include "tests/campaign/sweeps.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/yaml_example.hpp"
#include "workloads/load.hpp"

namespace mapsim::sweep_test {
namespace {

// Each row is what a search of that design alone finds.
TEST_F(Sweeps, FindWhatSearchesOneByOneFind) {
  const SweepSummary summary = run(grid(), "a.sqlite");
  EXPECT_EQ(summary.progress.points, 8);
  EXPECT_EQ(summary.progress.computed, 8);
  EXPECT_EQ(summary.statistics.mapped + summary.statistics.unmapped, 8);
  std::size_t row = 0;
  for (const std::int64_t bytes : {16, 64, 1024, 32768}) {
    Arch arch = load_arch(kConfigs + "arch/teaching.yaml");
    arch.levels[LevelId{1}].capacity.shared = Bits{8 * bytes};
    const Problem problem{arch, load_workload(kConfigs + "workloads/teaching/gemm.yaml")};
    for (Objective objective : {Objective::kEnergy, Objective::kLatency}) {
      objective.mode =
          objective == Objective::kEnergy ? LatencyMode::kSteady : LatencyMode::kRamped;
      SearchOptions options;
      options.objective = objective;
      const SearchResult alone = search_exact(Mapspace{problem, {}}, options);
      ASSERT_TRUE(alone.cost);
      EXPECT_EQ(cell("a.sqlite", row, "energy_pj"), Cell{alone.cost->energy.total.count()});
      EXPECT_EQ(cell("a.sqlite", row, "latency_cycles_ramped"),
                Cell{alone.cost->latency.ramped.count()});
      EXPECT_EQ(cell("a.sqlite", row, "status"), Cell{"optimal"});
      ++row;
    }
  }
}

TEST_F(Sweeps, ComputeOnlyWhatIsMissing) {
  const SweepSummary first = run(grid(), "a.sqlite");
  const std::vector<Record> rows = answers("a.sqlite");
  const SweepSummary again = run(grid(), "a.sqlite");
  EXPECT_EQ(again.progress.known, 8);
  EXPECT_EQ(again.progress.computed, 0);
  EXPECT_EQ(answers("a.sqlite"), rows);

  // One more value in the grid, four points more; comments, names and layout change nothing.
  edit("teaching.yaml", "name: teaching", "name:   instructive # as before");
  const SweepSummary more =
      run(campaign(
              "    grid: {nodes.Buffer.capacity: [16 B, 64 B, 0.0625 KiB, 2 KiB, 1 KiB, 32 KiB]}\n",
              "objectives: [energy, {minimize: latency, latency: ramped}]\n"),
          "a.sqlite");
  EXPECT_EQ(more.progress.points, 12);
  EXPECT_EQ(more.progress.computed, 2) << "64 B are 0.0625 KiB";

  // What a result depends on changes it.
  edit("teaching.yaml", "energy: {read: 100 pJ/word", "energy: {read: 101 pJ/word");
  EXPECT_EQ(run(grid(), "a.sqlite").progress.computed, 8);
  EXPECT_EQ(answers("a.sqlite").size(), 8);
}

TEST_F(Sweeps, GiveTheSameRowsWhateverTheThreadsAndShards) {
  run(grid(), "one.sqlite", 1);
  run(grid(), "four.sqlite", 4);
  EXPECT_EQ(answers("four.sqlite"), answers("one.sqlite"));
  Store whole{path("whole.sqlite"), Store::Open::kOrNew};
  for (std::size_t shard = 0; shard < 4; ++shard) {
    const std::string name = fmt::format("shard{}.sqlite", shard);
    EXPECT_EQ(run(grid(), name, 1, {shard, 4}).progress.points, 2);
    whole.merge(path(name));
  }
  EXPECT_EQ(answers("whole.sqlite"), answers("one.sqlite"));
  whole.merge(path("one.sqlite"));  // nothing new, no contradiction
  EXPECT_EQ(answers("whole.sqlite"), answers("one.sqlite"));
  for (std::size_t shard = 0; shard < 4; ++shard) {  // in turn into one database
    run(grid(), "turns.sqlite", 1, {shard, 4});
  }
  EXPECT_EQ(answers("turns.sqlite"), answers("one.sqlite"));
}

// A lost shard leaves points without an answer, not fewer points.
TEST_F(Sweeps, KnowOfThePointsOfOtherShards) {
  const SweepSummary second = run(grid(), "second.sqlite", 1, {1, 4});
  EXPECT_EQ(second.progress.points, 2);
  EXPECT_EQ(second.statistics.mapped, 2);
  EXPECT_EQ(second.statistics.missing, 0) << "of its own";
  Store whole{path("whole.sqlite"), Store::Open::kOrNew};
  whole.merge(path("second.sqlite"));
  EXPECT_EQ(whole.statistics(grid()).mapped, 2);
  EXPECT_EQ(whole.statistics(grid()).missing, 6);
}

// Results of other sources are other results, and this name tells them apart.
TEST_F(Sweeps, KeepResultsByTheSourcesOfTheProgram) {
  EXPECT_THAT(results_version(), testing::MatchesRegex("[0-9.]+-[0-9a-f]{12}"));
  run(grid(), "a.sqlite");
  Database{path("a.sqlite")}.execute("UPDATE results SET tool = '0.1.0-000000000000'");
  EXPECT_EQ(run(grid(), "a.sqlite").progress.computed, 8);
}

TEST_F(Sweeps, PriceWhatOnlyMovesData) {
  std::ofstream{path("net.yaml")} << "name: net\nlayers: [{workload: gemm.yaml, count: 3}]\n"
                                     "streams: [{name: act, kind: Relu, in: 64 B, out: 64 B, "
                                     "count: 5}]\nunpriced: {Magic: 2}\n";
  const Campaign asked = parse_campaign(
      "name: net\narchitectures: [{file: teaching.yaml}]\n"
      "networks: [net.yaml, {file: net.yaml, name: four, batch: 4}]\n",
      path("campaign.yaml"));
  const SweepSummary summary = run(asked, "a.sqlite");
  EXPECT_EQ(summary.progress.points, 4);
  EXPECT_THAT(summary_text(asked, summary), testing::HasSubstr("not priced: Magic, 2 x in four"));
  // 128 B at 8 B a cycle and 100 pJ a byte, read or written; a batch of 4 moves four times as much.
  EXPECT_EQ(cell("a.sqlite", 1, "status"), Cell{"priced"});
  EXPECT_EQ(cell("a.sqlite", 1, "energy_pj"), Cell{12'800.0});
  EXPECT_EQ(cell("a.sqlite", 1, "latency_cycles"), Cell{std::int64_t{16}});
  EXPECT_EQ(cell("a.sqlite", 3, "energy_pj"), Cell{4 * 12'800.0});
  const double layer = std::get<double>(cell("a.sqlite", 0, "energy_pj"));
  const std::string csv =
      results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kCsv});
  EXPECT_THAT(csv, testing::HasSubstr(fmt::format(",net,energy,steady,,none,exact,8,0,{},",
                                                  3 * layer + 5 * 12'800.0)));
  // What has no price is in no row, and in no sum; it stays known, in merged databases, too.
  EXPECT_THAT(csv, testing::HasSubstr(",2 x Magic\n"));
  Store{path("b.sqlite"), Store::Open::kOrNew}.merge(path("a.sqlite"));
  for (const Study& study : read_studies(path("b.sqlite"), "")) {
    EXPECT_THAT(study.unpriced, testing::ElementsAre("2 x Magic"));
  }
}

TEST_F(Sweeps, AskNothingTwice) {
  std::ofstream{path("net.yaml")} << "name: net\nlayers: [{workload: gemm.yaml}]\n";
  fs::copy_file(path("net.yaml"), path("other.yaml"));
  const auto error = [&](const std::string& rest) {
    return error_text([&] {
      parse_campaign("name: a\narchitectures: [{file: teaching.yaml}]\n" + rest, path("a.yaml"));
    });
  };
  EXPECT_THAT(error("networks: [net.yaml, other.yaml]\n"),
              testing::HasSubstr("a.yaml:3:22: networks[1]: a second network 'net'; give it a name "
                                 "of its own: {file: ..., name: ...}"));
  EXPECT_THAT(error("networks: [net.yaml]\nobjectives: [energy, edp, {minimize: energy^1}]\n"),
              testing::HasSubstr("objectives[2]: repeats an earlier item"));
  EXPECT_THAT(error("networks: [net.yaml]\nconstraints: [none, none]\n"),
              testing::HasSubstr("constraints[1]: a second 'none'"));
  EXPECT_THAT(error("networks: [{file: net.yaml, dims: {n: 3}}]\n"),
              testing::HasSubstr("net.yaml: dims and a width of operands are for ONNX models"));
}

// A value that the architecture refuses, a machine that is too small, constraints that contradict
// the layer, a search that does not exist: rows with reasons, and the rest goes on.
// Each value is good in itself; of the combinations one gives two levels the same name.
TEST_F(Sweeps, RecordBadPointsWithTheirReasons) {
  std::ofstream{path("rules.yaml")} << "mapspace:\n  keep: {Nowhere: [A]}\n";
  const SweepSummary summary = run(campaign("    grid: {'nodes[1].storage': [Buffer, Cache], "
                                            "'nodes[3].storage': [Registers, Cache]}\n",
                                            "constraints: [none, rules.yaml]\n"),
                                   "a.sqlite");
  EXPECT_EQ(summary.progress.computed, 8);
  EXPECT_EQ(summary.statistics.mapped, 3);
  EXPECT_EQ(summary.statistics.missing, 0);
  std::vector<std::string> reasons;
  for (std::size_t row = 0; row < 8; ++row) {
    if (cell("a.sqlite", row, "status") == Cell{"error"}) {
      reasons.push_back(std::get<std::string>(cell("a.sqlite", row, "reason")));
    }
  }
  using testing::HasSubstr;
  EXPECT_THAT(reasons,
              testing::UnorderedElementsAre(
                  HasSubstr("nodes[3].storage: the name 'Cache' is taken"),
                  HasSubstr("nodes[3].storage: the name 'Cache' is taken"),
                  HasSubstr("unknown level 'Nowhere'"), HasSubstr("unknown level 'Nowhere'"),
                  HasSubstr("unknown level 'Nowhere'")));
}

TEST_F(Sweeps, SayWhatDoesNotFit) {
  run(campaign("", "objectives: [{minimize: energy, max_latency: 1 cycle}]\n"), "a.sqlite");
  EXPECT_EQ(cell("a.sqlite", 0, "status"), Cell{"infeasible"});
  EXPECT_EQ(cell("a.sqlite", 0, "energy_pj"), Cell{});
  EXPECT_THAT(std::get<std::string>(cell("a.sqlite", 0, "reason")),
              testing::HasSubstr("latency limit (at least "));
}

TEST_F(Sweeps, OfNetworksAddUp) {
  const Campaign asked = parse_campaign(
      fmt::format("name: net\narchitectures:\n  - file: teaching.yaml\nnetworks: [net.yaml]\n"),
      [&] {
        std::ofstream{path("net.yaml")} << "name: net\nlayers:\n"
                                           "  - {workload: gemm.yaml, count: 3}\n"
                                           "  - {name: again, workload: gemm.yaml, count: 2}\n";
        return path("campaign.yaml");
      }());
  const SweepSummary summary = run(asked, "a.sqlite");
  EXPECT_EQ(summary.progress.points, 2);
  EXPECT_EQ(summary.progress.computed, 1) << "one shape, one search";
  const double each = std::get<double>(cell("a.sqlite", 0, "energy_pj"));
  const std::string csv =
      results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kCsv});
  EXPECT_THAT(csv,
              testing::HasSubstr(fmt::format(",net,energy,steady,,none,exact,5,0,{},", 5 * each)));
  // The area is that of the machine, however many layers it runs.
  const double area = std::get<double>(cell("a.sqlite", 0, "area_mm2"));
  EXPECT_THAT(csv, testing::HasSubstr(fmt::format(",{},1,", area)));
  EXPECT_THAT(results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kText}),
              testing::ContainsRegex(fmt::format("latency +area\n.* {:.4g} mm2\n", area)));
}

// A design that cannot run all layers has no sums, which would be small; layers that could not be
// read are missing, too. And whoever may only read a database can.
TEST_F(Sweeps, GiveNoSumsOfPartsOfNetworks) {
  std::ofstream{path("net.yaml")} << "name: net\nlayers: [{workload: gemm.yaml}]\nstreams: [{name: "
                                     "act, kind: Relu, in: 64 B, out: 64 B}]\nunpriced: "
                                     "{Conv_of_unknown_shape: 3, Magic: 2}\n";
  run(parse_campaign("name: a\narchitectures: [{file: teaching.yaml}]\nnetworks: [net.yaml]\n"
                     "objectives: [{minimize: energy, max_latency: 1 cycle}, energy]\n",
                     path("a.yaml")),
      "a.sqlite");
  fs::permissions(path("a.sqlite"), fs::perms::owner_read);
  const std::string csv =
      results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kCsv});
  EXPECT_THAT(csv, testing::HasSubstr(",net,energy,steady,latency 1 cycle,none,exact,2,4,,,,,"));
  EXPECT_THAT(csv, testing::HasSubstr(",net,energy,steady,,none,exact,2,3,"));
}

TEST_F(Sweeps, MergeRefusesContradictionsAndStrangers) {
  run(grid(), "a.sqlite");
  run(grid(), "b.sqlite");
  {
    Database database{path("b.sqlite")};
    database.execute("UPDATE results SET energy_pj = energy_pj + 1 WHERE status = 'optimal'");
  }
  const auto error = [&](const std::string& name) {
    Store store{path("a.sqlite"), Store::Open::kOrNew};
    return error_text([&] { store.merge(path(name)); });
  };
  EXPECT_THAT(error("b.sqlite"),
              testing::AllOf(testing::StartsWith(path("b.sqlite") + ": contradicts "),
                             testing::HasSubstr("the same of results (design ")));
  edit("gemm.yaml", "8", "16");
  run(grid(), "c.sqlite");
  EXPECT_THAT(error("c.sqlite"), testing::HasSubstr("the same of campaigns (campaign small)"));
  EXPECT_THAT(error("a.sqlite"), testing::HasSubstr("with itself"));
  EXPECT_EQ(error("none.sqlite"), path("none.sqlite") + ": no such file");
  EXPECT_EQ(error(""), path("") + ": is not a file; a database of 'mapsim sweep' is needed");
  std::ofstream{path("new.sqlite")};
  EXPECT_EQ(error("new.sqlite"),
            path("new.sqlite") +
                ": is empty: a sweep that could not begin left it; 'mapsim sweep' fills it");
  Database{path("other.sqlite")}.execute("CREATE TABLE t (a)");
  EXPECT_EQ(error("other.sqlite"), path("other.sqlite") + ": is not a database of mapsim");
  EXPECT_EQ(error("gemm.yaml"), path("gemm.yaml") + ": file is not a database");
  EXPECT_EQ(error_text([&] { run(grid(), "other.sqlite"); }),
            path("other.sqlite") + ": is not a database of mapsim");
}

// Every shape of CSV field: commas and quotes in the breakdown, lines in the mapping.
TEST_F(Sweeps, PrintTables) {
  run(grid(), "a.sqlite");
  // The second question is about ramped latency; the first one says nothing that need be said.
  const std::string both =
      results_table({"results", {}}, {path("a.sqlite"), "", false, ResultsFormat::kText});
  EXPECT_THAT(both, testing::HasSubstr("  objective  latency_mode   status"));
  EXPECT_THAT(both, testing::HasSubstr(grouped(
                        std::get<std::int64_t>(cell("a.sqlite", 1, "latency_cycles_ramped")))));
  EXPECT_THAT(both, testing::ContainsRegex("latency +area +utilization\n.* mm2 "));
  EXPECT_THAT(
      results_table({"results", {}}, {path("a.sqlite"), "", true, ResultsFormat::kText}),
      testing::HasSubstr("no point is of a network; without --networks all points are printed\n"));
  EXPECT_THAT(error_text([&] {
                results_table({"results", {}},
                              {path("a.sqlite"), "nope", false, ResultsFormat::kText});
              }),
              testing::HasSubstr("has no points of a campaign 'nope'"));
  const ResultsOptions options{path("a.sqlite"), "", false, ResultsFormat::kCsv};
  const std::string csv = results_table({"results", {}}, options);
  EXPECT_THAT(csv,
              testing::StartsWith("campaign,number,arch,nodes.Buffer.capacity,network,layer,"));
  EXPECT_THAT(csv, testing::HasSubstr("\nsmall,0,teaching,16 B,,teaching_gemm,1,energy,steady,,"
                                      "none,exact,optimal,,"));
  EXPECT_THAT(csv, testing::HasSubstr(",\"{\"\"DRAM\"\":{\"\"A\"\":"));
  const std::string text =
      results_table({"results", {}}, {path("a.sqlite"), "small", false, ResultsFormat::kText});
  EXPECT_THAT(text, testing::StartsWith("operands 8 b, "));  // then a head and a line a point
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(CampaignFile, SaysWhatIsWrong) {
  const std::string root = kSource;
  const std::vector<BadInput> cases = read_bad_inputs("campaign/data/bad_campaigns.txt");
  EXPECT_GE(cases.size(), 12);
  for (const BadInput& bad : cases) {
    std::string text = error_text(
        [&] { parse_campaign(bad.input + "\n", root + "/configs/campaigns/campaign.yaml"); });
    for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root)) {
      text.replace(at, root.size(), "ROOT");
    }
    EXPECT_EQ(text, bad.expected) << bad.name;
  }
}

TEST(CampaignFile, SuggestsTheNamesOfShippedFiles) {
  const auto problem = [](const std::string& work) {
    return error_text([&] {
      parse_campaign("name: c\narchitectures: [{file: teaching}]\n" + work + "\n", "c.yaml",
                     {kConfigs});
    });
  };
  EXPECT_THAT(
      problem("networks: [alexnett]"),
      ::testing::StartsWith("c.yaml:3:12: networks[0]: 'alexnett': no such file, and a "
                            "network of that name is not shipped; did you mean 'alexnet'?"));
  EXPECT_THAT(problem("workloads: [alexnet]"),
              ::testing::StartsWith("c.yaml:3:13: workloads[0]: 'alexnet': no such file; that is "
                                    "the name of a network, and a workload is needed here"));
  EXPECT_THAT(problem("constraints: [evenn]"), ::testing::HasSubstr("did you mean 'even'?"));
  EXPECT_THAT(error_text([&] {
                parse_campaign("architectures: [{file: eyeris}]\n", "c.yaml", {kConfigs});
              }),
              ::testing::HasSubstr(
                  "architectures[0].file: eyeris: no such file, and an architecture of that "
                  "name is not shipped; did you mean 'eyeriss'?"));
}

// A campaign that names shipped files can be copied to any folder.
TEST(CampaignFile, FindsShippedFilesByAPatternOfNames) {
  const auto read = [](const std::string& work) {
    return parse_campaign("name: c\narchitectures: [{file: teaching}]\n" + work + "\n",
                          "/nowhere/c.yaml", {kConfigs})
        .layers;
  };
  const auto layers = read("workloads: ['resnet50/conv2_*']");
  ASSERT_GE(layers.size(), 2U);
  const auto beside = parse_campaign(
      "name: c\narchitectures: [{file: teaching}]\nworkloads: "
      "[../workloads/resnet50/conv2_*.yaml]\n",
      kConfigs + "campaigns/c.yaml", {kConfigs});
  ASSERT_EQ(layers.size(), beside.layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(layers[i].workload.name, beside.layers[i].workload.name);
  }
  EXPECT_EQ(read("networks: ['alexne?']").size(), read("networks: [alexnet]").size());
  // A star does not cross a folder, and a path is no name.
  EXPECT_THAT(error_text([&] { read("workloads: ['resnet50*']"); }),
              ::testing::HasSubstr("workloads[0]: no such file: 'resnet50*'"));
  EXPECT_THAT(error_text([&] { read("workloads: ['../workloads/resnet50/*.yaml']"); }),
              ::testing::HasSubstr("no such file: '../workloads/resnet50/*.yaml'"));
}

TEST(CampaignFile, ReadsTheExampleOfTheDocuments) {
  const Campaign campaign =
      parse_campaign(yaml_example("Campaign"), kConfigs + "campaigns/campaign.yaml");
  EXPECT_EQ(campaign.designs(), 12);
  EXPECT_EQ(campaign.layers.size(), 26);
  EXPECT_EQ(campaign.questions.size(), 4);
  EXPECT_EQ(campaign.layers.back().network, "alexnet_4");
  EXPECT_EQ(campaign.layers.back().workload.macs(), 4 * campaign.layers[17].workload.macs());
  EXPECT_EQ(campaign.questions[3].constraints, "../constraints/even.yaml");
  EXPECT_EQ(campaign.questions[3].objective.max_energy, Picojoules{5e9});
}

// As many points as docs/campaigns.md says, and every design can be read.
TEST(CampaignFile, ReadsWhatIsShipped) {
  const std::map<std::string, std::size_t> shipped{{"teaching_buffers", 96},  {"networks", 468},
                                                   {"eyeriss_10k", 10'080},   {"gpu_designs", 288},
                                                   {"mobilenet_edge", 3'348}, {"orin_chips", 16}};
  for (const auto& [name, points] : shipped) {
    const Campaign campaign = load_campaign(kConfigs + "campaigns/" + name + ".yaml", {kConfigs},
                                            chip_reader({kConfigs}));
    EXPECT_EQ(campaign.name, name);
    EXPECT_EQ(campaign.points(), points) << name;
    std::set<std::string> contents;
    for (std::size_t i = 0; i < campaign.designs(); ++i) {
      const LoadedDesign loaded = load(design(campaign, i));
      EXPECT_EQ(loaded.reason, "");
      contents.insert(loaded.content.id);
    }
    EXPECT_EQ(contents.size(), campaign.designs()) << name;
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator{kConfigs + "campaigns"}) {
    files += entry.path().extension() == ".yaml" ? 1U : 0U;
  }
  EXPECT_EQ(files, shipped.size());
}

// The two questions of each design of this grid are in different shards in turn.
TEST_F(Sweeps, DivideEveryLayerAndQuestion) {
  const Campaign campaign = grid();
  for (std::size_t index = 0; index < 2; ++index) {
    std::set<std::size_t> questions;
    for (std::size_t i = 0; i < campaign.points(); ++i) {
      if (Shard{index, 2}.has(campaign, i)) {
        questions.insert(point_index(campaign, i).question);
      }
    }
    EXPECT_EQ(questions.size(), 2);
  }
}

// However many points a design has, one included.
TEST(Shards, DifferByFewPoints) {
  for (const std::size_t layers : {1, 2, 3, 5, 8}) {
    for (const std::size_t shards : {2, 3, 4, 8}) {
      Campaign campaign;
      campaign.layers.resize(layers);
      campaign.questions.resize(1);
      campaign.machines.resize(1);
      campaign.machines[0].list.resize(1);
      campaign.machines[0].grid = {{"clock", std::vector<Node>(24)}};
      std::vector<std::size_t> sizes(shards, 0);
      for (std::size_t i = 0; i < campaign.points(); ++i) {
        for (std::size_t shard = 0; shard < shards; ++shard) {
          sizes[shard] += Shard{shard, shards}.has(campaign, i) ? 1U : 0U;
        }
      }
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      EXPECT_EQ(*least, *most) << layers << " layers, " << shards << " shards";
    }
  }
}

TEST(CampaignFile, NumbersItsPointsWithDesignsSlowest) {
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures:\n"
      "  - file: ../arch/teaching.yaml\n"
      "    list:\n      - {clock: 1 GHz}\n      - {clock: 2 GHz}\n"
      "    grid: {nodes.PEs.x: [2, 4, 8], nodes.PEs.y: [1, 2]}\n"
      "  - {name: other, file: ../arch/teaching.yaml}\n"
      "workloads: [../workloads/teaching/*.yaml]\nobjectives: [energy, edp, latency]\n",
      kConfigs + "campaigns/campaign.yaml");
  EXPECT_EQ(campaign.designs(), 13);
  EXPECT_EQ(campaign.points(), 78);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < 13; ++i) {
    seen.insert(load(design(campaign, i)).content.text);
  }
  EXPECT_EQ(seen.size(), 13) << "none twice: " << load(design(campaign, 12)).content.text;
  const Design tenth = design(campaign, 9);
  ASSERT_EQ(tenth.settings.size(), 3);
  EXPECT_EQ(tenth.settings[0].value.text, "2 GHz");
  EXPECT_EQ(tenth.settings[1].value.text, "4");
  EXPECT_EQ(tenth.settings[2].value.text, "2");
  EXPECT_EQ(design(campaign, 12).machine->name, "other");
  const PointIndex index = point_index(campaign, 77);
  EXPECT_EQ(index.design, 12);
  EXPECT_EQ(index.layer, 1);
  EXPECT_EQ(index.question, 2);
}

}  // namespace
}  // namespace mapsim::sweep_test
