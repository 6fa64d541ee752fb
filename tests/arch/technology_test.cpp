// SPDX-License-Identifier: Apache-2.0
#include "arch/technology.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/load.hpp"

namespace mapsim::technology_test {
namespace {

constexpr std::int64_t kKib = 8192;  // bits

double sram(Technology technology, double kib) {
  const Bits size{static_cast<std::int64_t>(kib * kKib)};
  return 64 * storage_energy(technology, StorageKind::kSram, size).value;
}

TEST(TechnologyTable, HoldsThePublishedSramPoints) {
  EXPECT_DOUBLE_EQ(sram(Technology::k45nm, 8), 10);
  EXPECT_DOUBLE_EQ(sram(Technology::k45nm, 32), 20);
  EXPECT_DOUBLE_EQ(sram(Technology::k45nm, 1024), 100);
  EXPECT_DOUBLE_EQ(sram(Technology::k7nm, 8), 7.5);
  EXPECT_DOUBLE_EQ(sram(Technology::k7nm, 1024), 14);
}

// The machines of configs/ took theirs from the same points by the same rule, with fewer digits.
TEST(TechnologyTable, AgreesWithTheTableOfTheShippedMachines) {
  EXPECT_NEAR(sram(Technology::k45nm, 1.0 / 1024), 0.11, 0.005);
  EXPECT_NEAR(sram(Technology::k45nm, 0.375), 2.17, 0.005);
  EXPECT_NEAR(sram(Technology::k45nm, 4), 7.07, 0.005);
  EXPECT_NEAR(sram(Technology::k45nm, 16), 14.1, 0.05);
  EXPECT_NEAR(sram(Technology::k45nm, 64), 27.6, 0.05);
  EXPECT_NEAR(sram(Technology::k45nm, 128), 38.1, 0.05);
}

TEST(TechnologyTable, GrowsWithSizeAndShrinksWithTheProcess) {
  double last45 = 0;
  double last7 = 0;
  for (double kib = 1.0 / 1024; kib < 1 << 17; kib *= 1.7) {
    const double at45 = sram(Technology::k45nm, kib);
    const double at16 = sram(Technology::k16nm, kib);
    const double at7 = sram(Technology::k7nm, kib);
    EXPECT_GT(at45, last45);
    EXPECT_GT(at7, last7);
    EXPECT_GT(at45, at16) << kib;
    EXPECT_GT(at16, at7) << kib;
    last45 = at45;
    last7 = at7;
  }
}

TEST(TechnologyTable, HoldsThePublishedOperations) {
  const auto t = Technology::k45nm;
  EXPECT_DOUBLE_EQ(multiply_energy(t, NumberFormat::kInteger, Bits{8}, Bits{8}).value, 0.2);
  EXPECT_DOUBLE_EQ(multiply_energy(t, NumberFormat::kInteger, Bits{32}, Bits{32}).value, 3.1);
  EXPECT_DOUBLE_EQ(multiply_energy(t, NumberFormat::kFloat, Bits{16}, Bits{16}).value, 1.1);
  EXPECT_DOUBLE_EQ(multiply_energy(t, NumberFormat::kFloat, Bits{32}, Bits{32}).value, 3.7);
  EXPECT_DOUBLE_EQ(add_energy(t, NumberFormat::kInteger, Bits{8}).value, 0.03);
  EXPECT_DOUBLE_EQ(add_energy(t, NumberFormat::kInteger, Bits{32}).value, 0.1);
  EXPECT_DOUBLE_EQ(add_energy(t, NumberFormat::kFloat, Bits{16}).value, 0.4);
  const auto n = Technology::k7nm;
  EXPECT_DOUBLE_EQ(multiply_energy(n, NumberFormat::kBfloat, Bits{16}, Bits{16}).value, 0.21);
  EXPECT_DOUBLE_EQ(add_energy(n, NumberFormat::kBfloat, Bits{32}).value, 0.38);
}

// 16 b squared: four arrays of 8 b squared, nearly.
TEST(TechnologyTable, ScalesAMultiplierWithItsCells) {
  const auto multiply = [](std::int64_t a, std::int64_t b) {
    return multiply_energy(Technology::k45nm, NumberFormat::kInteger, Bits{a}, Bits{b});
  };
  EXPECT_NEAR(multiply(16, 16).value, 0.8, 0.02);
  EXPECT_DOUBLE_EQ(multiply(8, 32).value, multiply(16, 16).value);
  EXPECT_EQ(multiply(16, 16).status, Status::kEstimate);
  EXPECT_EQ(multiply(8, 8).status, Status::kConfirmed);
}

TEST(TechnologyTable, SaysWhereANumberComesFrom) {
  EXPECT_EQ(storage_energy(Technology::k45nm, StorageKind::kSram, Bits{8 * kKib}).source,
            "45 nm table: Horowitz ISSCC 2014; 64 b of this size (confirmed)");
  EXPECT_EQ(storage_energy(Technology::k7nm, StorageKind::kSram, Bits{64 * kKib}).source,
            "7 nm table: Jouppi ISCA 2021; 64 b on the line from 32 KiB to 1 MiB (estimate)");
  EXPECT_EQ(storage_energy(Technology::k7nm, StorageKind::kHbm2, Bits{0}).source,
            "hbm2: O'Connor MICRO 2017 (confirmed)");
}

constexpr const char* kBare = R"(name: bare
technology: 45nm
nodes:
  - {storage: DRAM, capacity: unlimited}
  - {storage: HBM, capacity: 1 GiB, kind: hbm2}
  - {storage: GLB, capacity: 32 KiB}
  - {storage: own, capacity: 32 KiB, energy: {read: 1 pJ/b, write: 2 pJ/b}}
  - {storage: parts, capacity: {input: 4 KiB, weight: 3 KiB, output: 1 KiB}, kind: regfile}
  - {compute: MAC}
)";

TEST(LoadArch, TakesWhatIsLeftOutFromTheTechnology) {
  const Arch arch = parse_arch(kBare, "bare.yaml");
  const auto read = [&arch](std::size_t level) {
    return arch.levels[static_cast<LevelId>(level)].energy.read.count();
  };
  EXPECT_DOUBLE_EQ(read(0), 1300.0 / 64);
  EXPECT_DOUBLE_EQ(read(1), 3.92);
  EXPECT_DOUBLE_EQ(read(2), 20.0 / 64);
  EXPECT_DOUBLE_EQ(read(3), 1);
  EXPECT_DOUBLE_EQ(read(4), 10.0 / 64);
  EXPECT_EQ(arch.levels[LevelId{2}].energy.update.count(), read(2));
  EXPECT_EQ(arch.levels[LevelId{3}].sources, StorageSources{});
  EXPECT_NE(arch.levels[LevelId{2}].sources.update, "");
}

TEST(LoadArch, TakesTheEnergyOfAHopFromTheTechnologyIfAsked) {
  const auto fanout = [](const std::string& rest) {
    std::string text = kBare;
    text.insert(text.find("  - {compute"), "  - {fanout: F, x: 2" + rest + "}\n");
    return parse_arch(text, "bare.yaml").fanouts[FanoutId{0}];
  };
  EXPECT_EQ(fanout("").energy_per_hop, std::nullopt);
  EXPECT_EQ(fanout(", energy_per_hop: 0.5 pJ/B").energy_per_hop, PicojoulesPerBit{0.0625});
  EXPECT_EQ(fanout(", energy_per_hop: 3 pJ/word, word: 12 b").energy_per_hop,
            PicojoulesPerBit{0.25});
  const Fanout asked = fanout(", energy_per_hop: technology");
  EXPECT_NEAR(asked.energy_per_hop->count(), 0.0303, 1e-4);
  EXPECT_EQ(asked.hop_source, hop_energy(Technology::k45nm).source);
  EXPECT_GT(hop_energy(Technology::k45nm).value, hop_energy(Technology::k16nm).value);
  EXPECT_GT(hop_energy(Technology::k16nm).value, hop_energy(Technology::k7nm).value);
}

TEST(LoadArch, KnowsWhatLeaksAndWhatDoesNotSay) {
  const Arch arch = parse_arch(kBare, "bare.yaml");
  EXPECT_EQ(total_leakage(arch).missing, (std::vector<std::string>{"DRAM", "HBM", "MAC"}));
  // 32 KiB twice, and 8 KiB of register file, which has four cells a bit; 100 pW each.
  EXPECT_NEAR(total_leakage(arch).sum->count(), (64 + 8 * 4) * kKib * 100e-9, 1e-12);
  EXPECT_NEAR(total_area(arch).sum->count(), (64 + 8 * 4) * kKib * 0.346 * 2e-6, 1e-12);
}

TEST(TotalArea, CountsInstances) {
  const Arch arch = parse_arch(R"(name: a
nodes:
  - {storage: M, capacity: unlimited, energy: {read: 1 pJ/B, write: 2 pJ/B}, area: 3 mm2}
  - {fanout: F, x: 2, y: 5}
  - {storage: R, capacity: 1 B, energy: {read: 1 pJ/B, write: 2 pJ/B}}
  - {compute: C, energy: 0 pJ, area: 100000 um2, leakage: 50 uW}
)",
                               "a.yaml");
  EXPECT_DOUBLE_EQ(total_area(arch).sum->count(), 3 + 10 * 0.1);
  EXPECT_EQ(total_area(arch).missing, std::vector<std::string>{"R"});
  EXPECT_DOUBLE_EQ(total_leakage(arch).sum->count(), 10 * 0.05);
}

TEST(TotalArea, FollowsTheCapacityWhereItIsGivenPerBit) {
  const Arch arch = parse_arch(R"(name: a
nodes:
  - {storage: M, capacity: unlimited, energy: {read: 1 pJ/B, write: 2 pJ/B}}
  - {storage: B, capacity: 1 KiB, energy: {read: 1 pJ/B, write: 2 pJ/B}, area: 0.5 um2/b}
  - {fanout: F, x: 3}
  - {storage: R, capacity: {input: 2 B, output: 4 B}, energy: {read: 1 pJ/B, write: 2 pJ/B},
     area: 8 um2/B}
  - {compute: C, energy: 0 pJ}
)",
                               "a.yaml");
  EXPECT_DOUBLE_EQ(arch.levels[LevelId{1}].physical.area->count(), 8192 * 0.5e-6);
  EXPECT_DOUBLE_EQ(total_area(arch).sum->count(), 8192 * 0.5e-6 + 3 * 6 * 8e-6);
}

TEST(TotalArea, PerBitNeedsACapacity) {
  try {
    parse_arch(
        "name: a\nnodes:\n"
        "  - {storage: M, capacity: unlimited, energy: {read: 1 pJ/B, write: 2 pJ/B}, area: 1 "
        "um2/b}\n"
        "  - {compute: C, energy: 0 pJ, area: 1 mm2/s}\n",
        "a.yaml");
    FAIL() << "should not read";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2U);
    EXPECT_EQ(error.diagnostics()[0].message,
              "'1 um2/b' needs a capacity to be the area of; give the whole, like '0.1 mm2'");
    EXPECT_EQ(error.diagnostics()[1].message,
              "unknown unit 'mm2/s' in '1 mm2/s'; units here: mm2, um2; of a memory also per b or "
              "B");
  }
}

TEST(TotalLeakage, IsNotZeroWhenItIsNotGiven) {
  const Arch arch = parse_arch(
      "name: a\nnodes:\n"
      "  - {storage: M, capacity: unlimited, energy: {read: 1 pJ/B, write: 2 pJ/B}}\n"
      "  - {compute: C, energy: 0 pJ}\n",
      "a.yaml");
  EXPECT_FALSE(total_leakage(arch).sum.has_value());
  EXPECT_FALSE(total_area(arch).sum.has_value());
}

}  // namespace
}  // namespace mapsim::technology_test
