// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::interop_test {
namespace {

namespace fs = std::filesystem;

const std::string kDesign =
    source_path("tests/golden/timeloop/t257_pe8x1_rf__gemm_100_imperfect.yaml");

class Interop : public InFolder {
 protected:
  int run(const std::string& arguments) const {
    return shell(fmt::format("'{}' {}", kProgram, arguments));
  }
};

TEST_F(Interop, ImportsEvaluatesAndExportsTheSameMapping) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  ASSERT_EQ(run("eval in/arch.yaml in/workload.yaml in/mapping.yaml --json"), 0);
  ASSERT_EQ(run("export timeloop in/arch.yaml in/workload.yaml in/mapping.yaml -o map.yaml"), 0);
  // The written mapping in place of the design's own makes the same mapping again.
  const std::string design = contents(kDesign);
  const std::string map = contents(folder() / "map.yaml");
  std::ofstream{folder() / "again.yaml"} << design.substr(0, design.find("mapping:")) << map;
  ASSERT_EQ(run("import timeloop again.yaml -o again"), 0);
  EXPECT_EQ(contents(folder() / "again/mapping.yaml"), contents(folder() / "in/mapping.yaml"));
  EXPECT_NE(contents(folder() / "in/mapping.yaml"), "");
}

// What the last line of an import says can be done, whether the search takes the design or not.
TEST_F(Interop, SaysWhatToDoNext) {
  const std::string design = contents(source_path("tests/app/data/timeloop_gemm.yaml"));
  const std::string zeros =
      "\nsparse_optimizations:\n  targets:\n"
      "  - name: RF\n    representation_format: {data_spaces: [{name: A, ranks: [{format: UOP}, "
      "{format: CP}]}]}\n"
      "    action_optimization: [{type: gating, target: B, condition_on: [A]}]\n";
  std::string sparse = design;
  sparse.replace(sparse.find("K: 4}"), 5,
                 "K: 4, densities: {A: {distribution: hypergeometric, density: 0.5}}}");
  std::ofstream{folder() / "dense.yaml"} << design;
  std::ofstream{folder() / "sparse.yaml"} << sparse << zeros;
  std::ofstream{folder() / "unmapped.yaml"} << sparse.substr(0, sparse.find("mapping:"))
                                            << zeros.substr(1);
  const auto next = [&](const std::string& name) {
    EXPECT_EQ(run(fmt::format("import timeloop {0}.yaml -o {0}", name)), 0)
        << contents(folder() / "stderr");
    const std::string text = contents(folder() / "stdout");
    const std::size_t at = text.find("\nnext: mapsim ");
    return at == std::string::npos ? "" : text.substr(at + 14, text.find('\n', at + 1) - at - 14);
  };
  for (const auto& [name, command] :
       {std::pair{"dense", "search "}, std::pair{"sparse", "eval "}}) {
    const std::string said = next(name);
    EXPECT_EQ(said.find(command), 0U) << said;
    EXPECT_EQ(run(said), 0) << said << contents(folder() / "stderr");
  }
  EXPECT_EQ(next("unmapped"), "");
  EXPECT_NE(contents(folder() / "stdout").find("note: mapsim search refuses this: a machine with"),
            std::string::npos);
}

// What Timeloop printed, and the same with one figure that no rule makes.
TEST_F(Interop, ComparesADesignWithWhatTimeloopPrinted) {
  const std::string data = source_path("tests/app/data/timeloop_gemm");
  const std::string command = fmt::format("compare timeloop {}.yaml --stats ", data);
  ASSERT_EQ(run(command + data + ".stats.txt"), 0) << contents(folder() / "stderr");
  EXPECT_EQ(contents(folder() / "stdout").find("36 figures: 36 equal, 0 derived"), 0U)
      << contents(folder() / "stdout");
  std::string stats = contents(data + ".stats.txt");
  const std::string fills = "fills (per-instance)              : 12";
  stats.replace(stats.find(fills), fills.size(), "fills (per-instance)              : 13");
  std::ofstream{folder() / "other.txt"} << stats;
  ASSERT_EQ(run(command + "other.txt"), 1);
  EXPECT_NE(contents(folder() / "stdout").find("unexplained\n"), std::string::npos);
  ASSERT_EQ(run(command + "other.txt --json"), 1);
  const auto json = nlohmann::json::parse(contents(folder() / "stdout"))["comparison"];
  EXPECT_EQ(json["equal"], 35);
  EXPECT_EQ(json["unexplained"], 1);
  EXPECT_EQ(run("compare timeloop other.txt --stats other.txt"), 2);
}

// Sums that are filled at their first visit, too, as by the Timeloop of 2021.
TEST_F(Interop, NamesTheVersionThatExplainsAll) {
  const std::string data = source_path("tests/app/data/timeloop_gemm");
  std::string stats = contents(data + ".stats.txt");
  for (const auto& [old, other] :
       {std::pair<std::string, const char*>{"fills (per-instance)              : 0",
                                            "fills (per-instance)              : 6"},
        {"66.00 pJ", "78.00 pJ"},
        {"66.00 pJ", "78.00 pJ"}}) {
    stats.replace(stats.find(old), old.size(), other);
  }
  std::ofstream{folder() / "older.txt"} << stats;
  const std::string command = fmt::format("compare timeloop {}.yaml --stats older.txt", data);
  ASSERT_EQ(run(command), 1);
  const std::string said = contents(folder() / "stdout");
  EXPECT_NE(said.find("4 unexplained\nby the rules of another version none is unexplained: "
                      "--timeloop-version 2021\n"),
            std::string::npos)
      << said;
  ASSERT_EQ(run(command + " --timeloop-version 2021"), 0);
  EXPECT_EQ(contents(folder() / "stdout").find("another version"), std::string::npos);
  ASSERT_EQ(run(command + " --timeloop-version 2020 --json"), 1);
  const auto json = nlohmann::json::parse(contents(folder() / "stdout"))["comparison"];
  EXPECT_EQ(json["closer"]["version"], "2021");
  EXPECT_EQ(json["closer"]["unexplained"], 0);
  // The rules that a figure does not need are not named.
  for (const auto& figure : json["figures"]) {
    if (figure["figure"] == "fills" && figure["where"] == "RF Z") {
      EXPECT_EQ(figure["rules"], nlohmann::json::array({"first visits fill sums"}));
    }
  }
}

// Without an ERT ours are by our own tables, which say nothing about Timeloop's energies.
TEST_F(Interop, ComparesNoEnergiesOfOtherTables) {
  const std::string data = source_path("tests/app/data/timeloop_gemm");
  std::string design = contents(data + ".yaml");
  const std::size_t table = design.find("ERT:");
  design.erase(table, design.find("\nproblem:") - table);
  std::ofstream{folder() / "design.yaml"} << design;
  const std::string command =
      fmt::format("compare timeloop design.yaml --stats {}.stats.txt", data);
  ASSERT_EQ(run(command), 0) << contents(folder() / "stdout");
  const std::string said = contents(folder() / "stdout");
  EXPECT_NE(said.find("0 unexplained\n"), std::string::npos) << said;
  EXPECT_NE(said.find("energies are not compared: there is no ERT"), std::string::npos) << said;
  EXPECT_NE(said.find("own tables"), std::string::npos);
  ASSERT_EQ(run(command + " --json"), 0);
  const auto json = nlohmann::json::parse(contents(folder() / "stdout"))["comparison"];
  EXPECT_EQ(json["equal"].get<int>() + json["not_compared"].get<int>(), 36);
  EXPECT_GT(json["not_compared"], 2);
}

// One command: what ZigZag says, its mapping in our model, and the optimum of its unrolling.
TEST_F(Interop, ComparesAMappingOfZigzagWithTheOptimum) {
  const std::string data = source_path("tests/app/data/zigzag_");
  ASSERT_EQ(run(fmt::format("compare zigzag {0}machine.yaml {0}result.json --json", data)), 0)
      << contents(folder() / "stderr");
  const auto compared = nlohmann::json::parse(contents(folder() / "stdout"));
  EXPECT_EQ(compared["inputs"].size(), 2U);
  EXPECT_EQ(compared["inputs"]["design"]["path"], data + "machine.yaml");
  EXPECT_EQ(compared["inputs"]["design 2"]["path"], data + "result.json");
  const auto figures = compared["comparison"]["figures"];
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[0]["theirs"], 1800.5);
  EXPECT_EQ(figures[1]["theirs"], 52);
  for (const auto& figure : figures) {
    EXPECT_EQ(figure["best"], figure["lower_bound"]);
    EXPECT_LE(figure["best"], figure["ours"]);
  }
  ASSERT_EQ(run(fmt::format("import zigzag {0}machine.yaml {0}result.json -o in", data)), 0);
  EXPECT_NE(contents(folder() / "stdout")
                .find("\nnext: mapsim search in/arch.yaml in/_block_gemm.workload.yaml "
                      "--constraints in/_block_gemm.constraints.yaml\n"),
            std::string::npos);
  ASSERT_EQ(run("eval in/arch.yaml in/_block_gemm.workload.yaml in/_block_gemm.mapping.yaml "
                "--why --constraints in/_block_gemm.constraints.yaml --json"),
            0);
  const auto eval = nlohmann::json::parse(contents(folder() / "stdout"));
  EXPECT_EQ(eval["cost"]["energy_pj"], figures[0]["ours"]);
  ASSERT_EQ(run(fmt::format("compare zigzag {0}machine.yaml", data)), 2);
  EXPECT_NE(contents(folder() / "stderr").find("one layer that ZigZag has mapped"),
            std::string::npos);
  for (const std::string option : {"--set a=1", "--stats s.txt", "--ert e.yaml", "--counts-only",
                                   "--timeloop-version 2020", "--all"}) {
    ASSERT_EQ(run(fmt::format("compare zigzag {0}machine.yaml {0}result.json {1}", data, option)),
              2);
    EXPECT_EQ(contents(folder() / "stderr"), fmt::format("mapsim: {}: only for compare timeloop\n",
                                                         option.substr(0, option.find(' '))));
  }
  EXPECT_EQ(run("compare timeloop in/arch.yaml"), 2);
}

// The design's mapping has partial tiles, which the space of perfect factors has not: what it saves
// against the optimum there is no gap.
TEST_F(Interop, ClaimsNoGapOfAMappingOutsideOfTheSpace) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  const std::string files = "in/arch.yaml in/workload.yaml ";
  ASSERT_EQ(run("eval " + files + "in/mapping.yaml --why"), 0) << contents(folder() / "stderr");
  const std::string perfect = contents(folder() / "stdout");
  EXPECT_NE(
      perfect.find("  the mapping lies outside of the searched space: tiles of 22 of M in "
                   "tiles of 100 are partial; --imperfect searches a space with such tiles\n"),
      std::string::npos)
      << perfect;
  EXPECT_NE(perfect.find(" the proven optimum of that space in energy"), std::string::npos);
  ASSERT_EQ(run("eval " + files + "in/mapping.yaml --why --imperfect --budget-labels 100"), 0);
  const std::string imperfect = contents(folder() / "stdout");
  EXPECT_NE(imperfect.find("searched space: tiles of 22 of M are no extents of this space\n"),
            std::string::npos)
      << imperfect;
  // What the search finds is a member, and nothing is above it but the bound.
  ASSERT_EQ(run("search " + files + "--imperfect --budget-labels 100 --save-mapping best.yaml"), 0);
  ASSERT_EQ(run("eval " + files + "best.yaml --why --imperfect --budget-labels 100"), 0);
  const std::string best = contents(folder() / "stdout");
  EXPECT_EQ(best.find("outside"), std::string::npos) << best;
  EXPECT_NE(best.find("\n  0.0 % above the "), std::string::npos) << best;
  EXPECT_EQ(run("eval " + files + "best.yaml --imperfect"), 2);  // only with --why
}

// The space of the design itself: what it forbids is no optimum to be held against.
TEST_F(Interop, HoldsAMappingAgainstTheDesignsOwnSpace) {
  std::ofstream{folder() / "constrained.yaml"}
      << contents(kDesign) << "constraints:\n- {target: GLB, type: bypass, keep: [Weights]}\n";
  ASSERT_EQ(run("import timeloop constrained.yaml -o in"), 0) << contents(folder() / "stderr");
  const std::string files = "in/arch.yaml in/workload.yaml ";
  ASSERT_EQ(run("search " + files + "--save-mapping best.yaml --explain-energy"), 0);
  EXPECT_NE(contents(folder() / "stdout").find("\nwhere the energy goes, count x width x each:\n"),
            std::string::npos);
  ASSERT_EQ(run("eval " + files + "best.yaml --why --constraints in/constraints.yaml"), 0);
  const std::string text = contents(folder() / "stdout");
  // Of equally good mappings any may be found: what it lacks first is not said here.
  EXPECT_NE(text.find("\n  the mapping lies outside of the searched space: "), std::string::npos)
      << text;
  ASSERT_EQ(run("search " + files + "--constraints in/constraints.yaml --save-mapping own.yaml"),
            0);
  ASSERT_EQ(run("eval " + files + "own.yaml --why --constraints in/constraints.yaml"), 0);
  EXPECT_NE(contents(folder() / "stdout").find("\n  0.0 % above the proven optimum in energy"),
            std::string::npos);
}

// Where the numbers come from stands beside them, and a complaint about constraints is about the
// design.
TEST_F(Interop, NamesTheFilesOfTheDesign) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  EXPECT_NE(
      contents(folder() / "in/arch.yaml")
          .find(fmt::format("  - storage: GLB\n    # energies by {}: read by 'read', write by "
                            "'write', update by 'update', leakage by 'leak'\n",
                            kDesign)),
      std::string::npos);
  std::ofstream{folder() / "torn.yaml"}
      << contents(kDesign) << "constraints:\n- {target: GLB, type: temporal, factors: M=50}\n"
      << "- {target: RF, type: temporal, factors: M=4}\n";
  EXPECT_EQ(run("import timeloop torn.yaml -o torn"), 2);
  const std::string error = contents(folder() / "stderr");
  EXPECT_EQ(
      error.find("torn.yaml: the constraints of the mapspace cannot hold here: the factors of "
                 "M do not divide its bound 100, of "),
      0U)
      << error;
}

TEST_F(Interop, WritesNothingOfABadDesign) {
  const std::string design = contents(kDesign);
  std::ofstream{folder() / "bad.yaml"} << design.substr(0, design.find("ERT:")) << "frob: 1\n";
  EXPECT_EQ(run("import timeloop bad.yaml -o out"), 2);
  EXPECT_FALSE(fs::exists(folder() / "out"));
  EXPECT_EQ(run("import scaleslim bad.yaml -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "mapsim: FORMAT: no format 'scaleslim'; did you mean 'scalesim'?\n");
  std::ofstream{folder() / "good.yaml"} << design;
  EXPECT_EQ(run("import timeloop good.yaml -o -"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "mapsim: -o: '-' names no folder; the files go to a folder (./- is one)\n");
  EXPECT_FALSE(fs::exists(folder() / "-"));
}

TEST_F(Interop, ImportsScaleSimReadyToEvaluateAndToSearch) {
  std::ofstream{folder() / "small.cfg"}
      << "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 4\n"
         "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nOfmapSramSzkB: 4\nDataflow: ws\n";
  std::ofstream{folder() / "net.csv"}
      << "Layer, IFMAP H, IFMAP W, Filter H, Filter W, Channels, Filters, Strides,\n"
         "first, 10, 10, 3, 3, 4, 8, 1,\nDP second, 10, 10, 3, 3, 4, 1, 2,\nfirst, 6, 6, 1, 1, 4, "
         "8, 1,\n";
  ASSERT_EQ(run("import scalesim small.cfg net.csv -o net"), 0) << contents(folder() / "stderr");
  EXPECT_NE(contents(folder() / "stdout")
                .find("note: DP_second: SCALE-Sim rounds the output up to "
                      "25 pixels; 16 have a whole window\n"),
            std::string::npos);
  EXPECT_NE(contents(folder() / "stdout").find("note: convolutions have three figures: "),
            std::string::npos);
  const std::string printed = contents(folder() / "stdout");
  EXPECT_NE(printed.find("\nnext: mapsim search net/arch.yaml net/first.workload.yaml "
                         "--objective latency\n"),
            std::string::npos)
      << printed;
  // The cycles that SCALE-Sim prints, and ours of the same dataflow; three layers and a heading.
  EXPECT_NE(
      printed.find("(more: net/scalesim.csv, and mapsim eval net/arch.yaml net/first.gemm.yaml "
                   "net/first.mapping.yaml):\n"
                   "  layer      copies  cycles: SCALE-Sim  mapsim\n"
                   "  first           1                819     820\n"),
      std::string::npos)
      << printed;
  EXPECT_EQ(std::ranges::count(printed.substr(printed.find("one copy of each layer")), '\n'), 6);
  for (const char* layer : {"first", "DP_second", "first_2"}) {
    ASSERT_EQ(run(fmt::format("eval net/arch.yaml net/{0}.gemm.yaml net/{0}.mapping.yaml", layer)),
              0)
        << contents(folder() / "stderr");
    ASSERT_EQ(run(fmt::format("search net/arch.yaml net/{}.workload.yaml", layer)), 0)
        << contents(folder() / "stderr");
  }
  // F = ceil(36 / 8) ceil(8 / 4) folds of T + 2 R + C - 2 = 64 + 16 + 4 - 2 cycles.
  const std::string table = contents(folder() / "net/scalesim.csv");
  EXPECT_NE(table.find("\nfirst,1,10,819,"), std::string::npos) << table;
  EXPECT_NE(table.find(",820,820,"), std::string::npos) << table;
}

constexpr const char* kGivenBandwidth =
    "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 4\n"
    "IfmapSramSzkB: 1\nFilterSramSzkB: 1\nOfmapSramSzkB: 1\nDataflow: ws\nBandwidth: 4\n"
    "[run_presets]\nInterfaceBandwidth: USER\n";

// 16 x 16 folds of 16 + 2 * 8 + 4 - 2 cycles, and the filter comes at 4 words a cycle for 4 x 8 of
// them each.
TEST_F(Interop, ImportsScaleSimsStallsAtAGivenBandwidth) {
  std::ofstream{folder() / "user.cfg"} << kGivenBandwidth;
  std::ofstream{folder() / "net.csv"} << "Layer, M, N, K,\ng, 16, 64, 128,\n";
  ASSERT_EQ(run("import scalesim user.cfg net.csv -o net"), 0) << contents(folder() / "stderr");
  const std::string table = contents(folder() / "net/scalesim.csv");
  EXPECT_EQ(table.find("layer,copies,folds,scalesim_cycles,scalesim_stall_cycles,"), 0U) << table;
  const std::string row = table.substr(table.find("\ng,1,256,") + 9);
  const std::int64_t cycles = std::stoll(row);
  const std::int64_t stalls = std::stoll(row.substr(row.find(',') + 1));
  EXPECT_GT(stalls, 0) << table;
  EXPECT_EQ(cycles - stalls, 256 * 34 - 1) << table;
}

TEST_F(Interop, NamesWhatOfScaleSimItDoesNotModel) {
  std::ofstream{folder() / "user.cfg"} << kGivenBandwidth << "[layout]\nIfmapCustomLayout: True\n";
  std::ofstream{folder() / "net.csv"} << "Layer, M, N, K,\ng, 16, 64, 128,\n";
  ASSERT_EQ(run("import scalesim user.cfg net.csv -o net"), 0) << contents(folder() / "stderr");
  EXPECT_NE(contents(folder() / "stdout").find("note: not modelled: a layout of operands in banks"),
            std::string::npos);
  const std::string table = contents(folder() / "net/scalesim.csv");
  EXPECT_EQ(table.find("layer,copies,folds,scalesim_calc_cycles,scalesim_calc_stall_cycles,"), 0U)
      << table;
  EXPECT_NE(table.find("\ng,1,256,8703,0,"), std::string::npos) << table;
}

// What the tool reads: text behind the last comma, more than 10^6 rows, more than 2^28 words. What
// cannot be walked is empty, and said.
TEST_F(Interop, ImportsScaleSimsLargeLayersAndCommentedRows) {
  std::ofstream{folder() / "user.cfg"} << kGivenBandwidth;
  std::ofstream{folder() / "gemms.csv"}
      << "Layer, M, N, K,\ntall, 2000000, 4, 8, # a comment\nhuge, 100000000, 4096, 4096,\n";
  ASSERT_EQ(run("import scalesim user.cfg gemms.csv -o gemms"), 0) << contents(folder() / "stderr");
  EXPECT_NE(contents(folder() / "stdout").find("note: huge: too large to walk through"),
            std::string::npos);
  const std::string gemms = contents(folder() / "gemms/scalesim.csv");
  EXPECT_NE(gemms.find("\ntall,1,1,"), std::string::npos) << gemms;
  EXPECT_NE(gemms.find("\nhuge,1,524288,,,,,100,"), std::string::npos) << gemms;
  std::ofstream{folder() / "convs.csv"}
      << "Layer, IFMAP H, IFMAP W, Filter H, Filter W, Channels, Filters, Strides,\n"
         "first, 10, 10, 3, 3, 4, 8, 1, the 9th cell,\nratio, 10, 10, 3, 3, 4, 8, 1, 1:1,\n";
  ASSERT_EQ(run("import scalesim user.cfg convs.csv -o convs"), 0) << contents(folder() / "stderr");
  const std::string convs = contents(folder() / "convs/scalesim.csv");
  const std::string first = convs.substr(convs.find("\nfirst,") + 6);
  EXPECT_EQ(first.substr(0, first.find('\n')),
            convs.substr(convs.find("\nratio,") + 6, first.find('\n')));
  std::ofstream{folder() / "sparse.csv"} << "Layer, M, N, K,\ng, 16, 64, 128, 2:4\n";
  std::ofstream{folder() / "sparse.cfg"} << kGivenBandwidth
                                         << "SparsitySupport: true\nArayWidth: 9\n";
  ASSERT_EQ(run("import scalesim sparse.cfg sparse.csv -o sparse"), 0)
      << contents(folder() / "stderr");
  const std::string notes = contents(folder() / "stdout");
  EXPECT_NE(notes.find("sparse.csv:2: g: 64 of 128 words of a window"), std::string::npos) << notes;
  EXPECT_NE(contents(folder() / "sparse/g.workload.yaml").find("k: 64"), std::string::npos);
  EXPECT_NE(notes.find("ignored keys: ArayWidth (line "), std::string::npos) << notes;
}

// SCALE-Sim's own run of its sparse example (test/sparsity/golden_trace): cycles without stalls,
// SRAM reads of the filter and writes of the ofmap.
TEST_F(Interop, CompressesWeightsAsScaleSimDoes) {
  std::ofstream{folder() / "s.csv"} << "Layer, IH, IW, FH, FW, C, F, S, Sparsity,\n"
                                       "Conv1, 224, 224, 11, 11, 3, 96, 4, 1:4,\n";
  std::ofstream{folder() / "s.cfg"}
      << "[architecture_presets]\nArrayHeight: 128\nArrayWidth: 128\nIfmapSramSzkB: 256\n"
         "FilterSramSzkB: 256\nOfmapSramSzkB: 256\nDataflow: ws\nSparsitySupport: true\n"
         "OptimizedMapping: true\nBlockSize: 8\n";
  ASSERT_EQ(run("import scalesim s.cfg s.csv -o s"), 0) << contents(folder() / "stderr");
  const std::string table = contents(folder() / "s/scalesim.csv");
  EXPECT_NE(table.find("\nConv1,1,2,6813,,,,,,,17664,580800,,,,,,"), std::string::npos) << table;
}

TEST_F(Interop, TellsWhatIsWrongWithScaleSimsFiles) {
  std::ofstream{folder() / "bad.cfg"} << "[architecture_presets]\nArrayHeight: 0\nArrayWidth: 4\n"
                                         "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nDataflow: rs\n";
  std::ofstream{folder() / "bad.csv"} << "Layer, M, N, K,\na, 1, x, 3,\nb, 1, 2,\n";
  EXPECT_EQ(run("import scalesim bad.cfg bad.csv -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "bad.cfg: 'OfmapSramSzkB' is missing\n"
            "bad.cfg:2:14: ArrayHeight is '0', not a whole number from 1 to 1073741824\n"
            "ArrayHeight: 0\n             ^\n"
            "bad.cfg:6:11: unknown word 'rs'; one of os, ws, is\nDataflow: rs\n          ^\n");
  std::ofstream{folder() / "good.cfg"}
      << "ArrayHeight: 4\nArrayWidth: 4\nIfmapSramSzkB: 4\nFilterSramSzkB: 4\n"
         "OfmapSramSzkB: 4\nDataflow: os\n";
  EXPECT_EQ(run("import scalesim good.cfg bad.csv -o out"), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "bad.csv:2:7: N is 'x', not a whole number from 1 to 1073741824\na, 1, x, 3,\n      ^\n"
            "bad.csv:3:1: a row is a name, then M, N, K, or 7 numbers of a convolution; this one "
            "has 3 cells\nb, 1, 2,\n^\n");
}

TEST_F(Interop, RefusesToExportAnUnevenMapping) {
  ASSERT_EQ(run(fmt::format("import timeloop {} -o in", kDesign)), 0);
  std::ofstream{folder() / "uneven.yaml"}
      << "mapping:\n  - keep DRAM: [Weights, Inputs, Outputs]\n  - keep GLB: [Inputs]\n"
         "  - for M: 1\n  - keep GLB: [Weights]\n  - for N: 1\n  - for K: 1\n";
  EXPECT_EQ(run("export timeloop in/arch.yaml in/workload.yaml uneven.yaml -o map.yaml"), 2);
  EXPECT_EQ(
      contents(folder() / "stderr"),
      "mapsim: Timeloop has no word for tensors that GLB keeps at different points (an uneven "
      "mapping); 'mapsim search --even' leaves such mappings out\n");
  EXPECT_FALSE(fs::exists(folder() / "map.yaml"));
}

// What is written is the model: the same totals.
TEST_F(Interop, ImportsModelsAsTheNetworksThatTheyAre) {
  const std::string model = std::string{kBuild} + "/models/strange.onnx";
  const std::string arch = source_path("configs/arch/teaching.yaml");
  const auto totals = [&](const std::string& network) {
    EXPECT_EQ(run(fmt::format("network {} {} --budget-labels 100", arch, network)), 1)
        << "a Conv of unknown shape is missing";
    const std::string text = contents(folder() / "stdout");
    const std::size_t at = text.find("\nPart of the total: ");
    EXPECT_NE(at, std::string::npos) << text << contents(folder() / "stderr");
    return text.substr(std::min(at, text.size()), text.find('\n', at + 1) - at);
  };
  ASSERT_EQ(run("import onnx " + model + " -o in"), 0) << contents(folder() / "stderr");
  EXPECT_EQ(totals("in/network.yaml"), totals(model));
  EXPECT_NE(contents(folder() / "in/first.yaml").find("conv2d:\n  in_channels: 8\n"),
            std::string::npos);
  EXPECT_EQ(run(fmt::format("network {} in/network.yaml --operand-bits 16", arch)), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            "in/network.yaml: dims and a width of operands are for ONNX models; this file has its "
            "own\n");
  const std::string nothing = std::string{kBuild} + "/models/nothing.onnx";
  EXPECT_EQ(run(fmt::format("network {} {}", arch, nothing)), 2);
  EXPECT_EQ(contents(folder() / "stderr"),
            nothing + ": nothing in the model has a price; it has NonZero, 1 x\n");
}

// A model in single precision on a machine of 16-bit words: how wide it is stands in the head, with
// the option that changes it.
TEST_F(Interop, WarnsOfModelsWiderThanTheMachine) {
  const std::string model = std::string{kBuild} + "/models/unnamed.onnx";
  const std::string arch = source_path("configs/arch/eyeriss.yaml");
  ASSERT_EQ(run(fmt::format("network {} {} --budget-labels 100", arch, model)), 0);
  const std::string text = contents(folder() / "stdout");
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "unnamed on eyeriss: layer by layer, least energy\n"
            "operands 32 b, outputs 32 b, sums 32 b; words of 16 b in eyeriss\n"
            "warning: operands of 32 b are wider than the words of 16 b in eyeriss; --operand-bits "
            "16 takes the model as quantised to them");
  ASSERT_EQ(run(fmt::format("network {} {} --budget-labels 100 --json", arch, model)), 0);
  nlohmann::json json = nlohmann::json::parse(contents(folder() / "stdout"));
  EXPECT_EQ(json["widths"]["operands_bits"], nlohmann::json({32}));
  EXPECT_EQ(json["widths"]["word_bits"], 16);
  EXPECT_EQ(json["warnings"].size(), 1);
  EXPECT_EQ(json["layers"][1]["name"], "Conv_3");
  ASSERT_EQ(
      run(fmt::format("network {} {} --budget-labels 100 --json --operand-bits 16", arch, model)),
      0);
  json = nlohmann::json::parse(contents(folder() / "stdout"));
  EXPECT_EQ(json["widths"]["operands_bits"], nlohmann::json({16}));
  EXPECT_TRUE(json["warnings"].empty());
}

TEST_F(Interop, PricesWhatIsBesideACustomOperator) {
  const std::string model = std::string{kBuild} + "/models/custom.onnx";
  const std::string arch = source_path("configs/arch/teaching.yaml");
  EXPECT_EQ(run(fmt::format("network {} {} --budget-labels 100", arch, model)), 1);
  const std::string text = contents(folder() / "stdout");
  EXPECT_NE(text.find("Not priced: com.example.Fancy, 1 x\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nPart of the total: "), std::string::npos) << text;
  const std::string names = std::string{kBuild} + "/models/long_names.onnx";
  EXPECT_EQ(run("import onnx " + names + " -o in"), 0) << contents(folder() / "stderr");
  EXPECT_EQ(run(fmt::format("network {} in/network.yaml --budget-labels 100", arch)), 0)
      << contents(folder() / "stderr");
}

}  // namespace
}  // namespace mapsim::interop_test
