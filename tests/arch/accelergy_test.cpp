// SPDX-License-Identifier: Apache-2.0
#include "arch/accelergy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "arch/load.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::accelergy_test {
namespace {

constexpr const char* kErt = R"(ERT:
  version: '0.4'
  tables:
  - name: system.chip.GLB[1..4]
    actions:
    - {name: read, energy: 8, arguments: {data_delta: 0}}
    - {name: read, energy: 16, arguments: {data_delta: 1}}
    - {name: write, energy: 32}
    - {name: leak, energy: 0.5}
  - name: system.PE[0..3].MAC(1..8)
    actions:
    - {name: mac_random, energy: 2.5}
)";
constexpr const char* kArt = R"(ART:
  version: '0.4'
  tables:
  - {name: system.chip.GLB, area: 2.5e5}
)";

TEST(ParseErt, TakesTheLargestOfEqualActions) {
  const EnergyReferences ert = parse_ert(kErt, "ERT.yaml");
  EXPECT_EQ(ert.find("GLB", kReadActions), Picojoules{16});
  EXPECT_EQ(ert.find("GLB", kWriteActions), Picojoules{32});
  EXPECT_EQ(ert.find("GLB", kUpdateActions), Picojoules{32});
  EXPECT_EQ(ert.find("RF", kReadActions), std::nullopt);
  EXPECT_STREQ(ert.action_of("GLB", kUpdateActions), "write");  // whose number it is
  EXPECT_EQ(ert.action_of("RF", kReadActions), nullptr);
}

// The order in which Timeloop looks them up.
TEST(ParseErt, FindsTheFirstOfSeveralActions) {
  const EnergyReferences ert = parse_ert(
      "ERT:\n  version: 0.4\n  tables:\n  - name: a\n    actions:\n"
      "    - {name: write, energy: 1}\n    - {name: update, energy: 2}\n"
      "    - {name: fill, energy: 3}\n    - {name: read, energy: 4}\n"
      "    - {name: random_read, energy: 5}\n    - {name: compute, energy: 6}\n"
      "    - {name: mac, energy: 7}\n    - {name: gated_read, energy: 8}\n"
      "    - {name: idle, energy: 9}\n",
      "E.yaml");
  EXPECT_EQ(ert.find("a", kReadActions), Picojoules{5});
  EXPECT_EQ(ert.find("a", kWriteActions), Picojoules{3});
  EXPECT_EQ(ert.find("a", kUpdateActions), Picojoules{2});
  EXPECT_EQ(ert.find("a", kComputeActions), Picojoules{7});
  EXPECT_EQ(ert.find("a", kLeakActions), std::nullopt);
  EXPECT_EQ(other_actions(ert, "a"), (std::vector<std::string>{"gated_read", "idle"}));
}

TEST(ParseErt, ReadsTheMapsOfVersion02) {
  const std::string text =
      "ERT:\n  version: 0.2\n  tables:\n"
      "    chip.PE[0..3].RF:\n"
      "      read: [{energy: 1, arguments: {data_delta: 0}}, {energy: 4}, {energy: 2}]\n"
      "      write: {energy: 8}\n";
  const EnergyReferences ert = parse_ert(text, "E.yaml");
  EXPECT_EQ(ert.find("RF", kReadActions), Picojoules{4});
  EXPECT_EQ(ert.find("RF", kWriteActions), Picojoules{8});
  EXPECT_THROW(parse_ert(text + "    chip.RF: {read: {energy: 1}}\n", "E.yaml"), ConfigError);
  EXPECT_THROW(parse_ert(text + "    chip.MAC: {compute: {}}\n", "E.yaml"), ConfigError);
}

TEST(ParseErt, ReadsTheSummary) {
  const EnergyReferences ert = parse_ert(
      "ERT_summary:\n  version: 0.3\n  table_summary:\n"
      "  - {name: a.b, actions: [{name: read, energy: 3}], primitive_estimation(s): x}\n",
      "s.yaml");
  EXPECT_EQ(ert.find("b", kReadActions), Picojoules{3});
}

TEST(ParseErt, TellsAllThatIsWrong) {
  std::string text = kErt;
  text.replace(text.find("energy: 32"), 10, "energy: much");
  text.replace(text.find("system.PE[0..3].MAC(1..8)"), 25, "other.GLB");
  EXPECT_EQ(error_text([&] { parse_ert(text, "E.yaml"); }),
            "E.yaml:8:29: ERT.tables[0].actions[2].energy: 'much' is not a number\n"
            "    - {name: write, energy: much}\n"
            "                            ^\n"
            "E.yaml:10:5: ERT.tables[1]: the component of line 4 ends in 'GLB', too\n"
            "  - name: other.GLB\n"
            "    ^");
}

TEST(ParseErt, SurvivesDamagedFiles) {
  expect_survival(kErt, [](const std::string& text) { parse_ert(text, "E.yaml"); });
}

TEST(LoadArch, TakesAccelergysNumbersFromBesideIt) {
  const auto folder = std::filesystem::temp_directory_path() / "mapsim_accelergy_test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "E.yaml"} << kErt;
  std::ofstream{folder / "A.yaml"} << kArt;
  std::ofstream{folder / "arch.yaml"} << R"(name: a
clock: 200 MHz
technology: 45nm
ert: E.yaml
art: A.yaml
nodes:
  - {storage: DRAM, capacity: unlimited}
  - {storage: GLB, word: 16 b, capacity: 1 MiB}
  - {compute: MAC}
)";
  const Arch arch = load_arch((folder / "arch.yaml").string());
  std::filesystem::remove_all(folder);
  const Storage& glb = arch.levels[LevelId{1}];
  EXPECT_EQ(glb.energy.read, PicojoulesPerBit{1});
  EXPECT_EQ(glb.energy.update, PicojoulesPerBit{2});
  EXPECT_TRUE(glb.sources.read.ends_with("E.yaml: GLB read"));
  EXPECT_TRUE(glb.sources.update.ends_with("E.yaml: GLB write"));  // there is no update
  EXPECT_EQ(glb.physical.leakage, Milliwatts{0.1});                // 0.5 pJ at 200 MHz
  EXPECT_EQ(glb.physical.area, SquareMillimetres{0.25});
  EXPECT_EQ(arch.compute.energy, Picojoules{2.5});
  EXPECT_FALSE(arch.compute.energy_by_width);
  EXPECT_DOUBLE_EQ(arch.levels[LevelId{0}].energy.read.count(), 1300.0 / 64);
}

// One energy of all accesses that zeros spare: the largest. What the file gives wins.
TEST(LoadArch, TakesEnergiesOfGatedAndSkippedActions) {
  const auto folder = std::filesystem::temp_directory_path() / "mapsim_gated_test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "E.yaml"} << R"(ERT:
  version: '0.4'
  tables:
  - name: GLB
    actions:
    - {name: read, energy: 16}
    - {name: write, energy: 32}
    - {name: gated_read, energy: 2}
    - {name: gated_write, energy: 4}
    - {name: skipped_read, energy: 1}
  - name: MAC
    actions: [{name: mac, energy: 2}, {name: mac_gated, energy: 0.5}, {name: mac_skipped, energy: 0.25}]
)";
  const auto load = [&](const std::string& mac) {
    std::ofstream{folder / "arch.yaml"} << R"(name: a
clock: 200 MHz
technology: 45nm
ert: E.yaml
nodes:
  - {storage: DRAM, capacity: unlimited}
  - {storage: GLB, word: 16 b, capacity: 1 MiB, format: {input: bitmask}}
)" + mac;
    return load_arch((folder / "arch.yaml").string());
  };
  const Arch arch = load("  - {compute: MAC, when_zero: skip}\n");
  ASSERT_TRUE(arch.sparsity);
  EXPECT_EQ(arch.sparsity->levels[LevelId{1}].gated, PicojoulesPerBit{0.25});
  EXPECT_EQ(arch.sparsity->levels[LevelId{1}].skipped, PicojoulesPerBit{0.0625});
  EXPECT_EQ(arch.sparsity->levels[LevelId{0}].gated, PicojoulesPerBit{0});
  EXPECT_EQ(arch.sparsity->gated, Picojoules{0.5});
  EXPECT_EQ(arch.sparsity->skipped, Picojoules{0.25});
  EXPECT_EQ(load("  - {compute: MAC, when_zero: skip, gated_energy: 0.1 pJ}\n").sparsity->gated,
            Picojoules{0.1});
  std::filesystem::remove_all(folder);
}

TEST(LoadArch, RefusesTablesOfAnotherMachine) {
  const auto folder = std::filesystem::temp_directory_path() / "mapsim_other_tables_test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "E.yaml"} << kErt;
  std::ofstream{folder / "A.yaml"} << kArt;
  const std::string path = (folder / "arch.yaml").string();
  std::ofstream{path} << R"(name: a
technology: 45nm
ert: E.yaml
art: A.yaml
nodes:
  - {storage: DRAM, capacity: unlimited}
  - {storage: L1, word: 16 b, capacity: 1 MiB}
  - {compute: PE}
)";
  const std::string said = error_text([&] { load_arch(path); });
  std::filesystem::remove_all(folder);
  EXPECT_EQ(said, path + ":3:6: ert: no storage or compute has the name of a component of " +
                      (folder / "E.yaml").string() +
                      " (GLB, MAC); the nodes are DRAM, L1, PE\nert: E.yaml\n     ^\n" + path +
                      ":4:6: art: no storage or compute has the name of a component of " +
                      (folder / "A.yaml").string() +
                      " (GLB); the nodes are DRAM, L1, PE\nart: A.yaml\n     ^");
}

}  // namespace
}  // namespace mapsim::accelergy_test
