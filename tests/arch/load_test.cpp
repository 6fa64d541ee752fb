// SPDX-License-Identifier: Apache-2.0
#include "arch/load.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/capacities.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/yaml_example.hpp"

namespace mapsim::load_test {
namespace {

const char* const kToy = R"(name: toy
clock: 500 MHz
nodes:
  - storage: DRAM
    word: 16 b
    capacity: unlimited
    bandwidth: {shared: 4 GB/s}
    energy: {read: 200 pJ/word, write: 100 pJ/word}
  - storage: GLB
    word: 32 b
    capacity: 108 KiB
    bandwidth: {read: 2 word/cycle, link: 8 b/cycle}
    energy: {read: 16 pJ/B, write: 8 pJ/b, update: 64 pJ/word}
    double_buffered: true
    sliding: false
    bypass: [weight]
  - fanout: PEs
    x: {size: 14, dims: [gemm_m, C, gemm_k]}
    y: 12
    multicast: [input]
    spatial_reduction: true
    forwarding: false
    reduction_energy: 50 fJ
  - fanout: lanes
    x: 2
  - storage: RF
    capacity: {input: 24 B, output: 48 B}
    energy: {read: 0 pJ/B, write: 0 pJ/B}
    streamed: true
    keep: [output]
  - compute: MAC
    energy: 1.5 pJ
    issue_interval: 2
    register_reuse: [weight]
)";

TEST(LoadArch, ReadsEveryKey) {
  const Arch arch = parse_arch(kToy, "toy.yaml");
  EXPECT_EQ(arch.name, "toy");
  EXPECT_EQ(arch.clock, Hertz{500e6});
  ASSERT_EQ(arch.levels.size(), 3U);

  Storage glb;
  glb.name = "GLB";
  glb.capacity.shared = Bits{108 * 8192};
  glb.word = Bits{32};
  glb.bandwidth.read = BitsPerCycle{64};
  glb.bandwidth.link = BitsPerCycle{8};
  glb.energy = {PicojoulesPerBit{2}, PicojoulesPerBit{8}, PicojoulesPerBit{2}};
  glb.double_buffered = true;
  glb.sliding = false;
  glb.bypass = {Role::kWeight};
  EXPECT_EQ(arch.levels[LevelId{1}], glb);
  EXPECT_TRUE(arch.levels[LevelId{2}].streamed);

  Fanout pes;
  pes.name = "PEs";
  pes.x = 14;
  pes.y = 12;
  pes.multicast = {Role::kInput};
  pes.spatial_reduction = true;
  pes.forwarding = false;
  pes.reduction_energy = Picojoules{0.05};
  pes.x_dims = {{GemmAxis::kM, GemmAxis::kK}, {"C"}};
  ASSERT_EQ(arch.fanouts.size(), 2U);
  EXPECT_EQ(arch.fanouts[FanoutId{0}], pes);
  EXPECT_EQ(arch.levels_above[FanoutId{0}], 2U);
  EXPECT_EQ(arch.levels_above[FanoutId{1}], 2U);

  Compute mac;
  mac.name = "MAC";
  mac.energy = Picojoules{1.5};
  mac.issue_interval = 2;
  mac.register_reuse = {Role::kWeight};
  EXPECT_EQ(arch.compute, mac);
  EXPECT_EQ(arch.mac_units(), 14 * 12 * 2);
}

TEST(LoadArch, FillsInTheDefaultsOfTheFormat) {
  const Arch arch = parse_arch(
      "name: a\n"
      "nodes:\n"
      "  - {storage: M, capacity: unlimited, energy: {read: 1 pJ/B, write: 2 pJ/B}}\n"
      "  - {fanout: F, x: 2}\n"
      "  - {compute: C, energy: 0 pJ}\n",
      "a.yaml");
  EXPECT_EQ(arch.clock, Hertz{1e9});
  Storage storage;
  storage.name = "M";
  storage.word = Bits{8};
  storage.energy = {PicojoulesPerBit{0.125}, PicojoulesPerBit{0.25}, PicojoulesPerBit{0.25}};
  storage.keep = kAllRoles;
  storage.kind = StorageKind::kDram;
  EXPECT_EQ(arch.levels[LevelId{0}], storage);
  Fanout fanout;
  fanout.name = "F";
  fanout.x = 2;
  fanout.multicast = {Role::kInput, Role::kWeight};
  EXPECT_EQ(arch.fanouts[FanoutId{0}], fanout);
  Compute compute;
  compute.name = "C";
  EXPECT_EQ(arch.compute, compute);
}

TEST(LoadArch, SwitchesRolesOnAndOffTogether) {
  std::string text = kToy;
  text.replace(text.find("[input]"), 7, "false");
  text.replace(text.find("register_reuse: [weight]"), 24, "register_reuse: true");
  const Arch arch = parse_arch(text, "toy.yaml");
  EXPECT_EQ(arch.fanouts[FanoutId{0}].multicast, RoleSet{});
  EXPECT_EQ(arch.compute.register_reuse, kAllRoles);
}

TEST(LoadArch, TurnsSecondsIntoCyclesByTheClock) {
  const auto shared = [](const std::string& text) {
    return *parse_arch(text, "toy.yaml").levels[LevelId{0}].bandwidth.shared;
  };
  std::string text = kToy;
  EXPECT_EQ(shared(text), BitsPerCycle{64});
  text.replace(text.find("500 MHz"), 7, "1 GHz");
  EXPECT_EQ(shared(text), BitsPerCycle{32});
}

TEST(LoadArch, ReadsTheExampleOfTheDocument) {
  const Arch arch = parse_arch(yaml_example("Architecture"), "formats.md");
  EXPECT_EQ(arch.name, "eyeriss");
  EXPECT_EQ(arch.mac_units(), 168);
}

TEST(LoadArch, TellsAllThatIsWrong) {
  expect_errors("arch/bad_architectures.txt", 79,
                [](const std::string& text) { parse_arch(text, "toy.yaml"); });
}

TEST(LoadArch, HoldsTheLimitOfLevels) {
  const auto with_levels = [](std::size_t count) {
    std::string text = "name: a\nnodes:\n";
    for (std::size_t i = 0; i < count; ++i) {
      text += "  - {storage: L" + std::to_string(i) +
              ", capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n";
    }
    return text + "  - {compute: C, energy: 0 pJ}\n";
  };
  EXPECT_EQ(parse_arch(with_levels(kMaxLevels), "a.yaml").levels.size(), kMaxLevels);
  EXPECT_EQ(error_text([&] { parse_arch(with_levels(kMaxLevels + 1), "a.yaml"); }),
            "a.yaml:19:5: nodes[16]: too many storages; at most 16\n"
            "  - {storage: L16, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
            "    ^");
}

// Half of a level that is double-buffered; nothing of one without a limit.
TEST(Capacities, AreThoseThatTilesMayUse) {
  const std::vector<FiniteCapacity> found = capacities_of(parse_arch(kToy, "toy.yaml"));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].level, LevelId{1});
  EXPECT_EQ(found[0].role, std::nullopt);
  EXPECT_EQ(found[0].bits, Bits{54 * 8192});
  EXPECT_EQ(found[1].role, Role::kInput);
  EXPECT_EQ(found[1].bits, Bits{24 * 8});
  EXPECT_EQ(found[2].level, LevelId{2});
  EXPECT_EQ(found[2].role, Role::kOutput);
  EXPECT_EQ(found[2].bits, Bits{48 * 8});
}

TEST(LoadArch, SurvivesDamagedFiles) {
  expect_survival(kToy, [](const std::string& text) { parse_arch(text, "toy.yaml"); });
}

}  // namespace
}  // namespace mapsim::load_test
