// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/diagnostic.hpp"
#include "interop/accelforge.hpp"

namespace mapsim::accelforge_forms_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kDesign = R"(arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    actions: [{name: read, energy: 0, latency: 0}, {name: write, energy: 0, latency: 0}]
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Container
    name: Rows
    spatial: [{name: X, fanout: 4, loop_bounds: [{expression: k, operator: ==, value: 1}]}]
  - !Memory
    name: Buffer
    size: 8192
    component_class: Dummy
    tensors: {keep: ~Off, tile_shape: [{expression: m, operator: <=, value: 4}]}
  - !Compute
    name: MAC
    component_class: Dummy
workload:
  iteration_space_shape: {m: 0 <= m < 16}
  rank_sizes: {K: 4, N: 8}
  bits_per_value: {All: 8}
  einsums:
  - einsum: "Z[m, n] = A[m, k] * B[k, n]"
    iteration_space_shape: [0 <= n < 6]
    tensor_accesses: [{name: A, bits_per_value: 4}]
    renames: {input: A}
renames:
  einsums:
  - {name: Z, tensor_accesses: [{name: weight, source: B}]}
)";

struct Form {
  const char* old;
  const char* by;
  const char* complaint;
};

class ForgeForms : public testing::TestWithParam<Form> {};

TEST_P(ForgeForms, ThatWouldBeReadPastAreErrors) {
  EXPECT_FALSE(parse_accelforge(kDesign, "m.yaml").layers.empty());
  std::string text = kDesign;
  const std::string old = GetParam().old;
  text.replace(text.find(old), old.size(), GetParam().by);
  try {
    parse_accelforge(text, "m.yaml");
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().complaint));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Places, ForgeForms,
    testing::Values(
        Form{"[{name: read, energy: 0, latency: 0}, {name: write, energy: 0, latency: 0}]",
             "{name: read, energy: 0, latency: 0}",
             "m.yaml:6:14: arch.nodes[0].actions: expected a list of actions, not a map"},
        Form{"{name: write, energy", "{name: read, energy",
             "arch.nodes[0].actions[1].name: a second action 'read'"},
        Form{"[{name: X, fanout: 4, loop_bounds: [{expression: k, operator: ==, value: 1}]}]",
             "{name: X, fanout: 4}",
             "m.yaml:10:14: arch.nodes[1].spatial: expected a list of fanouts, not a map"},
        Form{"[{expression: k, operator: ==, value: 1}]", "{expression: k, operator: ==, value: 1}",
             "arch.nodes[1].spatial[0].loop_bounds: expected a list of comparisons, not a map"},
        Form{"[{expression: m, operator: <=, value: 4}]", "{expression: m, operator: <=, value: 4}",
             "arch.nodes[2].tensors.tile_shape: expected a list of comparisons, not a map"},
        Form{"{m: 0 <= m < 16}", "{q: 0 <= m < 16}",
             "workload.iteration_space_shape.q: the bound of 'q' is of another rank variable"},
        Form{"[0 <= n < 6]", "0 <= n < 6",
             "expected a list of bounds such as 0 <= p < 56, not '0 <= n < 6'"},
        Form{"bits_per_value: 4}", "projection: [k, m]}",
             "tensor_accesses[0].projection: the equation says the projection of A; leave it out"},
        Form{"renames: {input: A}", "renames: input",
             "workload.einsums[0].renames: expected a map or a list of renames, not 'input'"},
        Form{"renames:\n  einsums:", "renames:\n  einsum:",
             "renames: unknown key 'einsum'; did you mean 'einsums'?"},
        Form{"- {name: Z, tensor", "- {name: Z}\n  - {name: Z, tensor",
             "renames.einsums[1].name: a second list of renames for 'Z'"},
        Form{"- {name: Z, tensor", "- {name: [Z], tensor",
             "renames.einsums[0].name: expected the name of an einsum, not a list"},
        Form{"[{name: weight, source: B}]", "[{nam: weight, source: B}]",
             "renames.einsums[0].tensor_accesses[0]: unknown key 'nam'; did you mean 'name'?"},
        Form{"name: Buffer", "name: Off", "arch.nodes[2].name: a second node called 'Off'"},
        Form{"tensors: {keep: ~Off, tile_shape: [{expression: m, operator: <=, value: 4}]}\n"
             "  - !Compute\n",
             "tensors: {may_keep: All}\n  - !Compute\n    enabled: len(Buffer) == 3\n",
             "m.yaml:17:14: arch.nodes[3].enabled: what 'Buffer' holds depends on a choice that is "
             "left to the mapping"},
        Form{"tensors: {keep: ~Off,", "bits_per_value: {Buffer: 16}\n    tensors: {may_keep: All,",
             "m.yaml:15:22: arch.nodes[2].bits_per_value: what 'Buffer' holds depends on a choice"},
        Form{"  - einsum: \"Z", "  - \"Z[m, n] = A[m, k] * B[k, n]\"\n  - einsum: \"Z",
             "workload.einsums[1]: a second einsum called 'Z'"}));

TEST(ForgeForm, OfNoEinsumIsNoted) {
  std::string text = kDesign;
  text.replace(text.find("K: 4,"), 5, "K: 4, KK: 2,");
  text.replace(text.find("- {name: Z, tensor"), 2, "- {name: Y}\n  - ");
  const ForgeImport import = parse_accelforge(text, "m.yaml");
  EXPECT_THAT(import.notes, Contains("sizes of ranks that no einsum has: KK (m.yaml:21)"));
  EXPECT_THAT(import.notes,
              Contains("renames of einsums that are not in the workload: Y (m.yaml:30)"));
}

// Errors of renames stand in their file.
TEST(ForgeForm, OfRenamesHasItsOwnPlace) {
  const auto written = [](const char* name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream{path} << text;
    return path;
  };
  const std::size_t split = kDesign.find("renames:\n");
  const std::string design = written("forge_forms_design.yaml", kDesign.substr(0, split));
  const std::string renames =
      written("forge_forms_renames.yaml",
              "renames:\n  einsums:\n  - {name: Z, tensor_accesses: {weight: BB}}\n");
  try {
    read_accelforge({design, renames});
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(renames + ":3:41: renames.einsums[0]."));
  }
}

TEST(ForgeForm, OfAMemoryThatIsNotEnabledKeepsItsFanout) {
  std::string text = kDesign;
  text.replace(text.find("size: 8192"), 10,
               "size: 8192\n    enabled: len(All) == 2\n    spatial: [{name: Y, fanout: 2}]");
  const ForgeImport import = parse_accelforge(text, "m.yaml");
  EXPECT_EQ(import.arch->levels.size(), 1U);
  EXPECT_EQ(import.arch->mac_units(), 8);
  EXPECT_THAT(import.notes,
              Contains("memories and tolls that are not enabled: Buffer (for Z m.yaml:11)"));
}

}  // namespace
}  // namespace mapsim::accelforge_forms_test
