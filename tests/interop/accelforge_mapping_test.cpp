// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/accelforge.hpp"

namespace mapsim::accelforge_mapping_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kMachine = R"(arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    component_class: Dummy
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 8192
    component_class: Dummy
    tensors: {keep: ~Off, may_keep: All}
  - !Container
    name: Rows
    spatial: [{name: X, fanout: 4}]
  - !Compute
    name: MAC
    enabled: len(All) == 3
    component_class: Dummy
  - !Compute
    name: Vector
    enabled: len(All) == 2
    component_class: Dummy
)";

const std::string kProduct = R"(workload:
  rank_sizes: {M: 16, K: 4, N: 8}
  bits_per_value: {All: 8}
  einsums: ["Z[m, n] = A[m, k] * B[k, n]"]
mapping:
  nodes:
  - !Storage {tensors: [A, B, Z], component: Off}
  - !Temporal {rank_variable: m, tile_shape: 4}
  - !Storage {tensors: [A, B, Z], component: Buffer}
  - !Spatial {rank_variable: n, tile_shape: 2, component: Rows, name: X}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: Z, component: MAC}
)";

// The two products have different names for the rank that both loops cut.
const std::string kFused = R"(workload:
  rank_sizes: {M: 8, P: 8, N0: 4, N1: 6, N2: 2}
  bits_per_value: {All: 8}
  einsums:
  - "T1[m, n1] = T0[m, n0] * W0[n0, n1]"
  - "T2[p, n2] = T1[p, n1] * W1[n1, n2]"
  - "S[p, n2] = T2[p, n2]"
mapping:
  nodes:
  - !Storage {tensors: [T0, W0, W1, T2, S], component: Off}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: [p, m], tile_shape: 4}
      - !Storage {tensors: [T1], component: Buffer}
      - !Sequential
        nodes:
        - !Nested
          nodes:
          - !Temporal {rank_variable: m, tile_shape: 4}
          - !Temporal {rank_variable: m, tile_shape: 1}
          - !Temporal {rank_variable: n0, tile_shape: 1}
          - !Temporal {rank_variable: n1, tile_shape: 1}
          - !Compute {einsum: T1, component: MAC}
        - !Nested
          nodes:
          - !Temporal {rank_variable: p, tile_shape: 1}
          - !Temporal {rank_variable: n1, tile_shape: 1}
          - !Temporal {rank_variable: n2, tile_shape: 1}
          - !Compute {einsum: T2, component: MAC}
    - !Nested
      nodes:
      - !Compute {einsum: S, component: Vector}
)";

ForgeImport imported(const std::string& text) {
  return parse_accelforge(kMachine + text, "m.yaml");
}

std::string edited(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

// What is wrong with the product once `old` is `by`.
std::string complaint(const std::string& old, const std::string& by) {
  try {
    imported(edited(kProduct, old, by));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ForgeMapping, CutsTheRankVariableOfASetThatTheEinsumHas) {
  EXPECT_EQ(imported(kProduct).layers.at(0).mapping,
            "mapping:\n  - keep Off: [A, B, Z]\n  - for m: 4\n  - keep Buffer: [A, B, Z]\n"
            "  - parallel n: 2 over X of Rows_X\n"
            "  - for m: 1\n  - for n: 1\n  - for k: 1\n");
  EXPECT_EQ(imported(edited(kProduct, "rank_variable: m", "rank_variable: [m]")).layers[0].mapping,
            imported(kProduct).layers[0].mapping);
}

TEST(ForgeMapping, CutsOneRankVariableOfEachEinsumInATree) {
  const ForgeImport import = imported(
      edited(kFused,
             "    - !Nested\n      nodes:\n      - !Compute {einsum: S, component: Vector}\n", ""));
  EXPECT_THAT(
      import.tree,
      HasSubstr("          - for T2.p: 4\n          - keep Buffer: [T1]\n"
                "          - sequence:\n              - T1:\n                  - for m: 1\n"));
}

TEST(ForgeMapping, IsLeftOutWhereTheOutermostMemoryLacksATensor) {
  const ForgeImport import = parse_accelforge(
      kMachine + edited(kProduct, "[A, B, Z], component: Off", "[A, B], component: Off"), "m.yaml");
  EXPECT_TRUE(import.layers.at(0).mapping.empty());
  EXPECT_THAT(import.notes, Contains(HasSubstr("the mapping of Z does not keep every tensor in")));
}

TEST(ForgeMapping, RefusesNamesThatNothingHas) {
  EXPECT_THAT(
      complaint("rank_variable: m", "rank_variable: mm"),
      HasSubstr("m.yaml:31:31: mapping.nodes[1].rank_variable: unknown rank variable 'mm'; one "
                "of k, m, n"));
  EXPECT_THAT(complaint("rank_variable: m", "rank_variable: [m, x]"),
              HasSubstr("m.yaml:31:35: mapping.nodes[1].rank_variable[1]: unknown rank variable "
                        "'x'; one of k, m, n"));
  EXPECT_THAT(complaint("rank_variable: m", "rank_variable: []"),
              HasSubstr("expected a list of rank variables, not an empty list"));
  EXPECT_THAT(complaint("rank_variable: m", "rank_variable: [m, n]"),
              HasSubstr("several rank variables of Z: m, n; write a loop for each"));
  EXPECT_THAT(
      complaint("[A, B, Z], component: Buffer", "[A, B, ZZ], component: Buffer"),
      HasSubstr("m.yaml:32:31: mapping.nodes[2].tensors[2]: unknown tensor 'ZZ'; one of A, B, Z"));
  EXPECT_THAT(complaint("[A, B, Z], component: Buffer", "[input], component: Buffer"),
              HasSubstr("unknown tensor 'input'; one of A, B, Z"));
  EXPECT_THAT(complaint("component: Buffer", "component: Bufer"),
              HasSubstr("unknown memory 'Bufer'; did you mean 'Buffer'?"));
  EXPECT_THAT(complaint("component: Rows", "component: MAC"),
              HasSubstr("unknown component with a fanout 'MAC'; only Rows"));
  EXPECT_THAT(complaint("tile_shape: 2, component: Rows, name: X",
                        "tile_shape: 8, component: Rows, name: Y"),
              HasSubstr("m.yaml:33:71: mapping.nodes[3].name: unknown fanout of Rows 'Y'"));
  EXPECT_THAT(complaint("einsum: Z", "einsum: Y"), HasSubstr("unknown einsum 'Y'"));
  EXPECT_THAT(complaint("component: MAC}", "component: MACC}"),
              HasSubstr("unknown compute unit 'MACC'; did you mean 'MAC'?"));
  EXPECT_THAT(complaint("component: MAC}", "component: Vector}"),
              HasSubstr("m.yaml:37:37: mapping.nodes[7].component: Z is computed by MAC here, not "
                        "by Vector"));
}

TEST(ForgeMapping, RefusesFormsOfWhichAPartWouldBeLost) {
  EXPECT_THAT(complaint("!Temporal {", "!Temporal {initial_tile_shape: 2, "),
              HasSubstr("unknown key 'initial_tile_shape'"));
  EXPECT_THAT(complaint("  - !Compute {einsum: Z, component: MAC}\n", ""),
              HasSubstr("m.yaml:36:5: mapping.nodes[6]: the last of these nodes is none that "
                        "computes"));
  EXPECT_THAT(complaint("component: MAC}\n",
                        "component: MAC}\n  - !Temporal {rank_variable: k, tile_shape: 1}\n"),
              HasSubstr("m.yaml:37:5: mapping.nodes[7]: !Compute is the last of its nodes, and "
                        "others follow it"));
  EXPECT_THAT(complaint("!Compute {einsum: Z, component: MAC}",
                        "!Sequential {nodes: [!Compute {einsum: Z, component: MAC}]}"),
              HasSubstr("mapping.nodes[7].nodes[0]: a branch is a !Nested with nodes of its own"));
  EXPECT_THAT(complaint("!Compute {einsum: Z, component: MAC}",
                        "!Sequential\n    nodes:\n"
                        "    - !Nested {nodes: [!Compute {einsum: Z, component: MAC}]}\n"
                        "    - !Nested {nodes: [!Compute {einsum: Z, component: MAC}]}"),
              HasSubstr("Z is computed twice"));
  EXPECT_THAT(complaint("!Temporal", "!Toll"), HasSubstr("!Toll in a mapping has no counterpart"));
}

// What no mapping of a layer has stands at the node that it comes from.
TEST(ForgeMapping, RefusesWhatNoMappingHasAtItsNode) {
  EXPECT_THAT(
      complaint("  - !Temporal {rank_variable: k, tile_shape: 1}\n", ""),
      HasSubstr("m.yaml:35:5: mapping.nodes[5]: Z: the nest ends with k at extent 4, not 1"));
  EXPECT_THAT(
      complaint("  - !Spatial", "  - !Storage {tensors: [A], component: Buffer}\n  - !Spatial"),
      HasSubstr("m.yaml:33:5: mapping.nodes[3]: Z: "));
}

TEST(ForgeMapping, RefusesLoopsOfNoEinsumBelow) {
  const std::string text = edited(kFused, "rank_variable: m,", "rank_variable: n2,");
  try {
    imported(text);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("n2 is no rank variable of what is computed below: T1 has "
                                        "m, n0, n1"));
  }
}

TEST(ForgeMapping, NamesEinsumsThatGetNoMapping) {
  const ForgeImport import = imported(kFused);
  EXPECT_THAT(import.notes, Contains(HasSubstr("m.yaml:32: the mapping fuses T1")));
  EXPECT_THAT(import.notes, Contains(HasSubstr("no mapping of their own here: S (m.yaml:57)")));
  const std::string alone =
      edited(kFused, kFused.substr(kFused.find("  - !Sequential")),
             "  - !Storage {tensors: [T1], component: Off, persistent: True}\n"
             "  - !Temporal {rank_variable: m, tile_shape: 1}\n"
             "  - !Temporal {rank_variable: n0, tile_shape: 1}\n"
             "  - !Temporal {rank_variable: n1, tile_shape: 1}\n"
             "  - !Compute {einsum: T1, component: MAC}\n");
  EXPECT_THAT(imported(alone).notes,
              Contains(HasSubstr("m.yaml:32: the mapping does not compute T2, which gets none")));
  EXPECT_THAT(imported(alone).notes, Contains(HasSubstr("persistent (m.yaml:34)")));
}

}  // namespace
}  // namespace mapsim::accelforge_mapping_test
