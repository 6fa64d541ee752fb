// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/accelforge.hpp"

namespace mapsim::accelforge_toll_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string complaint(const std::string& text) {
  try {
    parse_accelforge(text, "m.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// What passes a toll below the outermost memory is what that memory reads and takes: two operands
// of 32 values and sums of 48, each once, where the buffer holds everything.
TEST(ForgeImport, AddsATollToTheOutermostMemory) {
  const auto machine = [](const std::string& toll) {
    return R"(arch:
  nodes:
  - !Memory
    name: Off
    component_class: Dummy
    size: inf
    tensors: {keep: All}
  - !Toll
    name: Gate
)" + toll +
           R"(
  - !Memory
    name: Buffer
    component_class: Dummy
    size: 1e9
    tensors: {keep: All}
  - !Compute
    name: MAC
    component_class: Dummy
workload:
  rank_sizes: {M: 8, K: 4, N: 6}
  bits_per_value: {All: 8}
  einsums: ["Z[m, n] = A[m, k] * B[k, n]"]
)";
  };
  const auto cost = [&](const std::string& toll) {
    const ForgeImport import = parse_accelforge(machine(toll), "m.yaml");
    EXPECT_THAT(import.notes, Contains(HasSubstr("Gate: its energy, area and leakage are added")));
    const Problem problem{import.layers.at(0).arch, import.network->layers.at(0).workload};
    const Mapping mapping = parse_mapping(
        "mapping: [keep Off: [A, B, Z], keep Buffer: [A, B, Z], for m: 1, for n: 1, for k: 1]\n",
        "map.yaml", problem.arch(), problem.workload());
    return std::get<Cost>(evaluate(problem, mapping)).energy.total.count();
  };
  const std::string all = "    tensors: {keep: All}\n    area: 2e-6\n";
  const std::string read = "    actions: [{name: read, energy: 3e-12, latency: 0}]";
  EXPECT_DOUBLE_EQ(cost("    direction: up_and_down\n" + all + read), 8 * 3.0 * (32 + 24 + 48));
  EXPECT_DOUBLE_EQ(cost("    direction: down\n" + all + read), 8 * 3.0 * (32 + 24));
  EXPECT_DOUBLE_EQ(cost("    direction: up\n    values_per_action: {All: 2}\n" + all + read),
                   3.0 / 2 * 48);
  EXPECT_DOUBLE_EQ(
      cost("    direction: up\n    bits_per_value: {All: 4}\n    bits_per_action: 16\n" + all +
           read),
      3.0 * 4 / 16 * 48);
  std::string slow = read;
  slow.replace(slow.find("latency: 0"), 10, "latency: 1e-9");
  const auto refused = [&](const std::string& toll) { return complaint(machine(toll)); };
  EXPECT_THAT(refused("    direction: up\n" + read),
              HasSubstr("Gate: a toll that some tensors need not pass has no counterpart"));
  EXPECT_THAT(refused("    direction: up\n    tensors: {keep: All, kep: All}\n" + read),
              HasSubstr("unknown key 'kep'; did you mean 'keep'?"));
  EXPECT_THAT(refused("    direction: {A: up}\n" + all + read),
              HasSubstr("Gate: a direction other than up, down and up_and_down"));
  EXPECT_THAT(refused("    direction: up\n" + all + slow),
              HasSubstr("Gate: a toll that takes time has no counterpart"));
  std::string below = machine("    direction: up\n" + all + read);
  below.replace(below.find("  - !Toll"), 0,
                "  - !Container\n    name: Rows\n    spatial: [{name: X, fanout: 4}]\n");
  EXPECT_THAT(complaint(below), HasSubstr("a toll that is not right below the outermost memory"));
}

}  // namespace
}  // namespace mapsim::accelforge_toll_test
