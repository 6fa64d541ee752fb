// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/tree.hpp"
#include "costmodel/mapping_text.hpp"
#include "interop/accelforge.hpp"
#include "mapper/mapspace/constraints.hpp"

namespace mapsim::accelforge_import_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Two chained products, and what a fanout, a widened memory and a shared port look like.
const std::string kMachine = R"(
arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    leak_power: 2e-3
    actions: [{name: read, energy: 4e-12, throughput: 8e9}, {name: write, energy: 6e-12, throughput: 8e9}]
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 1024 * 8
    actions: [{name: read, energy: 64e-12, bits_per_action: 64}, {name: write, energy: 32e-12, bits_per_action: 64}]
    total_latency: max(a.n_calls for a in actions) / 1e9
    tensors: {keep: ~Off, may_keep: input | weight}
  - !Hierarchical
    nodes:
    - !Container
      name: Rows
      spatial: [{name: X, fanout: 4, reuse: input, min_usage: 1}]
    - !Memory
      name: Sums
      size: 96
      area: 2e-9
      bits_per_value: {output: 3 * output.bits_per_value}
      actions: [{name: read, energy: 1e-12, throughput: inf}, {name: write, energy: 1e-12, throughput: inf}]
      tensors: {keep: output}
  - !Compute
    name: MAC
    actions: [{name: compute, energy: 0.5e-12, throughput: 2e9}]
)";

const std::string kProducts = R"(
workload:
  rank_sizes: {M: 8, N0: 4, N1: 6, N2: 2}
  bits_per_value: {All: 8}
  einsums:
  - "T1[m, n1] = T0[m, n0] * W0[n0, n1]"
  - "S[m, n1] = T1[m, n1]"
  - einsum: "T2[m, n2] = S[m, n1] * W1[n1, n2]"
    n_instances: 3
renames:
  einsums:
  - name: default
    tensor_accesses:
    - {name: input, source: Inputs - weight, expected_count: 1}
    - {name: output, source: Outputs}
  - name: T1
    tensor_accesses: {weight: W0}
  - name: T2
    tensor_accesses: {weight: W1}
  - name: S
    tensor_accesses: {weight: Nothing}
)";

Role role(const Workload& workload, const char* tensor) {
  return workload.tensors[*workload.find_tensor(tensor)].role;
}

TEST(ForgeImport, ReadsAMachineInSetsOfRoles) {
  const ForgeImport import = parse_accelforge(kMachine, "m.yaml");
  ASSERT_TRUE(import.arch);
  const Arch& arch = *import.arch;
  EXPECT_EQ(arch.clock.count(), 2e9);
  ASSERT_EQ(arch.levels.size(), 3U);
  const Storage &off = arch.levels[LevelId{0}], &buffer = arch.levels[LevelId{1}],
                &sums = arch.levels[LevelId{2}];
  EXPECT_EQ(off.keep, kAllRoles);
  EXPECT_DOUBLE_EQ(off.energy.read.count(), 4);
  EXPECT_DOUBLE_EQ(off.energy.update.count(), 6);
  EXPECT_DOUBLE_EQ(off.bandwidth.shared->count(), 4);  // 8 Gb/s at 2 GHz
  EXPECT_DOUBLE_EQ(off.physical.leakage->count(), 2);
  EXPECT_EQ(buffer.keep, RoleSet{});  // all is kept further out
  EXPECT_EQ(buffer.bypass, RoleSet{Role::kOutput});
  EXPECT_DOUBLE_EQ(buffer.energy.read.count(), 1);
  EXPECT_DOUBLE_EQ(buffer.energy.write.count(), 0.5);
  EXPECT_DOUBLE_EQ(buffer.bandwidth.read->count(), 32);  // 64 b at 1 GHz
  EXPECT_FALSE(buffer.bandwidth.shared);
  EXPECT_EQ(sums.keep, RoleSet{Role::kOutput});
  EXPECT_EQ(sums.capacity.shared->count(), 32);  // 96 b of 24 b each: 4 values
  EXPECT_DOUBLE_EQ(sums.energy.read.count(), 3);
  EXPECT_DOUBLE_EQ(sums.physical.area->count(), 0.002);
  ASSERT_EQ(arch.fanouts.size(), 1U);
  const Fanout& rows = arch.fanouts[FanoutId{0}];
  EXPECT_EQ(rows.name, "Rows_X");
  EXPECT_EQ(arch.levels_above[FanoutId{0}], 2U);
  EXPECT_EQ(rows.multicast, RoleSet{Role::kInput});
  EXPECT_FALSE(rows.spatial_reduction);
  EXPECT_THAT(rows.x_dims.gemm_axes, ElementsAre(GemmAxis::kN));
  EXPECT_DOUBLE_EQ(arch.compute.energy.count(), 0.5);
  EXPECT_THAT(import.notes, Contains(HasSubstr("Sums holds 3 times the bits of a value")));
}

// Sizes and extents whose integers would overflow: found by fuzzing.
TEST(ForgeImport, CountsNothingBeyondTwoToThe53) {
  std::string machine = kMachine;
  machine.replace(machine.find("1024 * 8"), 8, "2 ** 300");
  const ForgeImport vast = parse_accelforge(machine, "vast.yaml");
  EXPECT_EQ(vast.arch->levels[LevelId{1}].capacity.shared, Bits{std::int64_t{1} << 53});
  std::string products = kProducts;
  products.replace(products.find("M: 8, N0: 4"), 11, "M: 2 ** 52, N0: 2 ** 52");
  EXPECT_THAT(parse_accelforge(kMachine + products, "long.yaml").notes,
              Contains(HasSubstr("T1 is left out: ")));
  const std::string wide = "fanout: 4";
  machine = kMachine;
  machine.replace(machine.find(wide), wide.size(), "fanout: 2 ** 80");
  EXPECT_EQ(parse_accelforge(machine, "wide.yaml").arch->fanouts[FanoutId{0}].x,
            std::int64_t{1} << 53);
}

TEST(ForgeImport, MakesANetworkOfAChain) {
  const ForgeImport import = parse_accelforge(kMachine + kProducts, "m.yaml");
  ASSERT_TRUE(import.network);
  const Network& network = *import.network;
  ASSERT_EQ(network.layers.size(), 2U);
  EXPECT_EQ(network.layers[0].workload.equation(), "T1[m][n1] += T0[m][n0] * W0[n0][n1]");
  EXPECT_EQ(network.layers[0].workload.macs(), 8 * 4 * 6);
  EXPECT_EQ(role(network.layers[1].workload, "S"), Role::kInput);
  EXPECT_EQ(role(network.layers[1].workload, "W1"), Role::kWeight);
  EXPECT_EQ(network.layers[1].count, 3);
  ASSERT_EQ(network.streams.size(), 1U);
  EXPECT_EQ(network.streams[0].in.count(), 8 * 6 * 8);
  // Of 4 instances, 6 = 2 x 3 can use 3 and 2 can use 2.
  EXPECT_THAT(import.layers[0].constraints,
              HasSubstr("Rows_X: {min_utilization: 0.75, X: {dims: [n1]}}"));
  EXPECT_THAT(import.layers[1].constraints,
              HasSubstr("Rows_X: {min_utilization: 0.5, X: {dims: [n2]}}"));
  const Problem problem{*import.arch, network.layers[0].workload};
  parse_constraints(import.layers[0].constraints, "c.yaml", problem);
  EXPECT_THAT(import.notes, Contains(HasSubstr("2 tensors between them")));
}

// By hand: T0 and W0 come once each, T1 leaves once, 8 x 4 x 6 products; what passes Off is
// 4 pJ x 8 b x (32 + 24) + 6 pJ x 8 b x 48.
TEST(ForgeImport, CostsAMappingThatIsNotFused) {
  const std::string mapping = R"(
mapping:
  nodes:
  - !Storage {tensors: [T0, W0, T1, S, W1, T2], component: Off}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Storage {tensors: [T0, W0], component: Buffer}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: n1, tile_shape: 1 + 2}
      - !Spatial {rank_variable: n1, tile_shape: 1, component: Rows, name: X}
      - !Storage {tensors: [T1], component: Sums}
      - !Temporal {rank_variable: n0, tile_shape: 1}
      - !Compute {einsum: T1, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [T2], component: Sums}
      - !Temporal {rank_variable: m, tile_shape: 1}
      - !Temporal {rank_variable: n1, tile_shape: 1}
      - !Temporal {rank_variable: n2, tile_shape: 1}
      - !Compute {einsum: T2, component: MAC}
)";
  const ForgeImport import = parse_accelforge(kMachine + kProducts + mapping, "m.yaml");
  const Problem problem{import.layers[0].arch, import.network->layers[0].workload};
  const Mapping ours =
      parse_mapping(import.layers[0].mapping, "mapping.yaml", problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, ours);
  ASSERT_TRUE(std::holds_alternative<Cost>(evaluation));
  const Cost& cost = std::get<Cost>(evaluation);
  double off = 0;
  for (const auto& tensor : cost.energy.levels[LevelId{0}]) {
    off += tensor.total.count();
  }
  EXPECT_DOUBLE_EQ(off, 4 * 8 * (32 + 24) + 6 * 8 * 48);
  EXPECT_DOUBLE_EQ(cost.energy.compute.count(), 0.5 * 8 * 4 * 6);
  EXPECT_THAT(import.layers[1].mapping, HasSubstr("keep Sums: [T2]"));
}

TEST(ForgeImport, LeavesFusedMappingsOutByName) {
  const std::string mapping = R"(
mapping:
  nodes:
  - !Storage {tensors: [T0, W0, T1, S, W1, T2], component: Off}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Sequential
    nodes:
    - !Nested {nodes: [!Compute {einsum: T1, component: MAC}]}
    - !Nested {nodes: [!Compute {einsum: T2, component: MAC}]}
)";
  const ForgeImport import = parse_accelforge(kMachine + kProducts + mapping, "m.yaml");
  EXPECT_EQ(import.layers[0].mapping, "");
  EXPECT_THAT(import.notes, Contains(HasSubstr("fuses T1 with other einsums")));
}

const std::string kTwoProducts = R"(
workload:
  rank_sizes: {M: 8, N0: 4, N1: 6, N2: 2}
  bits_per_value: {All: 8}
  einsums:
  - "T1[m, n1] = T0[m, n0] * W0[n0, n1]"
  - "T2[m, n2] = T1[m, n1] * W1[n1, n2]"
)";
// T1 stays in the buffer, a row at a time; W1 is kept around the loop.
const std::string kFused = R"(
mapping:
  nodes:
  - !Storage {tensors: [T0, W0, W1, T2], component: Off}
  - !Storage {tensors: [W1], component: Buffer}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Storage {tensors: [T1], component: Buffer}
  - !Sequential
    nodes:
    - !Nested
      nodes:
      - !Temporal {rank_variable: n1, tile_shape: 1}
      - !Temporal {rank_variable: n0, tile_shape: 1}
      - !Compute {einsum: T1, component: MAC}
    - !Nested
      nodes:
      - !Storage {tensors: [T2], component: Buffer}
      - !Temporal {rank_variable: n1, tile_shape: 1}
      - !Temporal {rank_variable: n2, tile_shape: 1}
      - !Compute {einsum: T2, component: MAC}
)";
const std::string kPlainMachine = R"(
arch:
  nodes:
  - !Memory
    name: Off
    size: inf
    actions: [{name: read, energy: 8e-12, throughput: inf}, {name: write, energy: 8e-12, throughput: inf}]
    tensors: {keep: ~Intermediates, may_keep: All}
  - !Memory
    name: Buffer
    size: 8192
    actions: [{name: read, energy: 1e-12, throughput: inf}, {name: write, energy: 1e-12, throughput: inf}]
    tensors: {keep: ~Off, may_keep: All}
  - !Compute
    name: MAC
    actions: [{name: compute, energy: 0, throughput: 1e9}]
)";

TEST(ForgeImport, MakesATreeOfAFusedMapping) {
  const ForgeImport import = parse_accelforge(kPlainMachine + kTwoProducts + kFused, "m.yaml");
  ASSERT_TRUE(import.chain);
  EXPECT_EQ(import.chain->einsums.size(), 2U);
  ASSERT_EQ(import.chain->intermediates.size(), 1U);
  EXPECT_EQ(import.chain->intermediates[0].name, "T1");
  EXPECT_EQ(
      import.tree,
      "mapping:\n  - keep Buffer: [T2.W1]\n  - for T2.m: 1\n  - keep Buffer: [T1]\n"
      "  - sequence:\n      - T1:\n          - for n1: 1\n          - for n0: 1\n"
      "      - T2:\n          - keep Buffer: [T2]\n          - for n1: 1\n          - for n2: 1\n");
  EXPECT_THAT(import.notes, Not(Contains(HasSubstr("it is left out"))));
  const Arch& arch = *import.arch;
  const auto cost =
      evaluate_tree(arch, *import.chain, parse_tree(import.tree, "tree.yaml", arch, *import.chain));
  ASSERT_TRUE(std::holds_alternative<TreeCost>(cost));
  // Each of the 48 values of T1 is written 4 times, read back 3 times, and read twice: by the
  // buffer alone, at 1 pJ/b.
  EXPECT_EQ(std::get<TreeCost>(cost).passing.at(0), Picojoules{8.0 * 48 * (4 + 3 + 2)});
}

TEST(ForgeImport, NamesWhatNoTreeSays) {
  const auto note_of = [](const std::string& from, const std::string& to) {
    std::string mapping = kFused;
    mapping.replace(mapping.find(from), from.size(), to);
    const ForgeImport import = parse_accelforge(kPlainMachine + kTwoProducts + mapping, "m.yaml");
    EXPECT_EQ(import.tree, "") << to;
    std::string found;
    for (const std::string& note : import.notes) {
      found = note.find("is not written as a tree") != std::string::npos ? note : found;
    }
    return found;
  };
  EXPECT_THAT(note_of("[T0, W0, W1, T2], component: Off", "[T0, W0, W1, T1, T2], component: Off"),
              HasSubstr("T1 is held here and by Off too"));
  EXPECT_THAT(note_of("!Sequential", "!Pipeline"), HasSubstr("!Pipeline has no counterpart"));
  EXPECT_THAT(note_of("rank_variable: m, tile_shape: 1", "rank_variable: n2, tile_shape: 1"),
              HasSubstr("T1 has no loop over n2 as T2 has"));
  EXPECT_THAT(note_of("- !Storage {tensors: [T1], component: Buffer}",
                      "- !Storage {tensors: [], component: Buffer}"),
              HasSubstr("no memory holds T1"));
}

// The softmax of a machine whose MACs do not compute it is a new name of what it reads.
TEST(ForgeImport, LetsEinsumsOfOneOperandRide) {
  const std::string attention = R"(
workload:
  rank_sizes: {M: 8, P: 4, E: 2, F: 2}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "I[m, e] = X[m, e]", is_copy_operation: True}
  - "QK[m, p] = I[m, e] * K[p, e]"
  - "S[m, p] = QK[m, p]"
  - "AV[m, f] = S[m, p] * V[p, f]"
)";
  const ForgeImport all = parse_accelforge(kPlainMachine + attention, "m.yaml");
  ASSERT_TRUE(all.chain);
  EXPECT_EQ(all.chain->einsums.size(), 3U);
  EXPECT_EQ(all.chain->names[0][TensorId{0}], "X");
  std::string split = kPlainMachine;
  split.replace(split.find("name: MAC"), 9, "name: MAC\n    enabled: len(All) == 3");
  const ForgeImport riding = parse_accelforge(split + attention, "m.yaml");
  ASSERT_TRUE(riding.chain);
  EXPECT_EQ(riding.chain->einsums.size(), 2U);
  EXPECT_EQ(riding.chain->intermediates.size(), 1U);
  EXPECT_THAT(riding.notes, Contains(HasSubstr("S rides on QK")));
}

TEST(ForgeImport, NamesAttributesThatOnlyModelsRead) {
  std::string machine = kPlainMachine;
  machine.replace(
      machine.find("name: MAC"), 9,
      "name: MAC\n    extra_attributes_for_component_model: {n_banks: 4, adder_width: 16}");
  EXPECT_THAT(
      parse_accelforge(machine, "m.yaml").notes,
      Contains(HasSubstr("attributes that the energy, area and throughput of a class's model alone "
                         "may depend on, not counts: n_banks (MAC m.yaml:")));
}

TEST(ForgeImport, NamesSumsThatItCountsAsProducts) {
  const ForgeImport import = parse_accelforge(R"(
workload:
  rank_sizes: {M: 8, P: 4, E: 2}
  bits_per_value: {All: 8}
  einsums:
  - "H[m, e] = X[m, e] + Y[m, e]"
  - "Z[m, p] = H[m, e] * W[e, p]"
)",
                                              "m.yaml");
  EXPECT_THAT(import.notes,
              Contains("no product, counted as one operation for each point: + (H m.yaml:6)"));
}

TEST(ForgeImport, ReadsWindowsAndLists) {
  const ForgeImport import = parse_accelforge(R"(
workload:
  iteration_space_shape: {p: 0 <= p < 5, r: 0 <= r < 3, c: 0 <= c <= 3}
  bits_per_value: {O: 24, Other: 8}
  einsums:
  - - name: Conv
      tensor_accesses:
      - {name: I, projection: {H: 2 * p + r, C: c}, bits_per_value: 4}
      - {name: W, projection: [r, c]}
      - {name: O, projection: [p], output: True}
    - {einsum: "Copied[p] = O[p]", is_copy_operation: True}
)",
                                              "w.yaml");
  ASSERT_EQ(import.network->layers.size(), 1U);
  const Workload& conv = import.network->layers[0].workload;
  EXPECT_EQ(conv.equation(), "O[p] += I[2*p+r][c] * W[r][c]");
  EXPECT_EQ(conv.macs(), 5 * 3 * 4);
  EXPECT_EQ(conv.tensors[*conv.find_tensor("I")].bits.count(), 4);
  EXPECT_EQ(conv.tensors[conv.output()].bits.count(), 24);
  EXPECT_TRUE(import.network->streams.empty());
  EXPECT_THAT(import.notes, Contains(HasSubstr("cost nothing")));
}

// Widths of a layer change what a memory holds, so that layers have machines of their own.
TEST(ForgeImport, EvaluatesAMachineForEachEinsum) {
  std::string machine = kMachine;
  const std::string size = "1024 * 8";
  machine.replace(machine.find(size), size.size(), "weight.bits_per_value * 10 if weight else 1");
  const std::string text = machine + R"(
workload:
  rank_sizes: {M: 2, K: 2, N: 2}
  bits_per_value: {V: 16, Other: 8}
  einsums:
  - {einsum: "A[m, n] = X[m, k] * W[k, n]", renames: {input: X, output: A, weight: W}}
  - {einsum: "B[m, n] = Y[m, k] * V[k, n]", renames: {input: Y, output: B, weight: V}}
)";
  const ForgeImport import = parse_accelforge(text, "m.yaml");
  ASSERT_EQ(import.layers.size(), 2U);
  EXPECT_EQ(import.layers[0].arch.levels[LevelId{1}].capacity.shared->count(), 80);
  EXPECT_EQ(import.layers[1].arch.levels[LevelId{1}].capacity.shared->count(), 160);
}

std::string complaint(const std::string& text) {
  try {
    parse_accelforge(text, "m.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string edited(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

TEST(ForgeImport, NamesWhatHasNoCounterpartWithItsPlace) {
  EXPECT_THAT(
      complaint(edited(kMachine, "!Container", "!Network")),
      HasSubstr("m.yaml:20:16: arch.nodes[2].nodes[0].spatial: a fanout of a !Network has no "
                "counterpart"));
  EXPECT_THAT(complaint(edited(kMachine, "!Container", "!Array")),
              HasSubstr("m.yaml:18:7: arch.nodes[2].nodes[0]: !Array has no counterpart: its "
                        "memories stand side by side"));
  EXPECT_THAT(complaint(edited(kMachine, "keep: ~Off", "keep: ~Of")),
              HasSubstr("m.yaml:15:22: arch.nodes[1].tensors.keep: nothing is called 'Of' here"));
  EXPECT_THAT(complaint(edited(kMachine, "leak_power: 2e-3", "sizes: 3")),
              HasSubstr("unknown key 'sizes'"));
  EXPECT_THAT(complaint(edited(kMachine, "energy: 0.5e-12", "bits_per_action: 8, energy: 4e-12")),
              HasSubstr("m.yaml:30:31: arch.nodes[3].actions[0]: unknown key 'bits_per_action'"));
  const std::string list =
      complaint(edited(kMachine, "[{name: compute, energy: 0.5e-12, throughput: 2e9}]", "[x]"));
  EXPECT_THAT(list, HasSubstr("expected a map of name, energy, "));
  EXPECT_THAT(list, Not(HasSubstr(", name")));
  EXPECT_THAT(
      complaint(edited(
          kMachine,
          "    leak_power: 2e-3\n    actions: [{name: read, energy: 4e-12, throughput: 8e9},",
          "    component_class: Spin\n    actions: [")),
      HasSubstr("no energies are known of the class 'Spin'"));
  EXPECT_THAT(complaint(edited(kMachine, "max(a.n_calls for a in actions) / 1e9", "3 + 4")),
              HasSubstr("m.yaml:14:20"));
  EXPECT_THAT(complaint(edited(kProducts, "tensor_accesses: {weight: W1}",
                               "tensor_accesses: {weight: Nothing}")),
              HasSubstr("T2: input is 2 tensors, not 1"));
  EXPECT_THAT(complaint(edited(kProducts, "N2: 2", "N3: 2")),
              HasSubstr("m.yaml:8:5: workload.einsums[2]: T2: nothing says how far 'n2' goes"));
  EXPECT_THAT(complaint(edited(kProducts, "T0[m, n0]", "T0[m, n0-1]")),
              HasSubstr("'n0-1' of T0 is not of the form 2*p + r"));
}

TEST(ForgeImport, TakesNoMappingWithoutAllThatItIsAbout) {
  const std::string mapping = "mapping:\n  nodes: []\n";
  EXPECT_THAT(complaint(kMachine + mapping),
              HasSubstr("m.yaml:32:3: mapping: a mapping without a workload"));
  EXPECT_THAT(complaint(kProducts + mapping),
              HasSubstr("m.yaml:23:3: mapping: a mapping without an architecture"));
  const std::string renames = "renames:\n  einsums: []\n";
  EXPECT_THAT(parse_accelforge(kMachine + renames, "m.yaml").notes,
              Contains(HasSubstr("m.yaml:32: renames are ignored")));
}

// A multiple of the width of a value is the same for all widths.
TEST(ForgeImport, NotesWhatDependsOnTheWidthsOfAWorkload) {
  const auto is_noted = [](const char* line) {
    return Contains(HasSubstr(std::string{line} + ": depends on the widths of tensors"));
  };
  const auto notes = [](const std::string& text) { return parse_accelforge(text, "m.yaml").notes; };
  EXPECT_THAT(notes(kMachine), Not(is_noted("")));
  EXPECT_THAT(notes(edited(kMachine, "size: 96", "size: 12 * output.bits_per_value")),
              is_noted("m.yaml:23"));
  EXPECT_THAT(notes(edited(kMachine, "3 * output.bits_per_value", "24")), is_noted("m.yaml:25"));
  EXPECT_THAT(
      notes(edited(kMachine, "size: 96", "size: 12 * output.bits_per_value") + kProducts.substr(1)),
      Not(is_noted("")));
}

TEST(ForgeSets, AreEvaluatedAsPythonDoes) {
  ForgeNames names;
  names.tensors = 7;
  names.sets = {{"I", {1, 1, false}},   {"W", {2, 2, false}},      {"O", {4, 4, false}},
                {"All", {7, 7, false}}, {"Buffer", {1, 3, false}}, {"m", {1, 1, true}}};
  names.dims = 3;
  names.dims_of = {1, 2, 3};
  EXPECT_EQ(evaluate_set("I | W & O", names).surely, 1U);
  EXPECT_EQ(evaluate_set("~(I | W)", names).surely, 4U);
  EXPECT_EQ(evaluate_set("All - I", names).surely, 6U);
  EXPECT_EQ(evaluate_set("I ^ All", names).surely, 6U);
  EXPECT_EQ(evaluate_set("O if len(All) == 3 else I", names).surely, 4U);
  EXPECT_EQ(evaluate_set("W.rank_variables", names).surely, 2U);
  EXPECT_EQ(evaluate_set("~m", names).surely, 2U);
  const ForgeSet other = evaluate_set("~Buffer.tensors", names);  // surely O, perhaps W
  EXPECT_EQ(other.surely, 4U);
  EXPECT_EQ(other.maybe, 6U);
  EXPECT_THROW(evaluate_set("I | m", names), ExpressionError);
  EXPECT_THROW(evaluate_set("I |", names), ExpressionError);
}

}  // namespace
}  // namespace mapsim::accelforge_import_test
