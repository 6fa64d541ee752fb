// SPDX-License-Identifier: Apache-2.0
// What files of Timeloop say by other means than the usual ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kMachine = R"(architecture:
  version: 0.3
  subtree:
    - name: chip
      local:
        - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}
        - {name: glb, class: SRAM, attributes: {sizeKB: 4, width: 64, word-bits: 16}}
      subtree:
        - name: PE[0..7]
          local:
            - {name: spad, class: regfile, attributes: {depth: 24, width: 8, word-bits: 8}}
            - {name: mac, class: intmac, attributes: {datawidth: 8}}
)";
const std::string kProblem = R"(problem:
  shape:
    name: product
    dimensions: [M, N, K]
    data-spaces:
      - {name: A, projection: [[[M]], [[K]]]}
      - {name: B, projection: [[[K]], [[N]]]}
      - {name: Z, projection: [[[M]], [[N]]], read-write: true}
  instance: {M: 16, N: 8, K: 32}
)";

TimeloopImport read(const std::string& more = "") {
  return parse_timeloop(kMachine + kProblem + more, "a.yaml");
}

// A mapspace may have several lists, and name the one that counts.
TEST(TimeloopFiles, TheConstraintsThatAreNamedCount) {
  const auto text = [](const std::string& named) {
    return "mapspace:\n" + named +
           "  constraints_rows:\n"
           "    - {target: glb, type: temporal, factors: M=1 N<=2, permutation: MNK}\n"
           "  constraints_columns:\n"
           "    - {target: glb, type: temporal, factors: M=4}\n";
  };
  const TimeloopImport rows = read(text("  constraints: rows\n"));
  EXPECT_THAT(constraints_text(rows),
              HasSubstr("glb_to_spad: {order: [K, N], factors: {N: {max: 2}}}"));
  EXPECT_THAT(rows.notes, Contains(HasSubstr("'constraints_columns' is not read")));
  EXPECT_THAT(constraints_text(read(text("  constraints: columns\n"))),
              HasSubstr("factors: {M: 4}"));
  EXPECT_EQ(constraints_text(read(text(""))), constraints_text(read()));
  try {
    read(text("  constraints: diagonals\n"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no 'constraints_diagonals' beside it"));
  }
}

// A machine without a layer is described as one with a layer is.
TEST(TimeloopFiles, AMachineAloneHasTheSameNotes) {
  const TimeloopImport alone = parse_timeloop(kMachine, "a.yaml");
  EXPECT_EQ(alone.notes, read().notes);
  EXPECT_THAT(alone.notes, Contains(HasSubstr("glb: no energy_per_hop")));
  EXPECT_THAT(alone.notes, Contains(HasSubstr("spad: a word of 8 b holds one element, as one of "
                                              "16 b does at DRAM; written as 16 b")));
}

// As in Timeloop's buffer.hpp and arithmetic.hpp (kDefaultWordBits).
TEST(TimeloopFiles, AWordWithoutAWidthHas16Bits) {
  const TimeloopImport import = parse_timeloop(
      "arch:\n  arithmetic: {name: MAC, instances: 4}\n  storage:\n"
      "  - {name: RF, instances: 4, entries: 64, width: 64}\n"
      "  - {name: DRAM, instances: 1, technology: DRAM}\n",
      "a.yaml");
  EXPECT_EQ(import.design.machine.compute_bits, 16);
  for (const TimeloopStorage& storage : import.design.machine.storages) {
    EXPECT_EQ(storage.word_bits, 16) << storage.name;
  }
  EXPECT_EQ(import.design.machine.storages[1].block, 4);
}

TEST(TimeloopFiles, ASizeInKilobytesMayBeLarge) {
  std::string large = kMachine;
  large.replace(large.find("sizeKB: 4"), 9, "sizeKB: 2147483648");
  const TimeloopImport import = parse_timeloop(large, "a.yaml");
  EXPECT_EQ(import.design.machine.storages[1].words, std::int64_t{1} << 40);
  large.replace(large.find("2147483648"), 10, "4294967296");
  EXPECT_THROW(parse_timeloop(large, "a.yaml"), ConfigError);
}

}  // namespace
}  // namespace mapsim
