// SPDX-License-Identifier: Apache-2.0
// What files of Timeloop say by other means than the usual ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/timeloop_import.hpp"
#include "workloads/print.hpp"

namespace mapsim::timeloop_files_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
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
  EXPECT_THAT(alone.notes, Contains(HasSubstr("glb: neither energy_per_hop nor wire_energy")));
  EXPECT_THAT(alone.notes, Contains(HasSubstr("spad: its words have 8 b and those of DRAM 16 b, "
                                              "but in Timeloop each holds one element; written "
                                              "with words of 16 b")));
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

// Timeloop asserts that there is one.
TEST(TimeloopFiles, AStorageHasOneSize) {
  for (const char* words : {"depth: 3", "entries: 16", "memory_depth: 4294967295"}) {
    std::string both = kMachine;
    both.replace(both.find("sizeKB: 4"), 0, std::string{words} + ", ");
    try {
      parse_timeloop(both, "a.yaml");
      ADD_FAILURE() << words;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("sizeKB beside a number of entries (")) << words;
      EXPECT_THAT(error.what(), HasSubstr(", line 7) of glb: leave one of them out")) << words;
    }
  }
}

// A coefficient of 0: along a dim of one point it says nothing, along others there is no motion.
TEST(TimeloopFiles, ReadCoefficientsOfZero) {
  const auto read = [](const std::string& filter) {
    return parse_timeloop("problem: {shape: cnn-layer, C: 3, K: 8, " + filter +
                              ", P: 10, Q: 12, N: 1, Wstride: 2, Hstride: 1, Wdilation: 0, "
                              "Hdilation: 0}\n",
                          "layer.yaml");
  };
  const TimeloopImport point = read("R: 1, S: 1");
  EXPECT_NE(print_workload(point.design.workload).find("Inputs[N][C][R+2*P][S+Q]"),
            std::string::npos);
  EXPECT_THAT(point.notes, ElementsAre("no architecture: an element is 8 b wide"));
  const TimeloopImport fixed = read("R: 3, S: 1");
  EXPECT_NE(print_workload(fixed.design.workload).find("Inputs[N][C][2*P][S+Q]"),
            std::string::npos);
  EXPECT_THAT(fixed.notes, Contains("Inputs does not move along R, whose coefficient is 0"));
  EXPECT_THROW(
      parse_timeloop("problem: {shape: cnn-layer, C: 3, K: 8, R: 3, S: 1, P: 10, Q: 12, N: 1, "
                     "Wstride: 0, Hstride: 1, Wdilation: 0, Hdilation: 1}\n",
                     "layer.yaml"),
      ConfigError);
}

const std::string kMapping = R"(mapping:
  - {target: DRAM, type: temporal, factors: M=2 N=8 K=32, permutation: NKM}
  - {target: glb, type: datatype, keep: [A, Z], bypass: [B]}
  - {target: glb, type: spatial, factors: M=8, permutation: MKN}
)";

// The node of the table of energies, too, may stand among the variables.
TEST(TimeloopFiles, TakeTheTechnologyOfTheVariables) {
  const auto first_note = [](const std::string& variables) {
    return read(variables).notes.front();
  };
  EXPECT_THAT(first_note(""), HasSubstr("technology not said: the table of 45nm"));
  EXPECT_THAT(first_note("variables: {technology: 40nm}\n"),
              HasSubstr("technology '40nm': the table of 45nm"));
  for (const std::string& note : read("variables: {technology: 45nm}\nsim: {}\n").notes) {
    EXPECT_EQ(note.find("variables"), std::string::npos) << note;
  }
  EXPECT_NE(read("variables: {technology: 16nm}\n").design.machine.compute_energy,
            read().design.machine.compute_energy);
}

// '<' asks for a greatest factor, '>' for a least one.
TEST(TimeloopFiles, SayWhatASignOfFactorsAsksFor) {
  const auto refusal = [](const std::string& section, const std::string& factors) -> std::string {
    try {
      read(section + ": [{target: glb, type: temporal, factors: " + factors + "}]\n");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string known = ": expected the sign '=' or, in constraints, '<='; ";
  EXPECT_THAT(refusal("constraints", "K<2"),
              HasSubstr("'K<2'" + known + "'<' is '<=' and one less"));
  EXPECT_THAT(refusal("constraints", "K>2"),
              HasSubstr(known + "a least factor has no counterpart"));
  EXPECT_THAT(refusal("mapping", "K<=2"), HasSubstr(known + "a mapping says the factor itself"));
}

// Our tables, as Accelergy, take the width of a MAC from around it, where Timeloop reads none.
TEST(TimeloopFiles, SayWhatTablesTakeFromAroundAMac) {
  const auto with = [](const std::string& own, const TimeloopOptions& options) {
    std::string text = kMachine + kProblem;
    text.replace(text.find("{datawidth: 8}"), 14, own);
    text.insert(text.find("      local:"), "      attributes: {datawidth: 24}\n");
    return parse_timeloop(text, "a.yaml", options);
  };
  const std::string note = "'datawidth' (24) around mac is not read";
  const std::string reason =
      ", as by Timeloop: before version 0.4 a component has its own attributes alone";
  const TimeloopImport taken = with("{}", {});
  EXPECT_THAT(taken.notes, Contains(note + " for counts and cycles" + reason +
                                    "; our tables of energies take it"));
  EXPECT_EQ(taken.design.machine.compute_energy,
            with("{datawidth: 24}", {}).design.machine.compute_energy);
  EXPECT_THAT(with("{multiplier_width: 8}", {}).notes, Contains(note + reason));
  TimeloopOptions counts;
  counts.counts_only = true;
  EXPECT_THAT(with("{}", counts).notes, Contains(note + reason));
}

// Timeloop knows no 'stream', and links between neighbours save nothing here anyway.
TEST(TimeloopFiles, LeaveOutDemandsThatChangeNothing) {
  std::string mapping = kMapping;
  mapping.replace(mapping.find("bypass: [B]"), 11, "bypass: [B], stream: [A]");
  mapping.replace(mapping.find("permutation: MKN"), 16,
                  "permutation: MKN, no_link_transfer: [A, B]");
  const TimeloopImport import = read(mapping);
  const TimeloopImport plain = read(kMapping);
  EXPECT_EQ(import.design.blocks, plain.design.blocks);
  EXPECT_EQ(import.notes.size(), plain.notes.size() + 1);
  EXPECT_THAT(import.notes, Contains("ignored demands of the mapping, which change no count here: "
                                     "stream (glb); no_link_transfer (glb)"));
}

// An architecture alone is an answer to whoever has no layer yet; a mapping alone is none.
TEST(TimeloopFiles, LeaveOutConstraintsWithoutALayer) {
  const TimeloopImport import = parse_timeloop(
      kMachine + "constraints: [{target: glb, type: bypass, bypass: [B]}]\n", "d.yaml");
  EXPECT_TRUE(import.has_machine);
  EXPECT_THAT(import.notes, Contains("constraints are left out: they are rules for mappings, and "
                                     "a problem is missing"));
  EXPECT_EQ(parse_timeloop(kMachine + "architecture_constraints: {targets: []}\n"
                                      "mapspace_constraints: {targets: [{target: glb, "
                                      "type: bypass, bypass: [B]}]}\n",
                           "d.yaml")
                .notes,
            import.notes);
  EXPECT_THROW(parse_timeloop(kMachine + kMapping, "d.yaml"), ConfigError);
}

}  // namespace
}  // namespace mapsim::timeloop_files_test
