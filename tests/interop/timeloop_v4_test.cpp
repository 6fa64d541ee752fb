// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/diagnostic.hpp"
#include "interop/timeloop_import.hpp"
#include "tests/interop/timeloop_design.hpp"

// Designs of version 0.4, which Timeloop's front end rewrites before Timeloop reads them.
namespace mapsim::timeloop_v4_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using timeloop_design::kMapping;
using timeloop_design::kNodes;
using timeloop_design::kProblem;

std::string with(std::string text, const std::string& old, const std::string& now) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), now);
}

std::string error_of(const std::string& design) {
  try {
    parse_timeloop(design, "d.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was read";
}

// Each row: a text of the design, and the same as arithmetic of numbers alone.
struct Arithmetic {
  const char* name;
  const char* number;
  const char* expression;
};
void PrintTo(const Arithmetic& each, std::ostream* out) { *out << each.name; }

class TimeloopArithmetic : public ::testing::TestWithParam<Arithmetic> {};

TEST_P(TimeloopArithmetic, OfNumbersAloneIsEvaluated) {
  const std::string design =
      "variables: {version: 0.4, global_cycle_seconds: 2e-9}\n"
      "sparse_optimizations: {targets: [{name: mac, compute_optimization: [{type: gating}]}]}\n" +
      kNodes + with(kProblem, "densities: {}", "densities: {Weights: 0.5}") + kMapping;
  const auto [name, number, expression] = GetParam();
  const TimeloopImport one = parse_timeloop(design, "d.yaml");
  const TimeloopImport other = parse_timeloop(with(design, number, expression), "d.yaml");
  EXPECT_EQ(one.design.machine, other.design.machine);
  EXPECT_EQ(one.design.workload, other.design.workload);
  EXPECT_EQ(one.design.blocks, other.design.blocks);
  EXPECT_EQ(one.notes, other.notes);
}

INSTANTIATE_TEST_SUITE_P(
    Designs, TimeloopArithmetic,
    ::testing::Values(Arithmetic{"attribute", "depth: 512", "depth: 2 ** 9"},
                      Arithmetic{"call", "depth: 512", "depth: int(512.0)"},
                      Arithmetic{"condition", "depth: 512", "depth: 512 if True else 2"},
                      Arithmetic{"mesh", "meshX: 4", "meshX: 2 * 2"},
                      Arithmetic{"size", "P: 10", "P: 2 * 5"},
                      Arithmetic{"coefficient", "Stride, default: 1", "Stride, default: 3 - 2"},
                      Arithmetic{"density", "Weights: 0.5", "Weights: 1 / 2"},
                      Arithmetic{"factor", "[K=4,", "[K=2 * 2,"},
                      Arithmetic{"factors", "R3 K2", "R=1+2 K=2*1"},
                      Arithmetic{"split", "split: 1", "split: 2 - 1"},
                      Arithmetic{"variable", "seconds: 2e-9", "seconds: 2*1e-9"}),
    [](const auto& row) { return std::string{row.param.name}; });

TEST(TimeloopArithmetic, OfTheWidthOfAMacCounts) {
  const auto energy = [](const std::string& width) {
    return parse_timeloop(
               with(kNodes, "class: intmac\n      attributes: {",
                    "class: intmac\n      attributes: {multiplier_width: " + width + ", ") +
                   kProblem,
               "d.yaml")
        .design.machine.compute_energy;
  };
  EXPECT_EQ(energy("2*4"), energy("8"));
  EXPECT_NE(energy("2*4"), energy("2"));
}

// No number is read from the beginning of a text.
TEST(TimeloopArithmetic, DoesNotReadTheFirstNumberOfAText) {
  EXPECT_THAT(error_of(with(kNodes, "class: intmac\n      attributes: {",
                            "class: intmac\n      attributes: {multiplier_width: 8b, ")),
              HasSubstr("'8b' is not a number"));
  EXPECT_THAT(error_of(with(kNodes, "{depth: 24,", "{metadata_storage_depth: 4 rows, depth: 24,")),
              HasSubstr("'4 rows' is not a number"));
}

// The front end puts a mapping to the constraints of its nodes, and hands on both.
const std::string kRuled = [] {
  std::string nodes =
      with(kNodes, "{dataspace: {keep_only: [Inputs, Outputs]}, temporal: {factors: []}}",
           "{dataspace: {keep_only: [Inputs, Outputs]}, "
           "temporal: {factors_only: [R=3], permutation: [K, R]}}");
  nodes =
      with(nodes, "{meshX: 4, meshY: 2}",
           "{meshX: 4, meshY: 2}\n"
           "      constraints: {spatial: {factors: [K=4, P=2], permutation: [K, P], split: 1}}");
  return with(nodes, "{depth: 24, datawidth: 16}",
              "{depth: 24, datawidth: 16}\n      constraints: {dataspace: {bypass: [Inputs]}}") +
         kProblem;
}();
const std::string kUnsaid = R"(mapping:
  - {target: DRAM, type: temporal, factors: [P=5, K=2], permutation: RPK}
)";

TEST(TimeloopMapping, HasWhatItsNodesSay) {
  const TimeloopImport import = parse_timeloop(kRuled + kUnsaid, "d.yaml");
  EXPECT_EQ(import.design.blocks, parse_timeloop(kRuled + R"(mapping:
  - {target: DRAM, type: temporal, factors: [P=5, K=2], permutation: RPK}
  - {target: glb, type: dataspace, keep: [Inputs, Outputs], bypass: [Weights]}
  - {target: glb, type: temporal, factors: [R=3, K=1, P=1]}
  - {target: PE, type: spatial, factors: [K=4, P=2], permutation: KPR, split: 1}
  - {target: spad, type: dataspace, bypass: [Inputs]}
)",
                                                 "d.yaml")
                                      .design.blocks);
  const std::vector<TimeloopBlock>& blocks = import.design.blocks;
  const TensorSet all = blocks[0].keep;
  const TensorId weights{0};
  const TensorId inputs{1};
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(blocks[1].keep.size(), 2);
  EXPECT_FALSE(blocks[1].keep.contains(weights));
  EXPECT_FALSE(blocks[2].keep.contains(inputs));
  const DimId p{1};
  const DimId k{2};
  EXPECT_EQ(blocks[1].spatial,
            (std::vector<TimeloopLoop>{{p, 2, 2, Axis::kY}, {k, 4, 4, Axis::kX}}));
}

TEST(TimeloopMapping, MayNotSayOtherwiseThanItsNodes) {
  const auto error = [](const std::string& directive) {
    return error_of(kRuled + kUnsaid + "  - {target: " + directive + "}\n");
  };
  EXPECT_THAT(error("glb, type: temporal, factors: R=1"),
              HasSubstr("R=1, but R=3 by the constraints of glb"));
  EXPECT_THAT(error("spad, type: dataspace, keep: [Inputs]"),
              HasSubstr("kept or bypassed otherwise by the constraints of spad"));
  EXPECT_THAT(error("PE, type: spatial, factors: [K=4, P=2], permutation: PK, split: 1"),
              HasSubstr("P along X, but along Y by the constraints of glb"));
  EXPECT_THAT(
      error_of(with(kRuled, "factors_only: [R=3]", "factors: [R=3, K=2]") +
               "mapping:\n  - {target: DRAM, type: temporal, factors: P=5}\n"
               "  - {target: glb, type: temporal, permutation: RKP}\n"),
      HasSubstr(
          "d.yaml:41:5: mapping[1]: the order of these loops contradicts the constraints of glb"));
}

// Before version 0.4 Timeloop's model reads no constraints.
TEST(TimeloopMapping, OfOlderVersionsIsWholeByItself) {
  const std::string rules =
      "constraints: {targets: [{target: glb, type: dataspace, bypass: [Weights]}]}\n";
  const std::string mapping = with(kMapping, "bypass: [Weights]", "bypass: []");
  const std::string old = timeloop_design::kNested + kProblem + mapping;
  EXPECT_EQ(parse_timeloop(old + rules, "d.yaml").design.blocks,
            parse_timeloop(old, "d.yaml").design.blocks);
  const std::string nodes =
      with(kNodes, "{keep_only: [Inputs, Outputs]}", "{}") + kProblem + mapping;
  EXPECT_EQ(parse_timeloop(nodes, "d.yaml").design.blocks[1].keep.size(), 3);
  EXPECT_EQ(parse_timeloop(nodes + rules, "d.yaml").design.blocks[1].keep.size(), 2);
}

TEST(TimeloopArchitecture, HasOneOutermostStorage) {
  const std::string around =
      with(kNodes, "attributes: {technology: 45nm}", "spatial: {meshX: 3, meshY: 2}");
  EXPECT_THAT(error_of(around + kProblem),
              HasSubstr("d.yaml:6:16: architecture.nodes[0].spatial: 6 instances of DRAM, the "
                        "outermost storage, which is one here; leave them out (one works on its "
                        "share of the layer), or put a storage of all tensors before them"));
  const std::string below = with(around, "    - !Container\n      name: chip",
                                 "    - !Component {name: main, class: DRAM}\n"
                                 "    - !Container\n      name: chip");
  const TimeloopMachine machine = parse_timeloop(below + kProblem, "d.yaml").design.machine;
  EXPECT_EQ(machine.fanout(0, Axis::kX) * machine.fanout(0, Axis::kY), 6);
  EXPECT_THAT(
      error_of(with(timeloop_design::kNested, "name: chip", "name: 'chip[0..2]'") + kProblem),
      HasSubstr("d.yaml:4:13: architecture.subtree[0].name: 3 instances of DRAM"));
  EXPECT_THAT(error_of(with(kNodes, "class: DRAM", "class: dummy_storage") + kProblem),
              HasSubstr("DRAM keeps nothing; the outermost storage keeps every tensor here"));
}

TEST(TimeloopConstraints, OfNodesNameDimsWhateverVariablesAreCalled) {
  const auto blocks = [](const std::string& variables) {
    return parse_timeloop("variables: {version: 0.4" + variables + "}\n" + kRuled + kUnsaid,
                          "d.yaml")
        .design.blocks;
  };
  EXPECT_EQ(blocks(", K: 7, Inputs: 5"), blocks(""));
}

TEST(TimeloopProblem, HasNoKeysThatNobodyReads) {
  const auto error = [](const std::string& key) {
    return error_of(kNodes + with(kProblem, "  instance:", "  " + key + ": 4\n  instance:"));
  };
  EXPECT_THAT(error("P"),
              HasSubstr("'P' beside 'instance', under which alone Timeloop reads sizes: put it "
                        "there, or leave it out"));
  EXPECT_THAT(error("densities"), HasSubstr("'densities' beside 'instance'"));
  EXPECT_THAT(error("instnce"),
              HasSubstr("unknown key 'instnce' of a problem; did you mean 'instance'?"));
  EXPECT_THAT(
      parse_timeloop(kNodes + with(kProblem, "  instance:", "  notes: a\n  instance:"), "d.yaml")
          .notes,
      Contains("ignored keys of the problem: notes"));
}

// Of the MAC, which a table replaces, as Timeloop does.
TEST(TimeloopAttributes, GiveTheEnergyAndAreaOfAMac) {
  const std::string design = with(kNodes, "class: intmac\n      attributes: {",
                                  "class: intmac\n      attributes: {energy: 5.5, area: 3, ") +
                             kProblem;
  const TimeloopImport import = parse_timeloop(design, "d.yaml");
  EXPECT_EQ(import.design.machine.compute_energy, 5.5);
  EXPECT_EQ(import.design.machine.compute_area, 3e-6);  // mm2
  EXPECT_EQ(import.origins.at("mac"), "energy by its attribute; area by its attribute");
  const TimeloopImport table = parse_timeloop(design + timeloop_design::kEnergies, "d.yaml");
  EXPECT_EQ(table.design.machine.compute_energy, 2);
  EXPECT_EQ(table.design.machine.compute_area, 3e-6);
  EXPECT_THAT(table.notes, Contains("mac: its attribute energy (5.5) does not count beside a "
                                    "table, as in Timeloop"));
}

TEST(TimeloopAttributes, OfReadsAndWritesCountBeforeThatOfBoth) {
  const auto glb = [](const std::string& text) {
    return parse_timeloop(with(kNodes, "read_bandwidth: 8", text) + kProblem, "d.yaml")
        .design.machine.storages[1];
  };
  EXPECT_EQ(glb("bandwidth: 8, read_bandwidth: 16").read_bandwidth, 16);
  EXPECT_EQ(glb("bandwidth: 8, read_bandwidth: 16").write_bandwidth, 4);
  EXPECT_EQ(glb("bandwidth: 8, write_bandwidth: 16").read_bandwidth, 4);
  EXPECT_EQ(glb("bandwidth: 8, write_bandwidth: 16").write_bandwidth, 16);
}

std::string branches(const std::string& last) {
  return with(kNodes, "    - !Component\n      name: spad",
              "    - !Parallel\n      nodes:\n"
              "      - !Component {name: a, class: regfile, attributes: {depth: 8}, "
              "constraints: {dataspace: {keep: [Weights]}}}\n"
              "      - !Component {name: b, class: regfile, attributes: {depth: 8}, "
              "constraints: {dataspace: {keep: [Inputs]}}}\n" +
                  last + "    - !Component\n      name: spad") +
         kProblem;
}

TEST(TimeloopBranches, KeepEachDataSpaceInOneOfThem) {
  EXPECT_THAT(error_of(branches("")),
              HasSubstr("no branch of !Parallel keeps Outputs; what bypasses all of them is kept "
                        "by one more: - !Nothing {constraints: {dataspace: {keep: [Outputs]}}}"));
  const TimeloopImport import = parse_timeloop(
      branches("      - !Nothing {constraints: {dataspace: {keep: [Outputs]}}}\n"), "d.yaml");
  ASSERT_EQ(import.constraints.size(), 3U);  // glb, a, b
  EXPECT_EQ(import.constraints[1].bypass.size(), 2);
  EXPECT_EQ(import.constraints[2].bypass.size(), 2);
  EXPECT_THAT(error_of(branches(
                  "      - !Nothing {constraints: {dataspace: {keep: [Outputs, Inputs]}}}\n")),
              HasSubstr("Inputs is kept in two branches of !Parallel"));
}

TEST(TimeloopBranches, ArePipelinedAsTheyAreHierarchical) {
  const auto nested = [](const std::string& tag) {
    const std::string nodes = "BITS: 16}\n    - " + tag +
                              "\n      nodes:\n      - !Component {name: "
                              "DRAM, class: DRAM, attributes: {width: 4 * BITS, datawidth: BITS}}\n"
                              "      - !Container {name: row, attributes: {DEPTH: 512}}\n";
    const std::string out = with(kNodes,
                                 "technology: 45nm}\n    - !Component\n      name: DRAM\n"
                                 "      class: DRAM\n"
                                 "      attributes: {width: 64, datawidth: 16}\n",
                                 nodes);
    return parse_timeloop(with(out, "depth: 512", "depth: DEPTH") + kProblem, "d.yaml").design;
  };
  EXPECT_EQ(nested("!Pipelined").machine, nested("!Hierarchical").machine);
  EXPECT_EQ(nested("!Pipelined").machine.storages[1].words, 2048);
}

// What the front end expands: a text of the constraints, and the same in longer words.
struct Macro {
  const char* name;
  const char* macro;
  const char* expanded;
};
void PrintTo(const Macro& each, std::ostream* out) { *out << each.name; }

class TimeloopMacro : public ::testing::TestWithParam<Macro> {};

TEST_P(TimeloopMacro, IsExpanded) {
  const auto read = [](const std::string& constraints) {
    return constraints_text(parse_timeloop(
        with(kNodes, "{dataspace: {keep_only: [Inputs, Outputs]}, temporal: {factors: []}}",
             constraints) +
            kProblem,
        "d.yaml"));
  };
  EXPECT_EQ(read(GetParam().macro), read(GetParam().expanded));
  EXPECT_NE(read(GetParam().macro), read("{}"));
}

INSTANTIATE_TEST_SUITE_P(
    Constraints, TimeloopMacro,
    ::testing::Values(Macro{"all", "{dataspace: {keep: ['*']}}",
                            "{dataspace: {keep: [Weights, Inputs, Outputs]}}"},
                      Macro{"bypass_only", "{dataspace: {bypass_only: [Weights]}}",
                            "{dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}}"},
                      Macro{"no_iteration", "{temporal: {no_iteration_over_dataspaces: [Weights]}}",
                            "{temporal: {factors: [K=1, R=1]}}"},
                      Macro{"must_iterate",
                            "{temporal: {must_iterate_over_dataspaces: [Inputs], factors: [R=3]}}",
                            "{temporal: {factors: [K=1, R=3]}}"}),
    [](const auto& row) { return std::string{row.param.name}; });

TEST(TimeloopMacros, MayNotContradictFactors) {
  EXPECT_THAT(error_of(with(kNodes, "{factors: []}",
                            "{factors: [K=2], no_iteration_over_dataspaces: [Weights]}") +
                       kProblem),
              HasSubstr("a factor of K in a constraint that lets no loop go over it"));
}

TEST(TimeloopNodes, ThatAreNotEnabledAreNone) {
  const TimeloopDesign without =
      parse_timeloop(with(kNodes, "depth: 512", "depth: 256") + kProblem, "d.yaml").design;
  EXPECT_EQ(parse_timeloop(
                with(with(kNodes, "depth: 512", "depth: 256"), "    - !Component\n      name: spad",
                     "    - !Component {name: l2, class: SRAM, enabled: False}\n"
                     "    - !Container {name: six, spatial: {meshX: 6}, enabled: no}\n"
                     "    - !Component\n      name: spad") +
                    kProblem,
                "d.yaml")
                .design.machine,
            without.machine);
  EXPECT_THAT(
      parse_timeloop(branches("      - !Component {name: c, class: regfile, enabled: False, "
                              "constraints: {dataspace: {keep: [Outputs]}}}\n"),
                     "d.yaml")
          .design.machine.storages.size(),
      5);
}

TEST(TimeloopProblem, MayHaveDimsForRanks) {
  EXPECT_EQ(parse_timeloop(with(kProblem, "[[[K]], [[P]]]", "[K, P]"), "d.yaml").design.workload,
            parse_timeloop(kProblem, "d.yaml").design.workload);
  EXPECT_THAT(error_of(with(kProblem, "[[[K]], [[P]]]", "[K, L]")), HasSubstr("not 'L'"));
}

TEST(TimeloopAttributes, AroundStoragesMayBeAroundTheirMac) {
  const std::string design =
      with(kNodes, "{depth: 24, datawidth: 16}", "{datawidth: 16}") + kProblem;
  const std::string around = with(design, "spatial: {meshX: 4, meshY: 2}",
                                  "spatial: {meshX: 4, meshY: 2}\n      attributes: {depth: 24}");
  EXPECT_EQ(parse_timeloop(around, "d.yaml").design.machine.storages[2].words, 24);
  EXPECT_THAT(error_of(with(design, "class: intmac\n      attributes: {",
                            "class: intmac\n      attributes: {depth: 24, ")),
              HasSubstr("unknown attribute 'depth' of mac"));
}

TEST(TimeloopAttributes, OfTwoNamesAreNotedOnce) {
  const auto notes = [](const std::string& text) {
    const auto all = parse_timeloop(with(kNodes, "depth: 512", text) + kProblem, "d.yaml").notes;
    return std::count_if(all.begin(), all.end(), [](const std::string& each) {
      return each.find("beside") != std::string::npos;
    });
  };
  EXPECT_EQ(notes("depth: 512"), 0);
  EXPECT_EQ(notes("depth: 512, memory_depth: 256"), 1);
  EXPECT_EQ(notes("depth: 512, entries: 256"), 1);
  EXPECT_EQ(notes("depth: 512, entries: 2048"), 0);  // of 4 words each
}

TEST(TimeloopComponents, HaveNoShareOfTheirAreas) {
  EXPECT_THAT(error_of(with(kNodes, "class: DRAM", "class: DRAM\n      area_share: 2") + kProblem),
              HasSubstr("'area_share' is not known here"));
}

// The largest energy of a component is taken of all its actions.
TEST(TimeloopEnergies, AreIgnoredOrTakenButNotBoth) {
  const std::string table = with(timeloop_design::kEnergies,
                                 "actions: [{name: read, energy: 0.5}, "
                                 "{name: write, energy: 0.75}]",
                                 "actions: [{name: access, energy: 0.5}]");
  const auto notes = parse_timeloop(kNodes + kProblem + table, "d.yaml").notes;
  EXPECT_THAT(notes, Contains(HasSubstr("spad: the table has no energy for its reads and writes; "
                                        "the largest of its actions is taken")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("access"))));
}

}  // namespace
}  // namespace mapsim::timeloop_v4_test
