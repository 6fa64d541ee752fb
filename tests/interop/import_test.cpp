// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/timeloop_mapping.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "tests/interop/timeloop_design.hpp"
#include "tests/support/bad_inputs.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim::import_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using timeloop_design::kEnergies;
using timeloop_design::kMapping;
using timeloop_design::kNested;
using timeloop_design::kNodes;
using timeloop_design::kProblem;

TEST(TimeloopImport, ReadsTheNestedFormAndTheListOfNodes) {
  const TimeloopImport nested = parse_timeloop(kNested + kEnergies + kProblem, "a.yaml");
  const TimeloopImport nodes = parse_timeloop(kNodes + kEnergies + kProblem, "b.yaml");
  EXPECT_THAT(nodes.design.machine.storages[1].fanout_names, ElementsAre("PE", "inter_PE_spatial"));
  TimeloopMachine unnamed = nodes.design.machine;
  unnamed.storages[1].fanout_names.clear();
  EXPECT_EQ(nested.design.machine, unnamed);
  const TimeloopMachine& machine = nested.design.machine;
  ASSERT_EQ(machine.storages.size(), 3U);
  const TimeloopStorage& glb = machine.storages[1];
  EXPECT_EQ(glb.words, 2048);
  EXPECT_EQ(glb.block, 4);
  EXPECT_EQ(glb.energy, (TimeloopEnergy{4.5, 5, 6}));
  EXPECT_EQ(glb.read_bandwidth, 8);
  EXPECT_EQ(machine.storages[0].words, std::nullopt);
  EXPECT_EQ(machine.storages[0].energy, (TimeloopEnergy{64, 60, 60}));
  EXPECT_EQ(machine.fanout(1, Axis::kX), 4);
  EXPECT_EQ(machine.fanout(1, Axis::kY), 2);
  EXPECT_EQ(machine.compute_energy, 2);
  EXPECT_THAT(
      nested.notes,
      ElementsAre("glb: neither energy_per_hop nor wire_energy: hops cost nothing, as by the "
                  "table of wires that comes with Timeloop",
                  "attributes that energies and areas alone may depend on, not counts or cycles: "
                  "technology (DRAM)",
                  "ignored energies of actions that a dense run does not take: idle (mac)"));
  EXPECT_EQ(nested.origins.at("DRAM"),
            "energies by a.yaml: read by 'read', write by 'write', update by 'write'");
  EXPECT_EQ(nested.origins.at("glb"),
            "energies by a.yaml: read by 'read', write by 'write', update by 'update', leakage by "
            "'leak'");
  EXPECT_EQ(nested.origins.at("mac"), "energy by a.yaml: 'mac_random'");
  EXPECT_EQ(glb.leak, 0.5);
  EXPECT_EQ(machine.storages[0].leak, std::nullopt);
  EXPECT_EQ(to_arch(machine).levels[LevelId{1}].physical.leakage, Milliwatts{0.5});  // at 1 GHz
  ASSERT_EQ(nodes.constraints.size(), 1U);
  EXPECT_EQ(constraints_text(nodes),
            "mapspace:\n  tiling: even\n  one_loop_per_dim: true\n"
            "  keep:\n    glb: [Inputs, Outputs]\n"
            "  bypass:\n    glb: [Weights]\n");
}

// As Timeloop does: only a DRAM without a size is unlimited.
TEST(TimeloopImport, HoldsADramToTheSizeThatItIsGiven) {
  std::string nested = kNested;
  nested.replace(nested.find("{width: 64, word-bits: 16}"), 26,
                 "{width: 64, word-bits: 16, depth: 100, block_size: 4}");
  const TimeloopImport import = parse_timeloop(nested + kEnergies + kProblem + kMapping, "a.yaml");
  EXPECT_EQ(import.design.machine.storages[0].words, 400);
  const Arch arch = parse_arch(print_arch(to_arch(import.design.machine)), "arch.yaml");
  EXPECT_EQ(arch.levels[LevelId{0}].kind, StorageKind::kDram);
  EXPECT_EQ(arch.levels[LevelId{0}].capacity.shared, Bits{6400});
  const auto fits = [&](const char* depth) {
    std::string small = nested;
    small.replace(small.find("depth: 100"), 10, depth);
    const TimeloopDesign design =
        parse_timeloop(small + kEnergies + kProblem + kMapping, "a.yaml").design;
    const Evaluation evaluation =
        evaluate(Problem{to_arch(design.machine), design.workload}, to_mapping(design));
    return std::holds_alternative<Cost>(evaluation);
  };
  // 24 weights, 21 inputs and 80 outputs: 125 words.
  EXPECT_TRUE(fits("depth: 32"));
  EXPECT_FALSE(fits("depth: 31"));
}

TEST(TimeloopImport, ReadsTheProblem) {
  const Workload workload =
      parse_timeloop(kNested + kEnergies + kProblem, "a.yaml").design.workload;
  EXPECT_EQ(workload.equation(), "Outputs[K][P] += Weights[K][R] * Inputs[R+2*P]");
  EXPECT_EQ(workload.macs(), 240);
  EXPECT_EQ(workload.tensors[workload.output()].bits, Bits{16});
}

// Python writes True, YAML 1.1 has yes and on; yaml-cpp's conversions, which Timeloop reads with,
// take them all.
TEST(TimeloopImport, ReadsBooleansInAllWordsOfYaml) {
  const auto output_of = [](const std::string& word) {
    std::string problem = kProblem;
    problem.replace(problem.find("read_write: true"), 16, "read_write: " + word);
    problem.replace(problem.find("[[R]]]}"), 7, "[[R]]], read_write: No}");
    const Workload workload =
        parse_timeloop(kNested + kEnergies + problem, "a.yaml").design.workload;
    return workload.tensors[workload.output()].name;
  };
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y", "'true'"}) {
    EXPECT_EQ(output_of(word), "Outputs") << word;
  }
  for (const char* word : {"false", "tRUE", "1", "[]"}) {
    EXPECT_THROW(output_of(word), ConfigError) << word;
  }
  std::string nested = kNested;
  nested.replace(nested.find("depth: 24"), 9,
                 "depth: 24, reduction_supported: Yes, allow_overbooking: OFF");
  nested.insert(nested.find("class: smartbuffer_RF"), "enabled: True, ");
  EXPECT_NO_THROW(parse_timeloop(nested + kEnergies + kProblem, "a.yaml"));
}

TEST(TimeloopImport, ReadsTheMapping) {
  const TimeloopDesign design =
      parse_timeloop(kNested + kEnergies + kProblem + kMapping, "a.yaml").design;
  const DimId r{0};
  const DimId p{1};
  const DimId k{2};
  const TensorSet all{TensorId{0}, TensorId{1}, TensorId{2}};
  const std::vector<TimeloopBlock> expected{
      {all, {{p, 3, 3}}, {}},
      {{TensorId{1}, TensorId{2}}, {{r, 3, 3}, {k, 2, 2}}, {{p, 2, 1, Axis::kY}, {k, 4, 4}}},
      {all, {{p, 2, 2}}, {}}};
  EXPECT_EQ(design.blocks, expected);
  EXPECT_EQ(write_timeloop_mapping(design.machine, design.workload, design.blocks),
            "mapping:\n"
            "- target: DRAM\n  type: datatype\n  keep: [Weights, Inputs, Outputs]\n  bypass: []\n"
            "- target: DRAM\n  type: temporal\n  factors: R=1 P=3 K=1\n  permutation: PRK\n"
            "- target: glb\n  type: datatype\n  keep: [Inputs, Outputs]\n  bypass: [Weights]\n"
            "- target: glb\n  type: temporal\n  factors: R=3 P=1 K=2\n  permutation: KRP\n"
            "- target: glb\n  type: spatial\n  factors: R=1 P=2,1 K=4\n  permutation: KPR\n"
            "  split: 1\n"
            "- target: spad\n  type: datatype\n  keep: [Weights, Inputs, Outputs]\n  bypass: []\n"
            "- target: spad\n  type: temporal\n  factors: R=1 P=2 K=1\n  permutation: PRK\n");
}

// An energy table and an area table say more than the machine has, and all that it has.
TEST(TimeloopImport, TakesLeakageAndAreaAndNamesWhatFitsNoComponent) {
  std::string energies = kEnergies;
  energies.insert(energies.find("    - {name: 'chip.PE[0..7].spad'"),
                  "    - {name: chip.noc, actions: [{name: transfer, energy: 1}]}\n");
  energies.replace(energies.find("{name: idle, energy: 9}"), 23,
                   "{name: idle, energy: 9}, {name: gated, energy: 8}, {name: leak, energy: 0.25}");
  const std::string areas =
      "ART:\n  version: 0.4\n  tables:\n    - {name: chip.glb, area: 2.5e5}\n"
      "    - {name: 'chip.PE[0..7].mac', area: 1000}\n"
      "    - {name: chip.router, area: 7}\n";
  const TimeloopImport import =
      parse_timeloop(kNested + energies + areas + kProblem + kMapping, "a.yaml");
  EXPECT_THAT(
      import.notes,
      ElementsAre(
          HasSubstr("glb: neither energy_per_hop nor wire_energy"),
          "ERT: noc is neither a storage nor the compute unit of the architecture: left out",
          "ART: router is neither a storage nor the compute unit of the architecture: left out",
          HasSubstr("cycles: technology (DRAM)"),
          "ignored energies of actions that a dense run does not take: gated (mac); idle (mac)"));
  const Arch arch = parse_arch(print_arch(to_arch(import.design.machine)), "arch.yaml");
  EXPECT_EQ(arch.levels[LevelId{1}].physical.area, SquareMillimetres{0.25});
  EXPECT_EQ(arch.compute.physical.area, SquareMillimetres{0.001});
  EXPECT_EQ(arch.compute.physical.leakage, Milliwatts{0.25});
  EXPECT_EQ(arch.levels[LevelId{2}].physical, Physical{});
  // Timeloop charges a leak for every cycle and instance.
  const Problem problem{arch, import.design.workload};
  const Cost cost = std::get<Cost>(evaluate(problem, to_mapping(import.design)));
  const auto cycles = static_cast<double>(cost.latency.steady.count());
  EXPECT_DOUBLE_EQ(cost.energy.leakage.count(), cycles * (0.5 + 8 * 0.25));
}

// As the front end of version 0.4 writes it for the programs behind it: ranges that are those of
// the whole machine, every default written out, a dummy_storage wherever loops are unrolled,
// factors that commas divide, and no mapping.
TEST(TimeloopImport, ReadsWhatTheFrontEndWrites) {
  const std::string rest =
      "n_banks: 2, cluster_size: 1, reduction_supported: true, multiple_buffering: 1, "
      "min_utilization: 0, allow_overbooking: false, has_power_gating: false, read_bandwidth: null";
  const std::string text = fmt::format(R"(dumped_by_timeloop_front_end: true
architecture:
  version: '0.4'
  subtree:
    - name: top
      attributes: {{version: '0.4', technology: 45nm, global_cycle_seconds: 1e-9}}
      local:
        - name: DRAM[1..1]
          class: DRAM
          attributes: {{width: 64, datawidth: 8, power_gated_at: DRAM, {0}}}
          required_actions: [read, write]
          enabled: true
        - name: glb[1..1]
          class: smartbuffer_SRAM
          attributes: {{depth: 128, width: 64, datawidth: 8, meshX: 1, meshY: 1, {0}}}
        - name: inter_PE_spatial[1..1]
          class: dummy_storage
          attributes: {{width: 1, depth: 1, datawidth: 1, technology: -1, meshX: 1, meshY: 1, {0}}}
        - name: spad[1..8]
          class: storage
          subclass: smartbuffer_RF
          attributes: {{depth: 12, width: 8, datawidth: 8, meshX: 4, meshY: 2, {0}}}
        - name: mac[1..8]
          class: intmac
          attributes: {{multiplier_width: 8, adder_width: 16, datawidth: 8, meshX: 4, meshY: 2,
                       has_power_gating: false}}
compound_components: {{version: '0.4', classes: []}}
architecture_constraints:
  targets:
    - {{type: bypass, target: inter_PE_spatial, bypass: [Weights, Inputs, Outputs]}}
    - {{type: spatial, target: inter_PE_spatial, factors: 'R=1,P<=2', permutation: PRK, split: 1}}
    - {{type: temporal, target: inter_PE_spatial, factors: 'R=1,P=1,K=1', permutation: RPK}}
mapping: []
mapper: {{algorithm: random, search_size: null}}
mapspace: {{version: '0.4', template: uber}}
globals: {{version: '0.4'}}
)",
                                       rest);
  std::string problem = kProblem;
  problem.replace(problem.find("Stride: 2,"), 10, "Stride: 2, H: 21, Hpad: 0,");
  const TimeloopImport import = parse_timeloop(text + kEnergies + problem, "parsed.yaml");
  EXPECT_THAT(
      import.notes,
      ::testing::IsSupersetOf({"ignored sizes of the layer, which are in no projection: H; Hpad",
                               "ignored sections: compound_components (parsed.yaml:27); mapper, "
                               "all but its metrics (parsed.yaml:34); globals (parsed.yaml:36)"}));
  const TimeloopMachine& machine = import.design.machine;
  ASSERT_EQ(machine.storages.size(), 3U);  // the point is the fanout below glb
  EXPECT_EQ(machine.storages[1].words, 1024);
  EXPECT_EQ(machine.storages[1].block, 8);
  EXPECT_EQ(machine.fanout(1, Axis::kX), 4);
  EXPECT_EQ(machine.fanout(1, Axis::kY), 2);
  EXPECT_TRUE(import.design.blocks.empty());
  const std::string constraints = constraints_text(import);
  EXPECT_THAT(constraints, HasSubstr("inter_PE_spatial: {X: {dims: [P], factors: {P: {max: 2}}}, "
                                     "Y: {dims: [K]}}"));
  EXPECT_NO_THROW(parse_constraints(constraints, "constraints.yaml",
                                    Problem{to_arch(machine), import.design.workload}));
}

// Version 0.4 says in the container how its instances are filled.
TEST(TimeloopImport, TakesTheSpatialConstraintOfAContainer) {
  std::string nodes = kNodes;
  const std::string mesh = "      spatial: {meshX: 4, meshY: 2}\n";
  const std::string rule =
      "      constraints: {spatial: {permutation: [K, R], split: 1, factors: [P=1]}, temporal: "
      "{}}\n"
      "      networks: []\n";
  nodes.insert(nodes.find(mesh) + mesh.size(), rule);
  EXPECT_THAT(constraints_text(parse_timeloop(nodes + kEnergies + kProblem, "a.yaml")),
              HasSubstr("  unroll:\n    inter_PE_spatial: {X: {dims: [K]}, Y: {dims: [R]}}\n"));
  // Of two containers in one fanout, each has rules of its own.
  const std::string second =
      "    - !Container\n      name: half\n      spatial: {meshX: 2}\n"
      "      constraints: {spatial: {factors: [R=1]}}\n";
  nodes.insert(nodes.find("    - !Component\n      name: spad"), second);
  const TimeloopImport import = parse_timeloop(nodes + kProblem, "a.yaml");
  const std::string constraints = constraints_text(import);
  // The point between them is no memory, for a search without the constraints either.
  EXPECT_EQ(to_arch(import.design.machine).levels[LevelId{2}].bypass, kAllRoles);
  EXPECT_THAT(constraints,
              HasSubstr("    inter_PE_spatial: {X: {dims: [K]}, Y: {dims: [R]}}\n"
                        "    inter_half_spatial_to_spad: {X: {dims: [P, K]}, Y: {dims: []}}\n"));
  EXPECT_THAT(constraints, HasSubstr("inter_half_spatial: [Weights, Inputs, Outputs]"));
}

// So do components: what they say of space is about their own instances, never about those below.
TEST(TimeloopImport, TakesTheSpatialConstraintOfAComponent) {
  const auto with = [](const std::string& component, const std::string& rules) {
    std::string nodes = kNodes;
    const std::string name = "      name: " + component + "\n";
    nodes.insert(nodes.find(name) + name.size(), rules);
    return constraints_text(parse_timeloop(nodes + kEnergies + kProblem, "a.yaml"));
  };
  const std::string two =
      "      spatial: {meshX: 2}\n      constraints: {spatial: {factors: [R=1]}}\n";
  for (const char* each : {"spad", "mac"}) {
    const std::string own = with(each, two);
    const std::string fanout =
        std::string{each} == "spad" ? "inter_spad_spatial_to_spad" : "inter_mac_spatial";
    EXPECT_THAT(own,
                HasSubstr("  unroll:\n    " + fanout + ": {X: {dims: [P, K]}, Y: {dims: []}}\n"));
  }
  const std::string one = "      constraints: {spatial: {factors: [P=1, R=1, K=1]}}\n";
  EXPECT_EQ(with("spad", one), with("spad", ""));
  try {
    with("DRAM", "      constraints: {spatial: {factors: [K=4]}}\n");
    ADD_FAILURE() << "DRAM has one instance";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a factor of K where there can be no loop"));
  }
}

// Timeloop takes a permutation as the beginning of an order and tries the other dims behind it:
// with a split inside of the permutation, those go along Y.
TEST(TimeloopImport, PutsDimsThatAPermutationLeavesOutAlongY) {
  const auto unroll = [](const std::string& rule) {
    return constraints_text(parse_timeloop(
        kNested + kEnergies + kProblem +
            fmt::format("constraints:\n  - {{target: glb, type: spatial, {}}}\n", rule),
        "a.yaml"));
  };
  const std::string begin =
      "mapspace:\n  tiling: even\n  one_loop_per_dim: true\n  unroll:\n    glb_to_spad: ";
  const auto expect = [&](const std::string& rule, const std::string& axes) {
    EXPECT_THAT(unroll(rule), ::testing::StartsWith(begin + axes + "\n")) << rule;
  };
  expect("permutation: KR, split: 1", "{X: {dims: [K]}, Y: {dims: [R, P]}}");
  expect("permutation: K, split: 0", "{X: {dims: []}, Y: {dims: [R, P, K]}}");
  expect("permutation: K, split: 3", "{X: {dims: [R, P, K]}, Y: {dims: []}}");
  expect("permutation: K, split: 2, factors: P=1 R=1", "{X: {dims: [K]}, Y: {dims: []}}");
  expect("factors: R=1", "{X: {dims: [P, K]}, Y: {dims: [P, K]}}");
}

TEST(TimeloopImport, NamesSignsOfFactorsThatItDoesNotKnow) {
  std::string nodes = kNodes;
  nodes.replace(nodes.find("factors: []"), 11, "factors: ['K>=2']");
  try {
    parse_timeloop(nodes + kEnergies + kProblem, "a.yaml");
    ADD_FAILURE() << "K>=2 was read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'K>=2': expected the sign '='"));
  }
}

// Two instances that share an access of a width are a cluster, which version 0.4 does not guess.
TEST(TimeloopImport, GuessesClustersAsTimeloopDoes) {
  const auto with_blocks = [](std::string text) {
    const std::string width = text.find("memory_width: 64") != std::string::npos
                                  ? "memory_width: 64"
                                  : "depth: 512, width: 64";
    return parse_timeloop(text.insert(text.find(width), "block_size: 2, ") + kEnergies + kProblem,
                          "a.yaml");
  };
  EXPECT_EQ(with_blocks(kNested).design.machine.storages[1].cluster, 2);
  EXPECT_THROW(with_blocks(kNodes), ConfigError);
}

// Before version 0.4 Timeloop reads a component's own attributes alone; Accelergy reads all.
TEST(TimeloopImport, TakesAttributesAroundAComponentAsTimeloopDoes) {
  const auto machine = [](std::string text, std::vector<std::string>* notes) {
    const std::string around = "attributes: {technology: 45nm";
    text.insert(text.find(around) + around.size(), ", width: 32, global_cycle_seconds: 2e-9");
    const TimeloopImport import = parse_timeloop(text + kEnergies + kProblem, "a.yaml");
    *notes = import.notes;
    return import.design.machine;
  };
  std::vector<std::string> notes;
  const TimeloopMachine nested = machine(kNested, &notes);
  EXPECT_EQ(nested.storages[1].block, 4);
  EXPECT_EQ(nested.storages[2].block, 1);
  EXPECT_EQ(nested.cycle_seconds, 2e-9);
  EXPECT_THAT(notes, ::testing::Contains(HasSubstr("'width' (32) around spad is not read")));
  EXPECT_EQ(machine(kNodes, &notes).storages[2].block, 2);
}

// By our tables a component is what a read of it reads, and the rest is named with its place.
TEST(TimeloopImport, TakesThePartsOfCompoundClasses) {
  const std::string classes = R"(compound_components:
  version: 0.4
  classes:
    - name: smartbuffer_SRAM
      subcomponents:
        - {name: rows, class: regfile, attributes: {width: width, depth: depth}}
        - {name: 'counters[0..1]', class: intadder}
      actions:
        - {name: leak, subcomponents: [{name: other}]}
        - {name: read, subcomponents: [{name: rows, actions: [{name: read}]}, {name: 'counters[0]'}]}
    - {name: smartbuffer_RF, subcomponents: [{name: a, class: SRAM}, {name: b, class: SRAM}]}
    - {name: intmac, subcomponents: [{name: m, class: fpmultiplier}, {name: s, class: fpadder},
                                     {name: r, class: register}]}
)";
  const auto energies = [](const std::string& text) {
    return parse_timeloop(text + kProblem, "a.yaml");
  };
  const TimeloopImport plain = energies(kNested), parts = energies(kNested + classes);
  EXPECT_THAT(plain.origins.at("glb"), HasSubstr("energies by our table, sram"));
  EXPECT_EQ(plain.design.machine.storages[2].energy, parts.design.machine.storages[2].energy);
  EXPECT_THAT(parts.origins.at("glb"), HasSubstr("energies by our table, regfile"));
  EXPECT_EQ(parts.design.machine.compute_format, NumberFormat::kFloat);
  EXPECT_THAT(
      parts.notes,
      ::testing::IsSupersetOf(
          {"a.yaml:19: glb is of the compound class smartbuffer_SRAM: our table has its part rows "
           "(regfile) of its size; counters[0..1] (intadder) costs nothing",
           "a.yaml:26: spad is of the compound class smartbuffer_RF: our table takes it by its own "
           "class, since a read acts on 0 storages of it",
           "a.yaml:27: mac is of the compound class intmac: our table has a MAC, whatever its "
           "parts "
           "are: m (fpmultiplier), s (fpadder); r (register) costs nothing"}));
  // A section of which nothing is taken is named as ignored.
  const auto ignored = ::testing::Contains(HasSubstr("ignored sections: compound_components"));
  EXPECT_THAT(parts.notes, ::testing::Not(ignored));
  EXPECT_THAT(energies(kNested + "compound_components: {classes: [{name: other, subcomponents: "
                                 "[{name: a, class: SRAM}]}]}\n")
                  .notes,
              ignored);
  // A table has the energies of the whole.
  EXPECT_EQ(energies(kNested + kEnergies + classes).design.machine,
            energies(kNested + kEnergies).design.machine);
}

TEST(TimeloopImport, TurnsConstraintsIntoOurs) {
  const std::string constraints = R"(mapspace:
  constraints:
    - {target: glb, type: datatype, keep: [Inputs, Outputs], bypass: [Weights]}
    - {target: spad, type: datatype, keep: [Weights]}
    - {target: glb, type: spatial, factors: R=1 P=2, permutation: PRK, split: 1}
    - {target: DRAM, type: temporal, factors: [R=1, P<=2, K=0], permutation: K}
    - {target: glb, type: temporal, factors: [], permutation: RP}
    - {target: spad, type: temporal, factors: P1 K1}
)";
  const TimeloopImport import =
      parse_timeloop(kNested + kEnergies + kProblem + constraints, "a.yaml");
  const std::string text = constraints_text(import);
  EXPECT_EQ(text,
            "mapspace:\n  tiling: even\n  one_loop_per_dim: true\n"
            "  keep:\n    glb: [Inputs, Outputs]\n"
            "    spad: [Weights]\n  bypass:\n    glb: [Weights]\n"
            "  unroll:\n    glb_to_spad: {X: {dims: [P], factors: {P: 2}}, Y: {dims: [K]}}\n"
            "  loops:\n    glb: {order: [[P], K], factors: {P: {max: 2}, K: 8}}\n"
            "    glb_to_spad: {order: [[K], P, R]}\n    spad: {dims: []}\n"
            "    mac: {dims: [R]}\n");
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  EXPECT_NO_THROW(parse_constraints(text, "constraints.yaml", problem));
}

TEST(TimeloopImport, RefusesByNameWhatItCannotSay) {
  for (const BadInput& bad : read_bad_inputs("interop/bad_designs.txt")) {
    if (bad.expected.empty()) {  // the one that the others are made from
      EXPECT_NO_THROW(parse_timeloop(bad.input, "d.yaml"));
      continue;
    }
    try {
      parse_timeloop(bad.input, "d.yaml");
      ADD_FAILURE() << bad.name << " was read";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), bad.expected) << bad.name;
    }
  }
}

// Whatever stands in a file: a design that can be written and read back, or an error.
TEST(TimeloopImport, SurvivesDamagedFiles) {
  const auto read = [](const std::string& text) {
    const TimeloopImport import = parse_timeloop(text, "d.yaml");
    if (!import.has_machine || !import.has_workload) {
      return;
    }
    Arch arch;
    try {
      arch = to_arch(import.design.machine);
    } catch (const std::invalid_argument&) {  // too many levels
      return;
    }
    const Workload workload =
        parse_workload(print_workload(import.design.workload), "workload.yaml");
    parse_arch(print_arch(arch), "arch.yaml");
    if (!import.design.blocks.empty()) {
      const Mapping mapping = to_mapping(import.design);
      EXPECT_THAT(check_structure(arch, workload, mapping), ::testing::IsEmpty()) << text;
      EXPECT_EQ(to_timeloop_blocks(arch, workload, mapping), import.design.blocks) << text;
    }
  };
  expect_survival(kNested + kEnergies + kProblem + kMapping, read);
  expect_survival(kNodes + kEnergies + kProblem + kMapping, read);
}

}  // namespace
}  // namespace mapsim::import_test
