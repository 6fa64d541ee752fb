// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/timeloop_mapping.hpp"
#include "tests/interop/timeloop_design.hpp"

namespace mapsim::timeloop_export_test {
namespace {

using ::testing::HasSubstr;
using timeloop_design::kEnergies;
using timeloop_design::kMapping;
using timeloop_design::kNested;
using timeloop_design::kNodes;
using timeloop_design::kProblem;

TEST(TimeloopExport, RefusesByNameWhatTimeloopCannotSay) {
  const TimeloopDesign design = parse_timeloop(kNested + kEnergies + kProblem, "a.yaml").design;
  const Arch arch = to_arch(design.machine);
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  const LevelId dram{0};
  const LevelId spad{2};
  const auto refusal = [&](const std::vector<MappingNode>& nodes) -> std::string {
    try {
      to_timeloop_blocks(arch, design.workload, Mapping{nodes});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  const DimId p{1};
  const DimId k{2};
  EXPECT_EQ(refusal({Keep{dram, all}, Keep{spad, {TensorId{0}}}, Temporal{p, 1},
                     Keep{spad, {TensorId{1}}}}),
            "Timeloop has no word for tensors that spad keeps at different points (an uneven "
            "mapping); 'mapsim search --even' leaves such mappings out");
  EXPECT_EQ(
      refusal({Keep{dram, all}, Temporal{p, 4}, Temporal{k, 1}, Temporal{p, 1}}),
      "Timeloop has no word for two loops over P in one level; 'one_loop_per_dim: true' in the "
      "constraints of a search leaves such mappings out");
  EXPECT_EQ(
      refusal({Keep{dram, all}, Temporal{p, 5}, Keep{spad, all}, Temporal{p, 2}}),
      "Timeloop has no word for tiles of 2 of P in tiles of 5: they do not divide; 'mapsim search' "
      "without --imperfect leaves such mappings out");
  EXPECT_EQ(refusal({Keep{dram, all}, Parallel{k, 2, FanoutId{0}, Axis::kX}, Temporal{k, 1},
                     Keep{spad, all}}),
            "Timeloop has no word for a loop over K between a fanout that unrolls it and the next "
            "level kept; a rule for the loops of a region ('loops' in the constraints of a search) "
            "leaves such mappings out");
}

// Version 0.4 has a storage of its own between a level and the instances below it.
TEST(TimeloopExport, PutsInstancesBelowThePointOfTheFrontEnd) {
  const TimeloopDesign design =
      parse_timeloop(kNodes + kEnergies + kProblem + kMapping, "a.yaml").design;
  const Arch arch = parse_arch(print_arch(to_arch(design.machine)), "arch.yaml");
  const std::string text =
      write_timeloop_mapping(to_timeloop_machine(arch), design.workload,
                             to_timeloop_blocks(arch, design.workload, to_mapping(design)));
  EXPECT_THAT(text, HasSubstr("- target: inter_PE_spatial\n  type: datatype\n  keep: []\n"
                              "  bypass: [Weights, Inputs, Outputs]\n"
                              "- target: inter_PE_spatial\n  type: temporal\n"
                              "  factors: R=1 P=1 K=1\n  permutation: RPK\n"
                              "- target: inter_PE_spatial\n  type: spatial\n"
                              "  factors: R=1 P=2,1 K=4\n  permutation: KPR\n  split: 1\n"));
  EXPECT_EQ(parse_timeloop(kNodes + kEnergies + kProblem + text, "a.yaml").design.blocks,
            design.blocks);
}

// Of several containers in a row, the fanout between two points goes by the upper one.
TEST(TimeloopExport, NamesTheFanoutBetweenTwoPointsByTheUpperOne) {
  std::string nodes = kNodes;
  nodes.insert(nodes.find("    - !Component\n      name: spad"),
               "    - !Container\n      name: row\n      spatial: {meshX: 2}\n"
               "    - !Container\n      name: half\n      spatial: {meshX: 2}\n");
  const std::string mapping =
      "mapping:\n  - {target: DRAM, type: temporal, factors: R3 P5 K4}\n"
      "  - {target: row, type: spatial, factors: K2}\n"
      "  - {target: half, type: spatial, factors: P2}\n";
  const TimeloopDesign design = parse_timeloop(nodes + kProblem + mapping, "a.yaml").design;
  const Arch arch = parse_arch(print_arch(to_arch(design.machine)), "arch.yaml");
  const std::string text =
      write_timeloop_mapping(to_timeloop_machine(arch), design.workload,
                             to_timeloop_blocks(arch, design.workload, to_mapping(design)));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("_to_")));
  EXPECT_EQ(parse_timeloop(nodes + kProblem + text, "a.yaml").design.blocks, design.blocks);
}

// In a mapping, too, a component with instances of its own is the name of these.
TEST(TimeloopMapping, PutsLoopsOnlyWhereThereAreInstances) {
  std::string nodes = kNodes;
  const std::string name = "      name: spad\n";
  nodes.insert(nodes.find(name) + name.size(), "      spatial: {meshX: 2}\n");
  const auto blocks = [&nodes](const std::string& target) {
    return parse_timeloop(nodes + kEnergies + kProblem +
                              "mapping:\n  - {target: DRAM, type: temporal, factors: R3 P10 K4}\n"
                              "  - {target: " +
                              target + ", type: spatial, factors: K2}\n",
                          "a.yaml")
        .design.blocks;
  };
  EXPECT_EQ(blocks("spad").at(2).spatial.size(), 1U);  // below the point
  try {
    blocks("DRAM");
    ADD_FAILURE() << "DRAM has one child";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("K=2 along X below DRAM, which has no more than one "
                                        "instance there"));
  }
}

// What is no memory keeps only what a directive names there.
TEST(TimeloopMapping, KeepsNothingAtAPointWithoutADirective) {
  std::string nodes = kNodes;
  nodes.insert(nodes.find("    - !Component\n      name: spad"),
               "    - !Container\n      name: half\n      spatial: {meshX: 2}\n");
  const auto design = [&](const std::string& directive) {
    return parse_timeloop(nodes + kProblem +
                              "mapping:\n  - {target: DRAM, type: temporal, factors: R3 P10 K8}\n" +
                              directive,
                          "a.yaml")
        .design;
  };
  const std::string at_point = "  - {target: inter_half_spatial, type: datatype, ";
  for (const std::string& directive :
       {std::string{}, at_point + "keep: [], bypass: [Weights]}\n"}) {
    const TimeloopDesign silent = design(directive);
    EXPECT_TRUE(silent.blocks.at(2).keep.empty());
    EXPECT_EQ(silent.blocks.at(3).keep.size(), 3);
    EXPECT_EQ(to_arch(silent.machine).levels[LevelId{2}].bypass, kAllRoles);
  }
  const TimeloopDesign named = design(at_point + "keep: [Inputs]}\n");
  EXPECT_EQ(named.blocks.at(2).keep, TensorSet{TensorId{1}});
  EXPECT_EQ(to_arch(named.machine).levels[LevelId{2}].bypass, RoleSet{});
}

// In a level that keeps nothing, or above the fanout: what comes back costs the same.
TEST(TimeloopExport, FindsAPlaceForLoopsBelowAFanout) {
  TimeloopDesign design = parse_timeloop(kNested + kEnergies + kProblem, "a.yaml").design;
  const Problem problem{to_arch(design.machine), design.workload};
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  const DimId r{0}, p{1}, k{2};
  const auto given_on = [&](const Arch& arch) {
    EXPECT_EQ(arch.fanouts.size(), 1U);
    return Mapping{{Keep{LevelId{0}, all}, Temporal{k, 1},
                    Parallel{p, design.workload.dims[p].bound / 2, FanoutId{0}, Axis::kX},
                    Temporal{r, 1}, Keep{LevelId{2}, all}, Temporal{p, 1}}};
  };
  const Mapping given = given_on(problem.arch());
  design.blocks = to_timeloop_blocks(problem.arch(), design.workload, given);
  const auto before = evaluate(problem, given), after = evaluate(problem, to_mapping(design));
  ASSERT_TRUE(std::holds_alternative<Cost>(before) && std::holds_alternative<Cost>(after));
  EXPECT_EQ(std::get<Cost>(before).counts, std::get<Cost>(after).counts);
  EXPECT_NE(to_mapping(design), given);
  const Arch two = parse_arch(R"(name: two
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: PEs, x: 4}
  - {storage: glb, capacity: 1 KiB, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {storage: spad, capacity: 1 KiB, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {compute: MAC, energy: 1 pJ}
)",
                              "arch");
  const std::vector<TimeloopBlock> blocks = to_timeloop_blocks(two, design.workload, given_on(two));
  EXPECT_TRUE(blocks[1].keep.empty());
  ASSERT_EQ(blocks[1].temporal.size(), 1U);
  EXPECT_EQ(blocks[1].temporal[0].dim, r);
}

}  // namespace
}  // namespace mapsim::timeloop_export_test
