// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/zigzag_layer.hpp"
#include "report/names.hpp"
#include "tests/interop/golden.hpp"
#include "tests/interop/search_within.hpp"
#include "tests/interop/zigzag_run.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim::zigzag_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::chrono::seconds kLimit{20};

std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().stem().string().find("__") != std::string::npos) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// One objective of one run: theirs and ours, both in our cost.
struct Comparison {
  std::string row;
  std::string waiting;  // why it could not be compared
};

Comparison compare(const ZigzagRun& run, const ZigzagBest& best) {
  if (!best.mapping) {
    return {"", best.reason};
  }
  const auto problems = check_structure(run.problem.arch(), run.problem.workload(), *best.mapping);
  EXPECT_TRUE(problems.empty()) << run.id << ": " << (problems.empty() ? "" : problems[0].what);
  const Evaluation evaluation = evaluate(run.problem, *best.mapping);
  if (const auto* reason = std::get_if<Infeasible>(&evaluation)) {
    return {"", infeasible_text(run.problem.arch(), *reason)};
  }
  const Cost& theirs = std::get<Cost>(evaluation);
  const Mapspace space{run.problem, run.constraints};
  const SearchResult ours = search_within(space, best.objective, kLimit);
  if (!ours.cost) {
    ADD_FAILURE() << run.id << ": nothing found";
    return {};
  }
  const double their_value = objective_value(best.objective, theirs);
  const double our_value = objective_value(best.objective, *ours.cost);
  EXPECT_LE(our_value, their_value * (1 + 1e-11)) << run.id;
  const double printed = best.objective.function.value(best.energy_pj, best.cycles);
  return {fmt::format("| {} | {} | {:.5g} | {:.5g} | {:.5g} | {:.3f} | {} | {:.1f} | {:.1f} |\n",
                      run.id, to_string(best.objective), printed, their_value, our_value,
                      their_value / our_value, to_string(ours.certificate.status), run.seconds,
                      ours.statistics.seconds),
          ""};
}

// Never worse than ZigZag's best temporal mapping for the same unrolling, in our cost.
TEST(Zigzag, IsNeverBetterThanTheProvenOptimum) {
  const fs::path folder = collected_folder() / "zigzag";
  std::string table;
  std::map<std::string, int> waiting;
  int compared = 0;
  for (const fs::path& file : run_files(folder)) {
    const ZigzagRun run = read_zigzag_run(file, folder / "architectures.json");
    for (const ZigzagBest& best : run.bests) {
      const Comparison found =
          run.divides ? compare(run, best) : Comparison{"", "an unrolling that does not divide"};
      table += found.row;
      compared += found.row.empty() ? 0 : 1;
      if (!found.waiting.empty()) {
        ++waiting[found.waiting];
      }
    }
  }
  if (compared == 0) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with zigzag/architectures.json";
  }
  std::cout << "| run | objective | theirs | theirs, our cost | ours | ratio | proof | their s | "
               "our s |\n|---|---|---:|---:|---:|---:|---|---:|---:|\n"
            << table;
  for (const auto& [reason, times] : waiting) {
    std::cout << fmt::format("{} not compared: {}\n", times, reason);
  }
}

// A machine whose innermost memories are shared along dims of the array of which neither has all.
const char* const kAccelerator = R"(name: shared
memories:
  rf_w:
    {size: 8, r_cost: 0.8, w_cost: 1.6, area: 0, latency: 1, operands: [I2], served_dimensions: [D3],
     ports: [{name: r_port_1, type: read, bandwidth_min: 8, bandwidth_max: 8, allocation: ["I2, tl"]},
             {name: w_port_1, type: write, bandwidth_min: 8, bandwidth_max: 8, allocation: ["I2, fh"]}]}
  rf_o:
    {size: 16, r_cost: 0.02, w_cost: 0.02, area: 0, latency: 1, operands: [O], served_dimensions: [D2],
     ports: [{name: rw_port_1, type: read_write, bandwidth_min: 16, bandwidth_max: 16, allocation: []}]}
  sram:
    size: 8192
    r_cost: 64
    w_cost: 32
    area: 0
    latency: 1
    operands: [I1, O]
    ports: [{fh: w_port_1}]
    ports: [{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 128, allocation: []}]
    served_dimensions: [D1, D2, D3]
  dram:
    {size: 100000, r_cost: 640, w_cost: 640, area: 0, latency: 1, operands: [I1, I2, O],
     served_dimensions: [D1, D2],
     ports: [{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 64, allocation: []}]}
operational_array: {unit_energy: 0.04, unit_area: 1, dimensions: [D1, D2, D3], sizes: [8, 4, 2]}
)";
const char* const kLayers = R"(- id: 0
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=1*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 16, 8, 4, 4, 3, 3]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 0}
- id: 1
  name: sum
  operator_type: Add
  equation: O[b][g]=W[b][g]+I[b][g]
  loop_dims: [B, G]
  loop_sizes: [1, 64]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
- id: 2
  name: wrong
  operator_type: Gemm
  equation: O[d0][d1]+=I[d0][d2]*W[d2][d1]
  loop_dims: [D0, D1, D2]
  loop_sizes: [8, 6, 8]
  operand_precision: {W: 8, I: 8, O: 32, O_final: 8}
)";
const char* const kRules = R"(- name: default
  spatial_mapping: {D1: ["K, 8"], D2: ["C, 4"], D3: ["OX, 2"]}
  memory_operand_links: {O: O, W: I2, I: I1}
- name: Gemm
  spatial_mapping:
    D1: ["D1, 4"]
    D3: ["D1, 2"]
)";

ZigzagImport read(const std::string& machine, const std::string& layers = kLayers,
                  const std::string& rules = kRules) {
  return import_zigzag({parse_yaml(layers, "layers.yaml"), parse_yaml(rules, "rules.yaml"),
                        parse_yaml(machine, "machine.yaml")});  // in any order
}

TEST(ZigzagImports, PutSharedMemoriesAboveOrBesideTheUnitsThatShareThem) {
  const ZigzagImport import = read(kAccelerator);
  const Arch& arch = import.arch;
  std::vector<std::string> names;
  for (const Storage& level : arch.levels) {
    names.push_back(level.name);
  }
  EXPECT_THAT(names, ElementsAre("dram", "sram", "rf_o", "rf_w"));
  std::vector<std::pair<std::string, std::size_t>> fanouts;
  for (const FanoutId f : arch.fanouts.ids()) {
    fanouts.emplace_back(arch.fanouts[f].name, arch.levels_above[f]);
  }
  // D2 is below rf_o; rf_w, which two units along D3 share, is a copy for each of them.
  EXPECT_THAT(fanouts, ElementsAre(Pair("D3", 2U), Pair("D1", 2U), Pair("D2", 3U)));
  EXPECT_DOUBLE_EQ(arch.levels[LevelId{3}].energy.read.count(), 0.8 / 8 / 2);
  EXPECT_DOUBLE_EQ(arch.levels[LevelId{3}].energy.write.count(), 1.6 / 8 / 2);
  EXPECT_DOUBLE_EQ(arch.levels[LevelId{1}].energy.read.count(), 64.0 / 128);
  EXPECT_EQ(arch.levels[LevelId{1}].bandwidth.shared, BitsPerCycle{128});
  EXPECT_TRUE(arch.levels[LevelId{0}].capacity.unlimited());
  EXPECT_THAT(import.notes, Contains(HasSubstr("machine.yaml:17: ports appears again below")));
  // The copies hold the same weights, since nothing that indexes them is unrolled along D3.
  EXPECT_THAT(import.notes,
              Contains(AllOf(HasSubstr("shared: rf_w: shared along dims of the array that do not"),
                             HasSubstr("so along D3 only dims are unrolled that do not index"))));
  for (const Fanout& fanout : arch.fanouts) {
    EXPECT_EQ(fanout.x_dims,
              fanout.name == "D3" ? (AxisConstraint{{GemmAxis::kM}, {}}) : AxisConstraint{})
        << fanout.name;
  }
}

TEST(ZigzagImports, TakeLayersAndWhatIsUnrolled) {
  const ZigzagImport import = read(kAccelerator);
  ASSERT_EQ(import.layers.size(), 1U);
  const ZigzagImport::Layer& layer = import.layers.front();
  EXPECT_EQ(layer.name, "layer_0");
  EXPECT_EQ(layer.workload.macs(), 16 * 8 * 4 * 4 * 3 * 3);
  EXPECT_THAT(print_workload(layer.workload), HasSubstr("I[B][C][OY+FY][2*OX+FX]"));
  EXPECT_EQ(layer.constraints,
            "mapspace:\n  unroll:\n    D1: {X: {dims: [K], factors: {K: 8}}}\n"
            "    D2: {X: {dims: [C], factors: {C: 4}}}\n"
            "    D3: {X: {dims: [OX], factors: {OX: 2}}}\n");
  EXPECT_EQ(layer.arch, import.arch);
  EXPECT_THAT(import.notes,
              Contains(HasSubstr("layers.yaml:12: sum is left out: only sums of products")));
  EXPECT_THAT(import.notes,
              Contains(HasSubstr("wrong is left out: D1 indexes an operand of a memory that is "
                                 "shared along D3")));
}

// ZigZag names a layer without a name by its id.
TEST(ZigzagImports, FindTheEntryOfALayerByItsNameItsTypeOrTheDefault) {
  const auto factors = [](const char* name, const std::string& entries) {
    std::string layers = kLayers;
    layers.insert(layers.find("  operator_type"), name);
    return read(kAccelerator, layers,
                "- {name: default, spatial_mapping: {D1: ['K, 2']}}\n" + entries)
        .layers.at(0)
        .constraints;
  };
  const std::string by_type = "- {name: Conv, spatial_mapping: {D1: ['K, 4']}}\n";
  const std::string by_name = "- {name: Layer0, spatial_mapping: {D1: ['K, 8']}}\n";
  EXPECT_THAT(factors("", ""), HasSubstr("factors: {K: 2}"));
  EXPECT_THAT(factors("", by_type), HasSubstr("factors: {K: 4}"));
  EXPECT_THAT(factors("", by_name + by_type), HasSubstr("factors: {K: 8}"));
  EXPECT_THAT(factors("  name: null\n", by_type + by_name), HasSubstr("factors: {K: 8}"));
  EXPECT_THAT(factors("  name: first\n", by_name + by_type), HasSubstr("factors: {K: 4}"));
}

TEST(ZigzagImports, KnowTheLinksOfOperands) {
  const auto notes = [](const std::string& links) {
    return read(kAccelerator, kLayers, "- name: default\n  memory_operand_links: {" + links + "}\n")
        .notes;
  };
  EXPECT_THAT(notes("O: O, W: I2, I: I1"), Not(Contains(HasSubstr("rules.yaml"))));
  for (const auto& [links, note] :
       {std::pair{"O: O, W: I2, I: I3", "2: layer_0 is left out: I: I3 of"},
        {"O: O, W: I1, X: I2", "X: I2 of memory_operand_links; known"},
        {"O: I1, W: I2", "O: I1 of memory_operand_links; known are O: O"},
        {"W: I1", "I and W are both I1 of the memories"}}) {
    EXPECT_THAT(notes(links), Contains(AllOf(HasSubstr("rules.yaml:2: "), HasSubstr(note))))
        << links;
  }
}

// A layer whose mapping, or which itself, would be read past in part is left out.
TEST(ZigzagImports, LeaveOutWhatTheyWouldReadPast) {
  for (const auto& [rule, note] : std::vector<std::pair<std::string, std::string>>{
           {"spatial_mapping: [D1]", "spatial_mapping is a map of lists, and here stands a list"},
           {"spatial_mapping: {D1: 'K, 4'}", "map of lists, and here stands the text 'K, 4'"},
           {"spatial_mapping_hint: {D1: K}", "spatial_mapping_hint is a map of lists, and"},
           {"temporal_ordering: {K: 2}", "temporal_ordering is a list, and here stands a map"},
           {"memory_operand_links: I1", "memory_operand_links is a map, and here stands 'I1'"},
           {"spatial_mapping: {D1: ['K, 0']}", "'K, 0': no units"},
           {"spatial_mapping: {D1: ['K, 2', 'K, 4']}", "'K, 4': a second factor of its dim"}}) {
    const ZigzagImport import = read(kAccelerator, kLayers, "- name: default\n  " + rule + "\n");
    EXPECT_THAT(import.notes,
                Contains(AllOf(HasSubstr("rules.yaml:2: layer_0 is left out: "), HasSubstr(note))))
        << rule;
  }
  for (const auto& [from, to, note] : std::vector<std::array<std::string, 3>>{
           {"iy=1*oy+1*fy]", "iy=1*oy+1*fy, iz=2*oy]", "4: layer_0 is left out: 'iz=2*oy' is no"},
           {"iy=1*oy+1*fy]", "iy]", "4: layer_0 is left out: 'iy' is no relation of an index"},
           {"I: 8, O: 16", "O: 16", "7: layer_0 is left out: no 'I'"},
           {"{I: 0, W: 0}", "{I: 0, X: 0}", "8: layer_0 is left out: the source of 'X'"}}) {
    std::string layers = kLayers;
    layers.replace(layers.find(from), from.size(), to);
    const ZigzagImport import = read(kAccelerator, layers);
    EXPECT_THAT(import.notes, Contains(HasSubstr("layers.yaml:" + note))) << to;
  }
}

// ZigZag reads = as +=.
TEST(ZigzagImports, TakeAProductThatIsNoSum) {
  std::string layers = kLayers;
  layers.erase(layers.find("+="), 1);
  EXPECT_EQ(read(kAccelerator, layers).layers.at(0).workload,
            read(kAccelerator).layers.at(0).workload);
}

// The loops inside of what the array unrolls, innermost first in ZigZag's file.
TEST(ZigzagImports, TakeAWholeOrderOfLoops) {
  const auto constraints = [](const std::string& order, std::string& note) {
    std::string rules = kRules;
    rules.insert(rules.find("  memory_operand_links"), "  temporal_ordering: " + order + "\n");
    const ZigzagImport import = read(kAccelerator, kLayers, rules);
    for (const std::string& each : import.notes) {
      note = each.find("temporal_ordering") != std::string::npos ? each : note;
    }
    return import.layers.at(0).constraints;
  };
  std::string note;
  const std::string rule = "{order: [K, OX, OY, C, FY, FX]}\n";
  EXPECT_THAT(constraints("[[FX, 3], [FY, 3], [C, 2], [OY, 4], [OX, 2], [K, 2]]", note),
              EndsWith("  loops:\n    D3: " + rule + "    D1: " + rule + "    D2: " + rule +
                       "    MAC: " + rule));
  EXPECT_THAT(note, HasSubstr("holds between two dims of the array"));
  for (const char* partial :
       {"[[FX, 3], [FY, 3], [C, 2], [OY, 4], [OX, 2]]", "[[FX, '*'], [K, '*']]",
        "[[FX, 3], [FY, 3], [C, 2], [OY, 2], [OX, 2], [OY, 2], [K, 2]]"}) {
    EXPECT_THAT(constraints(partial, note), Not(HasSubstr("loops"))) << partial;
    EXPECT_THAT(note, HasSubstr("does not give each dim one whole loop"));
  }
}

// D1 and D2 are given by the mapping; D3 may have OX only, as the layer has no Z.
TEST(ZigzagImports, RestrictWhatIsNotGivenToTheHints) {
  const auto with = [](const std::string& more) {
    const std::string rules =
        "- {name: default, spatial_mapping: {D1: ['K, 4'], D2: ['C, 2']}" + more + "}\n";
    return read(kAccelerator, kLayers, rules);
  };
  const ZigzagImport free = with("");
  const ZigzagImport hinted = with(", spatial_mapping_hint: {D1: [OY], D3: [OX, Z], D9: [K]}");
  ASSERT_FALSE(hinted.layers.empty()) << hinted.notes.back();
  EXPECT_THAT(free.layers.at(0).constraints, Not(HasSubstr("D3: {X: {dims: [OX]}}")));
  EXPECT_THAT(hinted.layers.at(0).constraints, HasSubstr("D3: {X: {dims: [OX]}}"));
  EXPECT_THAT(hinted.notes,
              Contains("layer_0: D3 may unroll OX (spatial_mapping_hint); the layer has no Z"));
  EXPECT_THAT(hinted.notes, Contains("layer_0: spatial_mapping_hint of D1 has no effect: "
                                     "spatial_mapping says what is unrolled there"));
  EXPECT_THAT(hinted.notes, Contains("layer_0: spatial_mapping_hint of D9 has no effect: the array "
                                     "has no such dim"));
  EXPECT_THAT(with(", spatial_hint: {D3: [OX]}").notes,
              Contains(HasSubstr("'spatial_hint' of a mapping is not known here")));
}

// A model's layers have ZigZag's names of dims and its widths.
TEST(ZigzagImports, TakeLayersOfAModel) {
  Network network;
  network.layers.push_back(
      {"conv",
       parse_workload("name: conv\nconv2d: {in_channels: 4, out_channels: 8, input: [9, 9], "
                      "kernel: [3, 3], stride: 2}\n",
                      "conv.yaml"),
       3});
  network.layers.push_back(
      {"fc", parse_workload("name: fc\ngemm: {m: 2, n: 8, k: 4}\n", "fc.yaml"), 1});
  network.warnings = {"opset 99 is newer"};
  network.unpriced = {{"Foo", 2}};
  std::vector<std::string> notes;
  std::vector<Document> documents;
  documents.push_back(zigzag_workload(network, "model.onnx", notes));
  EXPECT_THAT(notes, Contains("model.onnx: opset 99 is newer"));
  EXPECT_THAT(notes, Contains("model.onnx: Foo, 2 x: not known, not priced"));
  documents.push_back(parse_yaml(kAccelerator, "machine.yaml"));
  documents.push_back(
      parse_yaml("- {name: default, spatial_mapping: {D1: ['K, 4']}}\n", "mapping.yaml"));
  const ZigzagImport import = import_zigzag(std::move(documents));
  ASSERT_EQ(import.layers.size(), 2U) << import.notes.back();
  const Workload& conv = import.layers[0].workload;
  EXPECT_EQ(import.layers[0].count, 3);
  EXPECT_EQ(conv.macs(), network.layers[0].workload.macs());
  const Tensor& input = conv.tensors[*conv.find_tensor("I")];
  EXPECT_EQ(points_along(conv, input.ranks.back()), 9);
  EXPECT_EQ(conv.tensors[conv.output()].partial_bits, Bits{16});
  EXPECT_EQ(import.layers[1].workload.macs(), 2 * 8 * 4);
  EXPECT_THAT(import.layers[1].constraints, HasSubstr("D1: {X: {dims: [K], factors: {K: 4}}}"));
}

// The symbolic dims of a model have the values that are given, and its operands the widths of
// ZigZag.
TEST(ZigzagImports, ReadModelsByTheirOptions) {
  OnnxOptions options;
  options.dims = {{"batch", 2}, {"seq", 16}};
  options.operand_bits = Bits{32};
  const ZigzagImport import = read_zigzag({std::string{kBuild} + "/models/attention.onnx",
                                           source_path("tests/app/data/zigzag_machine.yaml")},
                                          options);
  ASSERT_FALSE(import.layers.empty());
  for (const ZigzagImport::Layer& layer : import.layers) {
    EXPECT_EQ(layer.workload.tensors[TensorId{0}].bits, Bits{8}) << layer.name;
  }
  EXPECT_THROW(read_zigzag({std::string{kBuild} + "/models/attention.onnx",
                            source_path("tests/app/data/zigzag_machine.yaml")},
                           {}),
               ConfigError);
}

TEST(ZigzagImports, SurviveDamagedFiles) {
  const std::string machine =
      "name: a\nmemories:\n  m: {size: 8, r_cost: 1, w_cost: 1, latency: 1, operands: [I1, I2, "
      "O],\n"
      "    served_dimensions: [D1], ports: [{name: r, type: read_write, bandwidth_max: 8}]}\n"
      "operational_array: {unit_energy: 1, dimensions: [D1], sizes: [8]}\n";
  const std::string layers =
      "- {id: 0, equation: 'O[k]+=I[c]*W[k][c]', loop_dims: [K, C], loop_sizes: [4, 4],\n"
      "   operand_precision: {W: 8, I: 8, O: 16}}\n";
  const std::string rules = "- {name: default, spatial_mapping: {D1: ['K, 4', 'C, 2']}}\n";
  ASSERT_EQ(read(machine, layers, rules).layers.size(), 1U);
  expect_survival(machine, [&](const std::string& text) { read(text, layers, rules); });
  expect_survival(layers, [&](const std::string& text) { read(machine, text, rules); });
  expect_survival(rules, [&](const std::string& text) { read(machine, layers, text); });
  EXPECT_THROW(read("name: a\nmemories: {}\noperational_array: {unit_energy: 1, unit_area: 1, "
                    "dimensions: [D1], sizes: [2]}\n"),
               ConfigError);
}

TEST(ZigzagImports, RefuseWhatComputesInMemory) {
  std::string machine = kAccelerator;
  machine.replace(machine.find("unit_energy"), 0, "is_imc: true, ");
  try {
    read(machine);
    ADD_FAILURE() << "it was read";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.diagnostics().size(), 1U);
    EXPECT_EQ(error.diagnostics().front().message,
              "arrays that compute in memory are not imported");
  }
}

const std::string kData = source_path("tests/app/data/");

std::string data_text(const std::string& name) { return read_yaml(kData + name).text; }

// The small machine with one result, in which `from` is replaced.
ZigzagImport with_result(const std::string& from = "", const std::string& to = "") {
  std::string result = data_text("zigzag_result.json");
  EXPECT_NE(result.find(from), std::string::npos) << from;
  result.replace(result.find(from), from.size(), to);
  return import_zigzag({parse_yaml(result, "result.json"),
                        parse_yaml(data_text("zigzag_machine.yaml"), "machine.yaml")});
}

// reg_w keeps its weights while B runs, so its tile may as well stand inside of B; there D1 fits.
TEST(ZigzagResults, AreTheMappingsThatZigzagFound) {
  const ZigzagImport import = with_result();
  ASSERT_EQ(import.layers.size(), 1U) << import.notes.back();
  const ZigzagImport::Layer& layer = import.layers.front();
  EXPECT_EQ(layer.name, "_block_gemm");
  ASSERT_TRUE(layer.found);
  EXPECT_EQ(layer.found->energy, Picojoules{1800.5});
  EXPECT_EQ(layer.found->cycles, 52);
  EXPECT_EQ(print_mapping(layer.arch, layer.workload, layer.found->mapping),
            "mapping:\n  - keep sram: [W, I, O]\n  - for K: 4\n  - for C: 1\n  - for B: 1\n"
            "  - parallel K: 1 over X of D1\n  - keep reg_w: [W]\n");
  EXPECT_EQ(layer.constraints, "mapspace:\n  unroll:\n    D1: {X: {dims: [K], factors: {K: 4}}}\n");
  const Counts counts = count(Problem{layer.arch, layer.workload}, layer.found->mapping);
  EXPECT_EQ(counts.levels[LevelId{1}][*layer.workload.find_tensor("W")].total.fills,
            48);  // once each
}

TEST(ZigzagResults, SayWhatDoesNotFitTheMachine) {
  const std::vector<std::pair<std::pair<std::string, std::string>, std::string>> cases{
      {{"\"layer\": {", "\"layer\": [0, 1], \"other\": {"},
       "8: left out: a sum over several layers"},
      {{"\"O\": [[], [\"(K, 4)\"]]", "\"O\": [[], [\"(K, 2)\"]]"},
       "19: left out: K is unrolled by 2, not 4 as in user_spatial_mapping"},
      {{"\"(B, 2)\"], [\"(C, 6)\", \"(K, 2)\"]]", "\"(B, 2)\", \"(C, 6)\", \"(K, 2)\"]]"},
       "25: left out: W has 2 memories on this machine, not 1"},
      {{"\"I\": [[\"(B, 2)\", \"(B, 2)\", \"(C, 6)\"",
        "\"I\": [[\"(B, 2)\", \"(C, 6)\", \"(B, 2)\""},
       "26: left out: the loops of the operands differ"},
      {{"[\"(C, 6)\", \"(K, 2)\"]", "[\"(C, 6)\", \"(K; 2)\"]"},
       "25: left out: expected a loop such as (K, 32), got '(K; 2)'"},
      {{"\"D1\": {\"K\": 4}", "\"D2\": {\"K\": 4}"}, "the array has no dim 'D2'"},
      {{"\"energy_total\": 1800.5", "\"energy_total\": \"much\""},
       "3: left out: expected a number, got the text 'much'"}};
  for (const auto& [change, message] : cases) {
    const ZigzagImport import = with_result(change.first, change.second);
    EXPECT_TRUE(import.layers.empty()) << message;
    EXPECT_THAT(import.notes, Contains(HasSubstr(message)));
  }
}

TEST(ZigzagResults, SurviveDamage) {
  const std::string machine = data_text("zigzag_machine.yaml");
  expect_survival(data_text("zigzag_result.json"), [&](const std::string& text) {
    import_zigzag({parse_yaml(text, "result.json"), parse_yaml(machine, "machine.yaml")});
  });
}

}  // namespace
}  // namespace mapsim::zigzag_test
