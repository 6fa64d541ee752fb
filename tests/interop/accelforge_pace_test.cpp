// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/accelforge.hpp"

namespace mapsim::accelforge_pace_test {
namespace {

using ::testing::HasSubstr;

// A buffer whose actions are 8 b, 2 of them a ns to read and 1 to write; the clock is 1 GHz.
ForgeImport machine(const std::string& total_latency) {
  return parse_accelforge(fmt::format(R"(variables: {{PORTS: 4}}
arch:
  nodes:
  - !Memory
    name: Off
    component_class: dummy
    size: inf
    tensors: {{keep: All}}
  - !Memory
    name: Buffer
    size: 8192
    bits_per_action: 8
    actions: [{{name: read, energy: 0, throughput: 2e9}}, {{name: write, energy: 0, throughput: 1e9}}]
    total_latency: {}
  - !Compute
    name: MAC
    actions: [{{name: compute, energy: 0, throughput: 1e9}}]
)",
                                      total_latency),
                          "m.yaml");
}

std::string complaint(const std::string& total_latency) {
  try {
    machine(total_latency);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

struct Pace {
  const char* total_latency;
  double read = 0, write = 0;  // b/cycle; 0: a shared port
  double shared = 0;
};

class ForgePaces : public testing::TestWithParam<Pace> {};

TEST_P(ForgePaces, AreProportionalToTheTimeOfActions) {
  const Bandwidth bandwidth = machine(GetParam().total_latency).arch->levels[LevelId{1}].bandwidth;
  const auto is = [](const std::optional<BitsPerCycle>& rate, double wanted) {
    EXPECT_NEAR(rate ? rate->count() : 0, wanted, 1e-9 * wanted);
  };
  is(bandwidth.read, GetParam().read);
  is(bandwidth.write, GetParam().write);
  is(bandwidth.shared, GetParam().shared);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, ForgePaces,
    testing::Values(Pace{"max(a.n_calls / a.throughput for a in actions)", 16, 8, 0},
                    Pace{"sum(a.n_calls for a in actions) / 2e9", 0, 0, 16},
                    Pace{"max(a.n_calls/a.throughput for a in actions) / 2 * PORTS", 8, 4, 0},
                    Pace{"1e-9 * sum(a.n_calls for a in actions) / 2 ** 2", 0, 0, 32},
                    Pace{"(max(a.n_calls for a in actions)) / (PORTS - 1) / 1e9", 24, 24, 0},
                    Pace{"max(a.n_calls for a in actions) / size * 1e-9", 65536, 65536, 0}));

TEST(ForgePace, RefusesWhatIsNoProductWithNumbers) {
  for (const char* behind : {" + 1e-3", " - 1", " // 3", " ** 2", " % 5", " + 1e-30"}) {
    EXPECT_THAT(complaint(fmt::format("sum(a.n_calls for a in actions){}", behind)),
                HasSubstr("m.yaml:14:20: arch.nodes[1].total_latency: a time other than sum("))
        << behind;
  }
  for (const char* whole :
       {"3e-9", "min(sum(a.n_calls for a in actions), 7)", "sum(a.energy for a in actions)"}) {
    EXPECT_THAT(complaint(whole), HasSubstr("m.yaml:14:20: arch.nodes[1].total_latency: a time"))
        << whole;
  }
  EXPECT_THAT(complaint("sum(a.n_calls for a in actions) / PORT"),
              HasSubstr("m.yaml:14:54: arch.nodes[1].total_latency: 'PORT' has no value"));
}

// A machine with one memory, which `attributes` describe.
ForgeImport imported(const std::string& attributes) {
  return parse_accelforge(
      "arch:\n  nodes:\n  - !Memory\n    name: Off\n    tensors: {keep: All}\n" + attributes + R"(
  - !Compute
    name: MAC
    actions: [{name: compute, energy: 0, throughput: 1e9}]
)",
      "m.yaml");
}

Storage memory(const std::string& attributes) {
  return imported(attributes).arch->levels[LevelId{}];
}

// Scales count what an action does not say itself, too: energies and areas of our tables, and
// rates that are given as times. A time that names no throughput has no scale.
TEST(ForgePace, HasScalesWhereverRatesAreGiven) {
  const std::string table = "    size: 65536\n    component_class: SRAM\n";
  const Storage plain = memory(table);
  const Storage scaled = memory(table +
                                "    area_scale: 3\n    n_parallel_instances: 2\n"
                                "    actions: [{name: read, energy_scale: 5}, {name: write}]\n");
  EXPECT_DOUBLE_EQ(scaled.energy.read.count(), 5 * plain.energy.read.count());
  EXPECT_DOUBLE_EQ(scaled.energy.write.count(), plain.energy.write.count());
  EXPECT_DOUBLE_EQ(scaled.physical.area->count(), 6 * plain.physical.area->count());
  const std::string parts =
      "    size: inf\n    n_parallel_instances: 2\n    throughput_scale: 3\n"
      "    actions: [{name: read, energy: 0, latency: 1e-9, "
      "throughput_scale: 4}, {name: write, energy: 0, latency: 1e-9}]\n"
      "    total_latency: max(";
  const Storage rated = memory(parts + "a.n_calls / a.throughput for a in actions)\n");
  EXPECT_NEAR(rated.bandwidth.read->count(), 24, 1e-9);
  EXPECT_NEAR(rated.bandwidth.write->count(), 6, 1e-9);
  const Storage counted = memory(parts + "a.n_calls for a in actions) / 1e9\n");
  EXPECT_NEAR(counted.bandwidth.read->count(), 1, 1e-9);
}

TEST(ForgePace, IsNotedWhereTheModelOfAClassAloneKnowsOfAreaAndLeakage) {
  const std::string given =
      "    component_class: Cells\n    size: inf\n    area: 0\n"
      "    actions: [{name: read, energy: 0, latency: 0}, {name: write, energy: 0, latency: 0}]\n";
  EXPECT_THAT(imported(given).notes,
              testing::Contains("what a class's model alone knows, and no figure has: leak_power "
                                "(Off m.yaml:6)"));
}

}  // namespace
}  // namespace mapsim::accelforge_pace_test
