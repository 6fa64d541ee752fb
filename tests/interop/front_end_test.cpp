// SPDX-License-Identifier: Apache-2.0
#include "interop/front_end.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/diagnostic.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/own_tables.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim::front_end_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A folder of files that is gone after the test.
class Folder {
 public:
  Folder()
      : path_{std::filesystem::path{testing::TempDir()} /
              ("front_end" + std::to_string(getpid()))} {
    std::filesystem::create_directories(path_ / "parts");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{path_ / name} << text;
    return (path_ / name).string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

const Node& at(const Node& node, const std::string& key) {
  const Node* value = value_of(node, key);
  EXPECT_NE(value, nullptr) << key;
  return value == nullptr ? node : *value;
}

TEST(FrontEnd, IncludesAndMerges) {
  const Folder folder;
  folder.write("parts/b.yaml", "list: [3]\n");
  folder.write("parts/a.yaml", "list: [1, 2]\n");
  folder.write("base.yaml", "base_ignore: &base\n  instance: {N: 1, G: 1}\n  dims: [N]\n");
  folder.write("deep.yaml", "top:\n  key: {x: {{y}}}\n");
  const std::string path =
      folder.write("t.yaml",
                   "{{add_to_path('parts')}}\n{{include_text('base.yaml')}}\n"
                   "problem:\n  <<<: *base\n  instance: {N: {{N | default(4)}}}\n  dims: [G]\n"
                   "all: {{include_all('parts/*.yaml', 'list')}}\n"
                   "deep: {{include('deep.yaml', 'top.key')}}\n"
                   "there: {{path_exists('a.yaml') and not path_exists('no.yaml')}}\n");
  const FrontEndDocument read = read_front_end(path, {{"y", "7"}});
  const Node& problem = at(read.document.root, "problem");
  EXPECT_EQ(at(at(problem, "instance"), "N").text, "4");
  EXPECT_EQ(at(at(problem, "instance"), "G").text, "1");
  EXPECT_EQ(at(problem, "dims").items.size(), 2U);
  EXPECT_EQ(at(read.document.root, "all").items.size(), 3U);
  EXPECT_EQ(at(at(read.document.root, "deep"), "x").text, "7");
  EXPECT_EQ(at(read.document.root, "there").text, "True");
}

TEST(FrontEnd, IncludedTemplatesMayInheritNamesAndBeFollowedByKeys) {
  const Folder folder;
  folder.write("part.yaml", "sizes: {A: {{a}}}\nlist: [1, 2]\n");
  const std::string path =
      folder.write("t.yaml",
                   "{% set a = 5 %}\n{% set PART = include('part.yaml', '') %}\n"
                   "{% assert a in [5, 6], \"5, or 6\" %}\n"
                   "{% raw %}\n# {{not a name}} {% nor a statement %}\n{% endraw %}\n"
                   "sizes:\n  <<<: [{{PART}}.sizes]\nlist:\n- {{PART}}.list\n"
                   "none: {{ dict() | length }}\n");
  const Node root = read_front_end(path, {}, Includes::kInherit).document.root;
  EXPECT_EQ(at(at(root, "sizes"), "A").text, "5");
  EXPECT_EQ(at(root, "list").items.at(0).items.size(), 2U);
  EXPECT_EQ(at(root, "none").text, "0");
  EXPECT_THROW(read_front_end(path, {}), ConfigError);  // `a` is no setting
}

TEST(FrontEnd, PlainMergesReplaceAndOwnKeysWin) {
  const Node root = parse_front_end(
                        "a: &a {x: 1, m: {p: 1, q: 2}}\nb: &b {x: 2, y: 3}\n"
                        "c:\n  <<: [*a, *b]\n  m: {p: 9}\n"
                        "d:\n  <<<: *a\n  m: !nomerge {p: 9}\n",
                        "m.yaml", {})
                        .document.root;
  const Node& c = at(root, "c");
  EXPECT_EQ(at(c, "x").text, "1");
  EXPECT_EQ(at(c, "y").text, "3");
  EXPECT_EQ(at(c, "m").entries.size(), 1U);
  EXPECT_EQ(at(at(root, "d"), "m").entries.size(), 1U);
}

TEST(FrontEnd, TakesAKeyThatStandsTwiceWithOneValueOnce) {
  const std::string problem = "problem: {shape: gemm_ABZ, M: 4, N: 8, K: 2, N: ";
  EXPECT_EQ(parse_timeloop(problem + "8}\n", "d.yaml").design.workload.macs(), 64);
  EXPECT_THROW(parse_timeloop(problem + "16}\n", "d.yaml"), ConfigError);
}

// A complaint names the line that its reader wrote, not one of the text that was put together.
TEST(FrontEnd, ComplainsAboutTheFileThatWasWritten) {
  const Folder folder;
  folder.write("shape.yaml",
               "# a shape\nshape_ignore: &shape\n  coefficients: [{name: S, default: -1}]\n  name: "
               "s\n  dimensions: [A, B, C]\n  data_spaces:\n"
               "  - {name: X, projection: [[[A]], [[C]]]}\n"
               "  - {name: Y, projection: [[[B]], [[C]]]}\n"
               "  - {name: Z, projection: [[[A]], [[B]]], read_write: true}\n");
  const std::string path = folder.write("layer.yaml",
                                        "{{include_text('shape.yaml')}}\nproblem:\n  shape: "
                                        "*shape\n  instance: {A: 2, B: 2, C: 2, D: 1}\n");
  try {
    read_timeloop({path});
    ADD_FAILURE() << "it was read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder / "shape.yaml" + ":3:"));
    EXPECT_THAT(error.what(), HasSubstr(path + ":4:"));
    EXPECT_THAT(error.what(), HasSubstr("'D' is neither a dimension nor a coefficient"));
  }
}

TEST(FrontEnd, SaysWhichFileIsNotThere) {
  const Folder folder;
  const auto error_of = [&](const std::string& value) -> std::string {
    const std::string path = folder.write("lost.yaml", "a: 1\nb: " + value + "\n");
    try {
      read_timeloop({path});
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path + ":2:"));
      return error.what();
    }
    return "it was read";
  };
  EXPECT_THAT(error_of("{{include('nowhere.yaml', 'x')}}"),
              HasSubstr("there is no file 'nowhere.yaml'"));
  EXPECT_THAT(error_of("!include nowhere.yaml"), HasSubstr("there is no file 'nowhere.yaml'"));
  EXPECT_THAT(error_of("{{include_all('parts/*.yml', 'x')}}"),
              HasSubstr("no file is called 'parts/*.yml'"));
  EXPECT_THAT(error_of("{{include_all('lost.yaml/*.yml', 'x')}}"), HasSubstr("no file is called"));
  EXPECT_THROW(read_timeloop({folder / "parts"}), ConfigError);  // a folder
}

TEST(FrontEnd, EndsWhereFilesIncludeEachOther) {
  const Folder folder;
  const std::string path = folder.write("loop.yaml", "a: {{include('loop.yaml', 'a')}}\n");
  EXPECT_THROW(read_timeloop({path}), ConfigError);
  const std::string text = folder.write("text.yaml", "{{include_text('text.yaml')}}\na: 1\n");
  EXPECT_THROW(read_timeloop({text}), ConfigError);
}

// A layer alone is a workload, whatever its form.
TEST(FrontEnd, ReadsALayerAlone) {
  const TimeloopImport layer = parse_timeloop(
      "problem: {shape: cnn-layer, C: 3, K: 8, R: 3, S: 3, P: 10, Q: 12, N: 1, Wstride: 2, "
      "Hstride: 1, "
      "Wdilation: 1, Hdilation: 4}\n",
      "layer.yaml");
  EXPECT_FALSE(layer.has_machine);
  ASSERT_TRUE(layer.has_workload);
  const Workload& workload = layer.design.workload;
  EXPECT_EQ(workload.macs(), std::int64_t{3} * 8 * 3 * 3 * 10 * 12);
  // Rows: 3 + 2 * 9; columns: 4 * 2 + 11 + 1.
  const Tensor& inputs = workload.tensors[TensorId{1}];
  EXPECT_EQ(inputs.name, "Inputs");
  EXPECT_EQ(inputs.ranks[2].terms.size(), 2U);
  EXPECT_THAT(layer.notes, ElementsAre("no architecture: an element is 8 b wide"));

  const TimeloopImport sparse = parse_timeloop(
      "problem: {shape: cnn-layer, C: 3, K: 8, R: 3, S: 3, P: 10, Q: 12, N: 1, Wstride: 1, "
      "Hstride: 1, Wdilation: 1, Hdilation: 1, densities: {Inputs: 0.5}}\n",
      "sparse.yaml");
  EXPECT_THAT(sparse.notes, ElementsAre(layer.notes[0], HasSubstr("densities are left out")));
}

const std::string kLayer = R"(problem:
  shape:
    name: ''
    dimensions: [M, N, K]
    data_spaces:
      - {name: A, projection: [[[M]], [[K]]]}
      - {name: B, projection: [[[K]], [[N]]]}
      - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 16, N: 24, K: 32}
)";

// Variables, expressions, branches side by side, and two containers below one storage.
const std::string kTree = R"(variables: {version: 0.4, BITS: 8, COLUMNS: BITS / 2}
architecture:
  version: 0.4
  nodes:
    - !Container
      name: chip
      attributes: {technology: "40nm", datawidth: BITS}
    - !Component {name: DRAM, class: DRAM, attributes: {width: datawidth * 8, type: LPDDR4}}
    - !Component
      name: glb
      class: smartbuffer_SRAM
      attributes: {width: datawidth * 8, rows: 1, depth: 64 * COLUMNS, COLUMNS: 2}
    - !Container
      name: column
      spatial: {meshX: COLUMNS}
      constraints: {spatial: {permutation: [M, N, K], split: len(spec.problem.instance), factors_only: [M=COLUMNS]}}
    - !Container
      name: row
      spatial: {meshY: 2}
      constraints: {spatial: {permutation: [K], split: 0, factors: [M=1]}}
    - !Parallel
      nodes:
        - !Component
          name: a_spad
          class: smartbuffer_RF
          attributes: {depth: 16, width: datawidth}
          constraints: {dataspace: {keep: [A]}}
        - !Component
          name: z_spad
          class: smartbuffer_RF
          attributes: {depth: 16, width: datawidth}
          constraints: {dataspace: {keep: [Z]}, temporal: {factors_only: [K=4]}}
        - !Nothing {constraints: {dataspace: {keep: [B]}}}
    - !Component {name: mac, class: intmac, attributes: {multiplier_width: datawidth, adder_width: datawidth * 2}}
)";

std::string without(std::string text, const std::string& piece) {
  const std::size_t found = text.find(piece);
  EXPECT_NE(found, std::string::npos);
  return text.erase(found, piece.size());
}

TEST(FrontEnd, ReadsATreeOfNodes) {
  const TimeloopImport import = parse_timeloop(without(kTree, ", rows: 1") + kLayer, "tree.yaml");
  const TimeloopMachine& machine = import.design.machine;
  std::vector<std::string> names;
  for (const TimeloopStorage& storage : machine.storages) {
    names.push_back(storage.name);
  }
  EXPECT_THAT(names, ElementsAre("DRAM", "glb", "inter_row_spatial", "a_spad", "z_spad"));
  EXPECT_EQ(machine.storages[1].words, 64 * 2 * 8);  // by its own COLUMNS
  EXPECT_EQ(machine.storages[1].block, 8);
  EXPECT_EQ(machine.fanout(1, Axis::kX), 4);
  EXPECT_EQ(machine.fanout(2, Axis::kY), 2);
  const std::string constraints = constraints_text(import);
  EXPECT_THAT(constraints, HasSubstr("a_spad: [A]"));
  EXPECT_THAT(constraints, HasSubstr("a_spad: [B, Z]"));
  EXPECT_THAT(constraints, HasSubstr("z_spad: [A, B]"));
  EXPECT_THAT(constraints, HasSubstr("inter_row_spatial: [A, B, Z]"));
  EXPECT_THAT(constraints,
              HasSubstr("inter_column_spatial: {X: {dims: [M], factors: {M: 4}}, Y: {dims: []}}"));
  EXPECT_THAT(constraints,
              HasSubstr("inter_row_spatial_to_a_spad: {X: {dims: []}, Y: {dims: [N, K]}}"));
  EXPECT_THAT(constraints, HasSubstr("mac: {dims: [K], factors: {K: 4}}"));
}

// A slip in a name is no variable, even where expressions are read.
TEST(FrontEnd, StillRefusesWhatIsNotKnown) {
  EXPECT_THROW(parse_timeloop(kTree + kLayer, "tree.yaml"), ConfigError);
  const std::string tree = without(kTree, ", rows: 1");
  std::string unknown = tree;
  unknown.replace(unknown.find("64 * COLUMNS"), 12, "64 * COLUMNES");
  EXPECT_THROW(parse_timeloop(unknown + kLayer, "tree.yaml"), ConfigError);
}

TEST(FrontEnd, TakesEnergiesFromOurTablesAndSaysSo) {
  const std::string design = without(kTree, ", rows: 1") + kLayer;
  const TimeloopImport import = parse_timeloop(design, "tree.yaml");
  ASSERT_FALSE(import.notes.empty());
  EXPECT_THAT(import.notes.front(), HasSubstr("estimates by our own tables"));
  EXPECT_THAT(import.notes.front(), HasSubstr("technology '40nm': the table of 45nm"));
  EXPECT_THAT(import.notes.front(), HasSubstr("LPDDR4: the table of LPDDR5"));
  const std::vector<TimeloopStorage>& storages = import.design.machine.storages;
  EXPECT_DOUBLE_EQ(storages[0].energy.read, 4.5 * 64);  // 4.5 pJ/b, eight words of 8 b
  EXPECT_NEAR(storages[1].energy.read, 10 * std::sqrt(1024.0 / 8192), 1e-9);  // 64 b of 1 KiB
  EXPECT_EQ(storages[2].energy.read, 0);                                      // keeps nothing
  EXPECT_DOUBLE_EQ(import.design.machine.compute_energy, 0.2 + 0.03 * std::pow(0.1 / 0.03, 0.5));
  EXPECT_EQ(own_mac(Technology::k45nm, "fpmac", Bits{16}, Bits{16}).format, NumberFormat::kFloat);
  EXPECT_THAT(import.origins.at("glb"), HasSubstr("energies by our table, sram"));
  EXPECT_GT(storages[1].area.value_or(0), 0);
  const TimeloopImport counts = parse_timeloop(design, "tree.yaml", {{}, true});
  EXPECT_EQ(counts.design.machine.storages[0].energy.read, 0);
  EXPECT_EQ(counts.design.machine.compute_energy, 0);
  EXPECT_EQ(counts.notes.front(), "every energy is left out: counts and cycles only");
}

TEST(FrontEnd, MergesConstraintsOfSeveralFiles) {
  const std::string design = R"(arch:
  arithmetic: {instances: 4, meshX: 4, word-bits: 8}
  storage:
  - {name: RF, instances: 4, meshX: 4, word-bits: 8, entries: 64, cluster-size: 4}
  - {name: DRAM, instances: 1, word-bits: 8, technology: DRAM}
architecture_constraints:
  targets:
  - {target: DRAM, type: spatial, factors: M=1}
  - {target: RF, type: temporal, factors: N=1}
mapspace_constraints:
  targets:
  - {target: DRAM, type: spatial, factors: K=4}
  - {target: RF, type: temporal, permutation: KM}
  - {target: RF, type: utilization, min: 0.5}
)";
  const TimeloopImport import = parse_timeloop(design + kLayer, "flat.yaml");
  EXPECT_EQ(import.design.machine.compute_name, "MAC");
  EXPECT_THAT(constraints_text(import),
              HasSubstr("DRAM_to_RF: {X: {dims: [N, K], factors: {K: 4}}, Y: {dims: []}}"));
  EXPECT_THAT(constraints_text(import), HasSubstr("MAC: {order: [M, K]}"));
  const std::string share =
      "RF: 4 instances share an access: each is charged 1/4 of its energy, as in Timeloop where "
      "all "
      "of them work; where few do, Timeloop charges each up to all of it";
  EXPECT_THAT(import.notes,
              ::testing::Contains("RF: a least utilization is left out; the space is wider "
                                  "without it"));
  EXPECT_THAT(import.notes, ::testing::Not(::testing::Contains(share)));  // our own tables
  const std::string energies = R"(ERT:
  tables:
  - {name: s.DRAM, actions: [{name: read, energy: 64}, {name: write, energy: 64}]}
  - {name: s.RF, actions: [{name: read, energy: 1}, {name: write, energy: 2}]}
  - {name: s.MAC, actions: [{name: compute, energy: 2}]}
)";
  const TimeloopImport charged = parse_timeloop(design + kLayer + energies, "flat.yaml");
  EXPECT_EQ(charged.design.machine.storages[1].energy.read, 0.25);
  EXPECT_EQ(charged.design.machine.storages[1].energy.write, 0.5);
  EXPECT_THAT(charged.notes, ::testing::Contains(share));
}

// As Timeloop does, which says so in a warning.
TEST(FrontEnd, IgnoresConstraintsAboveTheSizeOfTheirDim) {
  const std::string design = R"(arch:
  arithmetic: {instances: 4, meshX: 4, word-bits: 8}
  storage:
  - {name: RF, instances: 4, meshX: 4, word-bits: 8, entries: 64}
  - {name: DRAM, instances: 1, word-bits: 8, technology: DRAM}
constraints:
  targets:
  - {target: DRAM, type: temporal, factors: M=64 N=2}
)";
  const TimeloopImport import = parse_timeloop(design + kLayer, "flat.yaml");
  EXPECT_THAT(
      import.notes,
      ::testing::Contains("a constraint M=64 is ignored, as by Timeloop: the size of M is 16"));
  EXPECT_THAT(constraints_text(import), HasSubstr("factors: {N: 2}"));
  EXPECT_THROW(parse_timeloop(std::string{design}.replace(design.find("M=64"), 4, "M=3") + kLayer,
                              "flat.yaml"),
               ConfigError);  // a factor within the size divides it
}

}  // namespace
}  // namespace mapsim::front_end_test
