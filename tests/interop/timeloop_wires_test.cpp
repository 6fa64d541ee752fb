// SPDX-License-Identifier: Apache-2.0
// What hops cost where a design of Timeloop describes wires, and what a machine cannot have here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim::timeloop_wires_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Rows of four processing elements below a buffer.
std::string machine(const std::string& of_buffer) {
  return R"(architecture:
  version: 0.3
  subtree:
    - name: chip
      local:
        - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}
        - name: glb
          class: SRAM
          attributes: {sizeKB: 4, width: 64, word-bits: 16)" +
         of_buffer + R"(}
      subtree:
        - name: PE[0..3]
          local:
            - {name: spad, class: regfile, attributes: {depth: 24, width: 16, word-bits: 16, meshX: 4}}
            - {name: mac, class: intmac, attributes: {datawidth: 16, meshX: 4}}
)";
}
std::string energies(const std::string& more) {
  return R"(ERT:
  version: 0.4
  tables:
    - {name: chip.DRAM, actions: [{name: read, energy: 64}, {name: write, energy: 64}]}
    - {name: chip.glb, actions: [{name: read, energy: 4}, {name: write, energy: 4}]}
    - {name: 'chip.PE[0..3].spad', actions: [{name: read, energy: 1}, {name: write, energy: 1}]}
    - {name: 'chip.PE[0..3].mac', actions: [{name: mac, energy: 2}]}
)" + more;
}
const std::string kProduct = R"(problem:
  shape:
    name: product
    dimensions: [M, K]
    data_spaces:
      - {name: A, projection: [[[M]], [[K]]]}
      - {name: B, projection: [[[K]]]}
      - {name: Z, projection: [[[M]]], read_write: true}
  instance: {M: 4, K: 8}
)";
// Each processing element has a row: 8 words of A are 0, 1, 2 and 3 hops away, B goes to all.
const std::string kMapping = R"(mapping:
  - {target: DRAM, type: temporal, factors: M=1 K=1, permutation: MK}
  - {target: glb, type: temporal, factors: M=1 K=8, permutation: KM}
  - {target: glb, type: spatial, factors: M=4 K=1, permutation: MK, split: 2}
  - {target: spad, type: temporal, factors: M=1 K=1, permutation: MK}
)";
const std::string kAreas = R"(ART:
  version: 0.4
  tables:
    - {name: chip.glb, area: 90000}
    - {name: 'chip.PE[0..3].spad', area: 30000}
    - {name: 'chip.PE[0..3].mac', area: 10000}
)";

TimeloopImport read(const std::string& of_buffer, const std::string& more = "",
                    const std::string& of_table = "") {
  return parse_timeloop(machine(of_buffer) + energies(of_table) + kProduct + kMapping + more,
                        "a.yaml");
}

double energy_of(const TimeloopImport& import) {
  const Problem problem{to_arch(import.design.machine), import.design.workload};
  return std::get<Cost>(evaluate(problem, to_mapping(import.design))).energy.total.count();
}

TEST(TimeloopWires, AHopCostsItsBitsTimesItsLength) {
  // 16 b, 0.25 mm and 0.2 pJ/(b mm) make 0.8 pJ.
  const TimeloopImport wires = read(", wire_energy: 0.2, tile_width: 250");
  EXPECT_DOUBLE_EQ(wires.design.machine.storages[1].energy_per_hop.value(), 0.8);
  EXPECT_EQ(wires.design.machine.storages[0].energy_per_hop, std::nullopt);  // one child
  EXPECT_THAT(wires.notes, Not(Contains(HasSubstr("hops"))));
  const double none = energy_of(read(""));
  EXPECT_GT(energy_of(wires), none);
  EXPECT_DOUBLE_EQ(energy_of(wires), energy_of(read(", energy-per-hop: 0.8")));
  // A network may be wider than the words of its storage; energy_per_hop counts before wires.
  EXPECT_DOUBLE_EQ(read(", wire-energy: 0.2, tile-width: 250, network-word-bits: 20")
                       .design.machine.storages[1]
                       .energy_per_hop.value(),
                   1);
  EXPECT_EQ(read(", wire_energy: 0.2, tile_width: 250, energy_per_hop: 3")
                .design.machine.storages[1]
                .energy_per_hop,
            3);
  EXPECT_DOUBLE_EQ(energy_of(read(", wire_energy: 0, tile_width: 250")), none);
}

TEST(TimeloopWires, AnEnergyTableMayHaveThem) {
  const std::string wire =
      "    - {name: chip.wire, actions: [{name: transfer_random, energy: 0.5}]}\n";
  const TimeloopImport import = read(", wire_energy: 0.2, tile_width: 250", "", wire);
  EXPECT_DOUBLE_EQ(import.design.machine.storages[1].energy_per_hop.value(), 2);
  EXPECT_THAT(import.notes, Not(Contains(HasSubstr("wire is neither"))));
}

TEST(TimeloopWires, AHopIsAsLongAsWhatLiesBelow) {
  // A spad and its MAC take 0.04 mm^2: hops of 0.2 mm.
  const TimeloopImport import = read(", wire_energy: 0.5", kAreas);
  EXPECT_DOUBLE_EQ(import.design.machine.storages[1].energy_per_hop.value(), 16 * 0.2 * 0.5);
  // Nothing says how long a hop is.
  const TimeloopImport unknown = read(", wire_energy: 0.5");
  EXPECT_EQ(unknown.design.machine.storages[1].energy_per_hop, std::nullopt);
  EXPECT_THAT(unknown.notes,
              Contains("a.yaml:9: glb: its wires cost energy, but neither tile_width nor the areas "
                       "of all below it (an ART) are given: its hops are left out"));
  EXPECT_THAT(unknown.notes, Not(Contains(HasSubstr("hops cost nothing"))));
}

std::string complaint(const std::string& text) {
  try {
    parse_timeloop(text, "a.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(TimeloopWires, WhatElseANetworkCostsIsNamedWithItsPlace) {
  EXPECT_THAT(complaint(machine(", router_energy: 0.5") + kProduct), HasSubstr("a.yaml:9:"));
  EXPECT_THAT(complaint(machine(", router_energy: 0.5") + kProduct),
              HasSubstr("'router_energy' other than 0 is not known here"));
  EXPECT_THAT(complaint(machine(", energy-per-ingress: 1") + kProduct),
              HasSubstr("'energy-per-ingress' other than 0 is not known here"));
  std::string with_network = machine("");
  with_network.insert(with_network.find("      subtree:\n        - name: PE"),
                      "        - {name: noc, class: SimpleMulticast, attributes: {width: 16}}\n");
  EXPECT_THAT(parse_timeloop(with_network + kProduct, "a.yaml").notes,
              Contains("a.yaml:10: noc (SimpleMulticast): a network of its own, whose energies are "
                       "left out"));
}

// Points where a front end parts instances have no loops of their own.
TEST(TimeloopPoints, HaveNoLoops) {
  std::string at_point = machine("");
  at_point.insert(at_point.find("      subtree:\n        - name: PE"),
                  "        - {name: between, class: dummy_storage, attributes: {width: 16}}\n");
  const auto limited = [&](const std::string& factors) {
    return at_point + kProduct +
           "constraints:\n- {target: between, type: temporal, factors: " + factors + "}\n";
  };
  EXPECT_EQ(complaint(limited("M=1 K=1")), "");
  EXPECT_THAT(complaint(limited("M=1 K=2")), HasSubstr("a factor of K where there can be no loop"));
}

// Storages one inside of the other, of which each has `children` of the next.
std::string tower(std::size_t storages, int children) {
  std::string text = "architecture:\n  version: 0.4\n  nodes:\n";
  for (std::size_t i = 0; i < storages; ++i) {
    text += fmt::format(
        "  - !Component\n    name: L{}\n    class: SRAM\n    attributes: {{depth: 64, width: 8, "
        "datawidth: 8}}\n",
        i);
    if (children > 1) {
      text +=
          fmt::format("  - !Container\n    name: C{}\n    spatial: {{meshX: {}}}\n", i, children);
    }
  }
  return text +
         "  - !Component\n    name: mac\n    class: intmac\n    attributes: {datawidth: 8}\n";
}

TEST(TimeloopLimits, NameTheFirstThatIsTooMany) {
  EXPECT_EQ(complaint(tower(kMaxLevels, 1)), "");
  EXPECT_THAT(
      complaint(tower(kMaxLevels + 2, 1)),
      HasSubstr(fmt::format(
          "a.yaml:{}:5: architecture.nodes[{}]: L{} is storage {} of {}; a machine "
          "has at most {} here",
          4 + 4 * kMaxLevels, kMaxLevels, kMaxLevels, kMaxLevels + 1, kMaxLevels + 2, kMaxLevels)));
  EXPECT_EQ(complaint(tower(kMaxFanouts, 2)), "");
  EXPECT_THAT(complaint(tower(kMaxFanouts + 1, 2)),
              HasSubstr(fmt::format(
                  "architecture.nodes[{}]: instances multiply below L{}, for the {}th time",
                  2 * kMaxFanouts, kMaxFanouts, kMaxFanouts + 1)));
}

TEST(TimeloopTemplates, NameAFunctionThatTheyDoNotKnow) {
  EXPECT_THAT(complaint("problem: {{find_component('glb')}}\n"),
              HasSubstr("a.yaml:1:12: no function 'find_component' is known here"));
}

// Variables refer to each other across the items of a list; INF is one of them, and no number.
TEST(TimeloopVariables, MayStandInSeveralMaps) {
  const std::string depths = R"(architecture:
  version: 0.4
  nodes:
  - !Component
    name: DRAM
    class: DRAM
    attributes: {width: 8, datawidth: 8, depth: INF}
  - !Component
    name: glb
    class: SRAM
    attributes: {width: 8, datawidth: 8, depth: 2 * ROWS}
  - !Component
    name: mac
    class: intmac
    attributes: {datawidth: 8}
globals_of_others: {plug_ins: [a]}
variables:
- {version: 0.4}
- {ROWS: HALF * 2, INF: 4294967295}
- {HALF: 8}
)";
  const TimeloopImport import = parse_timeloop(depths, "a.yaml");
  EXPECT_EQ(import.design.machine.storages[0].words, std::nullopt);
  EXPECT_EQ(import.design.machine.storages[1].words, 32);
  EXPECT_THAT(
      complaint(depths.substr(0, depths.find("- {ROWS"))),
      HasSubstr("a.yaml:7:49: architecture.nodes[0].attributes.depth: 'INF' is not a number"));
}

}  // namespace
}  // namespace mapsim::timeloop_wires_test
