// SPDX-License-Identifier: Apache-2.0
// What imports guess, price by our own tables, leave out or refuse, with the place and the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "arch/technology.hpp"
#include "core/diagnostic.hpp"
#include "interop/accelforge.hpp"
#include "interop/timeloop_import.hpp"
#include "interop/zigzag.hpp"

namespace mapsim::import_places_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Four MACs below a buffer. `wire` stands on line 5 of the design.
std::string chip(const std::string& wire, const std::string& buffer, const std::string& mac) {
  return R"(architecture:
  version: 0.3
  subtree:
    - name: chip
)" + std::string{"      attributes: {technology: 45nm}\n      local:\n"} +
         wire + "        - {name: DRAM, class: DRAM, attributes: {width: 64, word-bits: 16}}\n" +
         "        - {name: glb, class: " + buffer +
         ", attributes: {sizeKB: 4, width: 64, word-bits: 16}}\n" +
         "        - {name: 'mac[0..3]', class: " + mac +
         ", attributes: {datawidth: 16, meshX: 4}}\n";
}
const std::string kWire = "        - {name: Wire, class: wire, attributes: {length: 1}}\n";
const std::string kEnergies = R"(ERT:
  version: 0.4
  tables:
    - {name: chip.DRAM, actions: [{name: read, energy: 64}, {name: write, energy: 64}]}
    - {name: chip.glb, actions: [{name: read, energy: 4}, {name: write, energy: 4}]}
    - {name: 'chip.mac[0..3]', actions: [{name: mac, energy: 2}]}
)";

template <class Read>
std::string complaint(const Read& read) {
  try {
    read();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// A hop is as long as the side of a MAC by our table of areas.
TEST(TimeloopWires, AreOurOwnWhereThereIsNoTable) {
  const TimeloopImport import = parse_timeloop(chip(kWire, "SRAM", "intmac"), "a.yaml");
  const TimeloopMachine& machine = import.design.machine;
  const double wire = hop_energy(Technology::k45nm).value / 0.25;
  ASSERT_TRUE(machine.compute_area && machine.storages[1].energy_per_hop);
  EXPECT_DOUBLE_EQ(*machine.storages[1].energy_per_hop,
                   16 * std::sqrt(*machine.compute_area) * wire);
  EXPECT_THAT(import.notes, Contains(StartsWith("a.yaml:7: hops are wires by our own table of "
                                                "45nm, 0.121 pJ for a bit and mm")));
  EXPECT_THAT(import.notes, Not(Contains(HasSubstr("hops cost nothing"))));
  const TimeloopImport table = parse_timeloop(chip(kWire, "SRAM", "intmac") + kEnergies, "a.yaml");
  EXPECT_FALSE(table.design.machine.storages[1].energy_per_hop);
  EXPECT_THAT(table.notes, Contains(StartsWith("a.yaml:7: the table has no energy of the wire")));
  const TimeloopImport none = parse_timeloop(chip("", "SRAM", "intmac"), "a.yaml");
  EXPECT_FALSE(none.design.machine.storages[1].energy_per_hop);
}

TEST(TimeloopClasses, OfWhichAWordIsKnownAreNamed) {
  const auto notes = [](const std::string& buffer, const std::string& mac) {
    return parse_timeloop(chip("", buffer, mac) + kEnergies, "a.yaml").notes;
  };
  EXPECT_THAT(notes("eDRAMX", "ternary_mac"),
              Contains("a.yaml:8: glb: the class 'eDRAMX' is not known; it is taken for a storage "
                       "off chip, by the word 'dram' in it"));
  EXPECT_THAT(
      notes("aladdin_register", "intmac"),
      Contains("a.yaml:8: glb: the class 'aladdin_register' is not known to Timeloop, which "
               "leaves such a component out; it is taken for a storage, by the word "
               "'register' in it"));
  EXPECT_THAT(notes("eDRAMX", "ternary_mac"),
              Contains("a.yaml:9: mac: the class 'ternary_mac' is not known; it is taken for a "
                       "compute unit, by the word 'mac' in it"));
  for (const char* known : {"SRAM", "smartbuffer_RF", "regfile", "storage"}) {
    EXPECT_THAT(notes(known, "intmac"), Not(Contains(HasSubstr("is not known")))) << known;
  }
}

TEST(TimeloopDesigns, OfSlicesOfBitsAreRefusedAtTheirVariables) {
  const std::string design = chip("", "SRAM", "intmac") + kEnergies;
  const auto with = [&design](const std::string& variable) {
    return complaint([&] { parse_timeloop("variables: {" + variable + "}\n" + design, "a.yaml"); });
  };
  EXPECT_THAT(
      with("CIM_ARCHITECTURE: True"),
      StartsWith(
          "a.yaml:1:13: variables: a machine that computes in memory is no part of mapsim\n"));
  EXPECT_THAT(with("CIM_ARCHITECTURE: False, N_VIRTUAL_MACS: 8"),
              StartsWith("a.yaml:1:38: variables: MACs that are put together from slices of bits"));
  EXPECT_EQ(with("CIM_ARCHITECTURE: False"), "");
}

TEST(ForgeImport, NamesMachinesThatComputeInMemory) {
  EXPECT_THAT(complaint([] {
                parse_accelforge("arch:\n  cim_unit_width_cells: 1\n  odd: [{x: 1}]\n", "m.yaml");
              }),
              StartsWith("m.yaml:2:3: arch: a machine that computes in memory is no part of "
                         "mapsim\n  cim_unit_width_cells: 1\n"));
}

// What a router costs is not what a hop costs.
TEST(TimeloopWires, RoutersHaveNoCounterpartAndTheErrorSaysWhy) {
  std::string design = chip("", "SRAM", "intmac") + kEnergies;
  design.replace(design.find("sizeKB"), 0, "router_energy: 0.5, ");
  EXPECT_THAT(complaint([&] { parse_timeloop(design, "a.yaml"); }),
              HasSubstr("'router_energy' other than 0 is not known here: Timeloop charges a word "
                        "one router more than its mean hops"));
}

TEST(Templates, NameEveryVariableThatHasNoValue) {
  const std::string included = testing::TempDir() + "places_included.yaml";
  std::ofstream{included} << "d: {{fourth}}\n";
  const std::string text =
      "a: {{first}}\n"
      "{% for x in second %}\nb: {{x}}\n{% endfor %}\n"
      "{% set y = third %}\nc: {{y + 1}}\n"
      "{{include_text('places_included.yaml')}}\n"
      "e: {{first}} {{fifth ~ 'x'}} {{given}} {{sixth | default(6)}}\n";
  const std::string said =
      complaint([&] { parse_front_end(text, testing::TempDir() + "t.yaml", {{"given", "1"}}); });
  for (const char* name : {"first", "second", "third", "fourth", "fifth"}) {
    const std::string message =
        std::string{"'"} + name + "' has no value; --set " + name + "=VALUE";
    const std::size_t at = said.find(message);
    ASSERT_NE(at, std::string::npos) << name << "\n" << said;
    EXPECT_EQ(said.find(message, at + 1), std::string::npos) << name;
  }
  EXPECT_EQ(said.find("'x' has"), std::string::npos) << said;
  EXPECT_EQ(said.find("'sixth' has"), std::string::npos) << said;
  EXPECT_THAT(said, HasSubstr("places_included.yaml:1:"));
  // Other errors come behind what explains them.
  const std::string both =
      complaint([] { parse_front_end("a: {{one}}\n{% macro f() %}\n", "t.yaml", {}); });
  EXPECT_THAT(both, StartsWith("t.yaml:1:6: 'one' has no value"));
  EXPECT_THAT(both, HasSubstr("t.yaml:2:4: a statement 'macro' is not known here"));
}

// Of a name that is misspelt, of a branch that is not taken, or that the file sets itself.
TEST(Templates, NameSettingsWithoutEffect) {
  const auto idle = [](const std::string& name, const std::string& value) {
    return "--set " + name + "=" + value + " has no effect here: nothing asks for " + name +
           ", or a file sets it itself";
  };
  std::string design = chip("", "SRAM", "intmac") + kEnergies;
  design.replace(design.find("sizeKB: 4"), 9, "sizeKB: {{ size if own else usual }}");
  design.replace(design.find("meshX: 4"), 8, "meshX: COLUMNS");
  const TimeloopOptions options{
      {{"own", "True"}, {"size", "4"}, {"usual", "2"}, {"COLUMNS", "4"}, {"siez", "8"}}};
  const auto notes = parse_timeloop(design, "a.yaml", options).notes;
  EXPECT_THAT(notes, Contains(idle("siez", "8")));
  EXPECT_THAT(notes, Contains(idle("usual", "2")));
  for (const char* used : {"own", "size", "COLUMNS"}) {
    EXPECT_THAT(notes, Not(Contains(StartsWith(std::string{"--set "} + used))));
  }
  const auto chain = parse_accelforge(
      "{% set m = 4 %}\nworkload:\n  rank_sizes: {M: {{ m }}, N: {{ n }}, K: 4}\n"
      "  bits_per_value: {All: 8}\n  einsums:\n  - 'C[m, n] = A[m, k] * B[k, n]'\n",
      "w.yaml", {{"m", "8"}, {"n", "4"}});
  EXPECT_THAT(chain.notes, Contains(idle("m", "8")));
  EXPECT_THAT(chain.notes, Not(Contains(StartsWith("--set n="))));
}

// In numbers that no template writes --set gives nothing a value.
TEST(ForgeNumbers, NameTheVariableThatHasNoValue) {
  const auto said = [](const std::string& size, const std::string& variables) {
    return complaint([&] {
      parse_accelforge("arch:\n  nodes:\n  - !Memory {name: DRAM, leak_power: 0, area: 0, size: '" +
                           size +
                           "',\n    actions: [{name: read, energy: 1}, {name: write, energy: 1}]}\n"
                           "  - !Compute {name: MAC, leak_power: 0, area: 0, actions: [{name: "
                           "compute, energy: 1}]}\n" +
                           variables,
                       "m.yaml");
    });
  };
  for (const char* size : {"2 * big", "8 if big else 4", "big == 3", "big"}) {
    EXPECT_THAT(said(size, ""), HasSubstr(": arch.nodes[0].size: 'big' has no value; 'variables: "
                                          "{big: VALUE}' in one of the files gives it one"))
        << size;
    EXPECT_EQ(said(size, "variables: {big: 3}\n"), "") << size;
  }
}

TEST(ZigzagMachines, NameWhatOfAMemoryHasNoPart) {
  const std::string memory =
      ", r_cost: 1, w_cost: 1, operands: [I1, I2, O], served_dimensions: [D1], ports: [{name: r, "
      "type: read_write, bandwidth_max: 8";
  const std::string array = "operational_array: {unit_energy: 1, dimensions: [D1], sizes: [8]}\n";
  const auto notes = [&](const std::string& inner, const std::string& port) {
    return import_zigzag(
               {parse_yaml("name: a\nmemories:\n  sram: {size: 64" + memory +
                               "}]}\n  dram: {size: 4096" + inner + memory + port + "}]}\n" + array,
                           "m.yaml")})
        .notes;
  };
  EXPECT_THAT(notes("", ""), Contains("a: ignored: size of dram, the outermost memory: it "
                                      "holds every tensor"));
  EXPECT_THAT(notes(", area: 0.0", ""), Not(Contains(HasSubstr("areas"))));
  EXPECT_THAT(notes(", mem_type: dram", ""),
              Contains(HasSubstr("; mem_type, which ZigZag gives to CACTI alone")));
  EXPECT_THAT(notes(", area: 2.5", ""), Contains(HasSubstr("; areas, which have no unit")));
  EXPECT_THAT(notes(", latency: 1", ", bandwidth_min: 4"),
              Contains("a: ignored: latency of memories, as in ZigZag's costs; "
                       "bandwidth_min: what moves is charged by the bit, in ZigZag by pieces of "
                       "bandwidth_min; size of dram, the outermost memory: it holds every tensor"));
}

}  // namespace
}  // namespace mapsim::import_places_test
