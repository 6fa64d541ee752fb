// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag_graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/zigzag.hpp"
#include "interop/zigzag_layer.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/graph_print.hpp"
#include "workloads/load.hpp"

namespace mapsim::zigzag_graph_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kMachine = R"(name: plain
memories:
  sram:
    {size: 8192, r_cost: 64, w_cost: 32, area: 0, latency: 1, operands: [I1, I2, O],
     served_dimensions: [D1],
     ports: [{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 128, allocation: []}]}
  dram:
    {size: 100000, r_cost: 640, w_cost: 640, area: 0, latency: 1, operands: [I1, I2, O],
     served_dimensions: [D1],
     ports: [{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 64, allocation: []}]}
operational_array: {unit_energy: 0.04, unit_area: 1, dimensions: [D1], sizes: [8]}
)";

// Two convolutions, of which the second is padded and has a stride; a pool, a sum of both branches,
// and a fully connected layer behind them.
const char* const kNetwork = R"(- id: 0
  name: first
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=1*ox+1*fx, iy=1*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 16, 8, 8, 8, 3, 3]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 0}
- id: 1
  name: second
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [1, 16, 16, 4, 4, 3, 3]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 1}
- id: 2
  name: pool
  operator_type: Pooling
  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, G, OY, OX, FX, FY]
  loop_sizes: [1, 16, 4, 4, 2, 2]
  operand_precision: {I: 8, W: 0, O: 16, O_final: 8}
  operand_source: {I: 0, W: 2}
- id: 3
  name: sum
  operator_type: Add
  equation: O[b][g][oy][ox]=W[b][g][oy][ox]+I[b][g][oy][ox]
  loop_dims: [B, G, OY, OX]
  loop_sizes: [1, 16, 4, 4]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 1, W: 2}
- id: 4
  name: fc
  operator_type: Gemm
  equation: O[d][k]+=I[d][c]*W[c][k]
  loop_dims: [D, K, C]
  loop_sizes: [1, 10, 256]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 3, W: 4}
)";

ZigzagImport read(const std::string& machine, const std::string& layers) {
  return import_zigzag({parse_yaml(layers, "layers.yaml"), parse_yaml(machine, "machine.yaml")});
}

TEST(ZigzagGraphs, MakeAGraphOfWhereOperandsComeFrom) {
  const ZigzagImport import = read(kMachine, kNetwork);
  ASSERT_TRUE(import.graph) << import.notes.back();
  const PrintedGraph printed = print_graph(import.network, *import.graph);
  EXPECT_EQ(printed.why, "");
  const Network network = parse_network(printed.text, "network.yaml");
  ASSERT_TRUE(network.graph) << printed.text;
  const NetworkGraph& graph = *network.graph;
  EXPECT_EQ(network.name, "layers");
  std::vector<std::string> nodes;
  for (const GraphNode& node : graph.nodes) {
    nodes.push_back(node.name + " " + node.op);
  }
  EXPECT_THAT(nodes, ElementsAre("first Conv", "second Conv", "pool MaxPool", "sum Add",
                                 "sum_reshaped Reshape", "fc Einsum"));
  EXPECT_EQ(graph.tensors[graph.inputs.at(0)].shape, (Extents{1, 8, 10, 10}));
  const GraphNode& second = graph.nodes[graph.find_node("second").value()];
  // 9 of 8 rows: one of padding, of which the stride leaves half.
  EXPECT_EQ(second.layers[0].workload.tensors[TensorId{0}].stored_elements, 16 * 8 * 8);
  EXPECT_EQ(second.layers[0].workload.tensors[second.layers[0].workload.output()].partial_bits,
            Bits{16});
  EXPECT_EQ(network.streams.size(), 2U);
  EXPECT_TRUE(network.unpriced.empty());
  std::int64_t macs = 0;
  for (const ZigzagImport::Layer& layer : import.layers) {
    macs += layer.workload.macs();
  }
  EXPECT_EQ(network.macs(), macs);
}

TEST(ZigzagGraphs, SayWhyANetworkIsNoGraph) {
  const auto why = [](const char* from, const char* to) {
    std::string layers = kNetwork;
    layers.replace(layers.find(from), std::string_view{from}.size(), to);
    const ZigzagImport import = read(kMachine, layers);
    EXPECT_FALSE(import.graph);
    return import.notes;
  };
  EXPECT_THAT(why("{I: 3, W: 4}", "{I: 7, W: 4}"),
              Contains(HasSubstr("fc reads layer 7, which is not above it")));
  EXPECT_THAT(why("{I: 0, W: 1}", "{I: 0, W: 0}"),
              Contains(HasSubstr("second is a convolution whose weights a layer makes")));
  EXPECT_THAT(why("[1, 10, 256]", "[1, 10, 255]"),
              Contains(HasSubstr("sum makes 256 elements, of which fc reads 255")));
  EXPECT_THAT(why("[1, 16, 16, 4, 4, 3, 3]", "[1, 16, 16, 2, 2, 3, 3]"),
              Contains(HasSubstr("no padding lets second read what is made")));
}

// An operator of a graph has its weights in I2.
TEST(ZigzagGraphs, AreListsWhereOperandsAreSwapped) {
  const auto with = [](const char* links) {
    return import_zigzag({parse_yaml(kMachine, "machine.yaml"), parse_yaml(kNetwork, "layers.yaml"),
                          parse_yaml("- name: default\n- name: Conv\n  memory_operand_links: " +
                                         std::string{links} + "\n",
                                     "mapping.yaml")});
  };
  EXPECT_TRUE(with("{O: O, W: I2, I: I1}").graph);
  const ZigzagImport swapped = with("{O: O, W: I1, I: I2}");
  EXPECT_FALSE(swapped.graph);
  EXPECT_THAT(swapped.notes,
              Contains(HasSubstr("mapping.yaml:3: the network is a list of layers, not a graph: "
                                 "first has I in I2 and W in I1")));
  const Workload& first = swapped.layers.at(0).workload;
  EXPECT_EQ(first.tensors[*first.find_tensor("I")].role, Role::kWeight);
}

TEST(ZigzagGraphs, NameWhatOneWordOfAMemoryCannotSay) {
  std::string machine = kMachine;
  const std::string port =
      "name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 64";
  machine.replace(machine.find(port), 0,
                  "name: r, type: read, bandwidth_min: 8, bandwidth_max: 32, "
                  "allocation: []}, {");
  machine.replace(machine.find("unit_energy"), 0, "input_precision: [8, 8], ");
  const ZigzagImport import = read(machine, kNetwork);
  EXPECT_THAT(import.notes,
              Contains(HasSubstr("dram: ports of 32 to 64 b: energies are of reads of 64 b, writes "
                                 "of 64 b and updates of 64 b; ports add up")));
  EXPECT_THAT(import.notes,
              Contains(HasSubstr("machine.yaml:11: plain: input_precision is left out")));
  EXPECT_THAT(import.notes, Not(Contains(HasSubstr("sram: ports of"))));
}

// An access is as wide as the port that its operand has for its direction.
TEST(ZigzagMachines, TakeEnergiesPerAccessOfTheOperandsOwnPort) {
  std::string machine = kMachine;
  const std::string port =
      "{name: rw_port_1, type: read_write, bandwidth_min: 64, bandwidth_max: 128, allocation: []}";
  machine.replace(
      machine.find(port), port.size(),
      R"({name: a, type: read_write, bandwidth_min: 8, bandwidth_max: 64, allocation: ["I1, tl", "I2, tl"]},
             {name: b, type: read_write, bandwidth_min: 8, bandwidth_max: 256, allocation: ["O, tl", "O, fl"]},
             {name: c, type: read_write, bandwidth_min: 8, bandwidth_max: 16, allocation: ["I1, fh", "I2, fh", "O, fh", "O, th"]})");
  const ZigzagImport import = read(machine, kNetwork);
  const Storage& sram = import.layers.at(0).arch.levels[LevelId{1}];
  ASSERT_EQ(sram.name, "sram");
  EXPECT_DOUBLE_EQ(sram.energy.read.count(), 64.0 / 64);
  EXPECT_DOUBLE_EQ(sram.energy.write.count(), 32.0 / 16);
  EXPECT_DOUBLE_EQ(sram.energy.update.count(), 32.0 / 256);
  EXPECT_THAT(
      import.notes,
      Contains("sram: ports of 16 to 256 b: energies are of reads of 64 b, writes of 16 b "
               "and updates of 256 b; in ZigZag those of 'O, th' are of 16 b; in ZigZag "
               "those of 'O, tl' are of 256 b; ports add up, where in ZigZag each serves its "
               "own operands"));
}

// A small memory of weights inside of the sram, with the ports and dims of a test.
std::string machine_with(const std::string& ports, const std::string& served = "D1") {
  std::string machine = kMachine;
  machine.insert(
      machine.find("  sram:"),
      "  low:\n    {size: 64, r_cost: 1, w_cost: 1, area: 0, latency: 1, operands: [I2], "
      "served_dimensions: [" +
          served + "],\n     ports: [" + ports + "]}\n");
  return machine;
}

std::string complaint_of(const std::string& machine) {
  try {
    import_zigzag({parse_yaml(machine, "machine.yaml")});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// What ZigZag refuses, or what fails in it later. An operand that no port is for would have the
// widest.
TEST(ZigzagMachines, RefusePortsThatContradictThemselves) {
  const std::string both = "{type: read_write, bandwidth_max: 8, allocation: ";
  const std::vector<std::pair<std::string, std::string>> cases{
      {both + "['I2, tl', 'I2, fh']}", ""},
      {both + "['I2,tl']}", "unknown allocation 'I2,tl'"},
      {both + "'I2, tl'}",
       "5:63: memories.low.ports[0].allocation: expected a list, not the text 'I2, tl'"},
      {both + "['I2, tl']}",
       "5:13: memories.low.ports: no port of low has the allocation 'I2, fh'"},
      {both + "['I1, tl']}", "allocation[0]: I1 is not among the operands of low"},
      {both + "['I2, tl', 'I2, fh'], bandwidth_min: 16}", "more than bandwidth_max, 8"},
      {"{type: write, bandwidth_max: 8, allocation: ['I2, tl', 'I2, fh']}",
       "'I2, tl' is read, but the port's type is write; read_write has both"},
      {"{type: read, bandwidth_max: 8, allocation: ['I2, tl', 'I2, fh']}",
       "'I2, fh' is written, but the port's type is read; read_write has both"},
      {"{type: write, bandwidth_max: 8}", "no port of low reads"},
      {"{type: read, bandwidth_max: 8}", "no port of low writes"}};
  for (const auto& [ports, message] : cases) {
    const std::string complaint = complaint_of(machine_with(ports));
    EXPECT_THAT(complaint, HasSubstr(message)) << ports;
    EXPECT_EQ(complaint.empty(), message.empty()) << complaint;
  }
}

// The outermost memory of the sums moves none further out.
TEST(ZigzagMachines, NeedAPortForEachDirectionOfAnOperand) {
  const auto with = [](const char* memory, const char* allocation) {
    std::string machine = kMachine;
    const std::string none = "allocation: []";
    machine.replace(
        machine.find(none, machine.find(memory)), none.size(),
        fmt::format("allocation: ['I1, tl', 'I1, fh', 'I2, tl', 'I2, fh', {}]", allocation));
    return machine;
  };
  const auto complaint = [&](const char* memory, const char* allocation) {
    return complaint_of(with(memory, allocation));
  };
  EXPECT_EQ(complaint("dram", "'O, tl', 'O, fl'"), "");
  EXPECT_THAT(complaint("dram", "'O, tl'"),
              HasSubstr("no port of dram has the allocation 'O, fl'"));
  EXPECT_THAT(complaint("sram", "'O, tl', 'O, fl'"),
              HasSubstr("no port of sram has the allocation 'O, th'"));
  EXPECT_THAT(
      import_zigzag({parse_yaml(with("sram", "'O, fl', 'O, th'"), "machine.yaml")}).notes,
      Contains("machine.yaml:6: sram: no port has the allocation 'O, tl', 'O, fh': sums that "
               "come back have a port here, and none in ZigZag"));
}

TEST(ZigzagMachines, NoteThePortsThatServeNothing) {
  const std::string rates = "type: read_write, bandwidth_max: ";
  const ZigzagImport import = import_zigzag(
      {parse_yaml(machine_with("{" + rates + "8, allocation: ['I2, tl', 'I2, fh']},\n {" + rates +
                               "32, allocation: []},\n {" + rates + "16, allocation: ['I2, tl']}"),
                  "machine.yaml")});
  EXPECT_EQ(import.arch.levels[LevelId{2}].bandwidth.shared, BitsPerCycle{24});
  EXPECT_THAT(import.notes,
              Contains("machine.yaml:6: low: a port without an allocation serves nothing, as in "
                       "ZigZag"));
  EXPECT_THAT(import.notes, Contains("machine.yaml:7: low: 'I2, tl' has a port already; the last "
                                     "one counts, as in ZigZag"));
}

// A memory further out serves at least as many units.
TEST(ZigzagMachines, StandFromTheInnermostToTheOutermost) {
  std::string machine = machine_with("{type: read_write, bandwidth_max: 8}");
  EXPECT_EQ(complaint_of(machine), "");
  const std::string served = "served_dimensions: [D1]";
  machine.replace(machine.find(served, machine.find("sram:")), served.size(),
                  "served_dimensions: []");
  EXPECT_THAT(complaint_of(machine),
              HasSubstr("memories.sram.served_dimensions: a memory that is listed later is further "
                        "out: sram must serve at least the array dims that low serves"));
  EXPECT_EQ(complaint_of(machine_with("{type: read_write, bandwidth_max: 8}", "")), "");
}

TEST(ZigzagMachines, NoteThatTheOutermostMemoryIsTheWholeArrays) {
  const auto notes = [](const std::string& served) {
    std::string machine = kMachine;
    const std::size_t at = machine.rfind("served_dimensions: [D1]");
    machine.replace(at, 23, "served_dimensions: " + served);
    return import_zigzag({parse_yaml(machine, "machine.yaml")}).notes;
  };
  const auto is_noted = Contains(
      "machine.yaml:9: dram, the outermost memory, serves units along all dims of the array here: "
      "D1");
  EXPECT_THAT(notes("[]"), is_noted);
  EXPECT_THAT(notes("[D1]"), Not(is_noted));
}

TEST(ZigzagResults, NameTheAcceleratorThatTheyAreOf) {
  const std::string data = source_path("tests/app/data/zigzag_");
  const auto notes = [&](const char* name) {
    std::string text = read_yaml_text(data + "result.json");
    text.replace(text.find("small"), 5, name);
    return import_zigzag({parse_yaml(text, "result.json"), read_yaml(data + "machine.yaml")}).notes;
  };
  EXPECT_THAT(notes("other"), Contains("result.json:7: the accelerator is other, and here small"));
  EXPECT_THAT(notes("small"), Not(Contains(HasSubstr("the accelerator is"))));
}

TEST(ZigzagMappings, AreAboutLayers) {
  const auto complaint = [](const char* mapping, bool layers) -> std::string {
    std::vector<Document> documents{parse_yaml(kMachine, "machine.yaml"),
                                    parse_yaml(mapping, "mapping.yaml")};
    if (layers) {
      documents.push_back(parse_yaml(kNetwork, "network.yaml"));
    }
    try {
      import_zigzag(std::move(documents));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("\n- {name: default}\n", false),
              HasSubstr("mapping.yaml:2:1: mapping: a mapping without a workload"));
  EXPECT_THAT(complaint("\n- {name: Conv}\n", true),
              HasSubstr("mapping.yaml:2:1: mapping: no entry fits the layer pool (Pooling), and "
                        "there is none with `name: default`, which ZigZag needs"));
  EXPECT_EQ(complaint("- {name: default}\n- {name: Conv}\n", true), "");
  EXPECT_THAT(complaint("- {name: default}\n- {name: Conv}\n- {spatial_mapping: {D1: ['K, 4']}, "
                        "name: Conv}\n",
                        true),
              HasSubstr("mapping.yaml:3:43: mapping: a second entry of the name 'Conv'; the first "
                        "stands at line 2, and ZigZag reads that one: leave one of them out"));
  EXPECT_THAT(complaint("- {name: default}\n- {nam: Conv}\n", true),
              HasSubstr("mapping.yaml:2:3: mapping: an entry without a name"));
}

TEST(ZigzagMappings, NameTheEntriesOfNoLayer) {
  const ZigzagImport import = import_zigzag(
      {parse_yaml(kMachine, "machine.yaml"), parse_yaml(kNetwork, "network.yaml"),
       parse_yaml("- {name: default}\n- {name: Conv}\n- {name: third}\n- {name: Softmax}\n",
                  "mapping.yaml")});
  EXPECT_THAT(import.notes, Contains("mapping.yaml: no layer has the name or the type of these "
                                     "entries: third (line 3), Softmax (line 4)"));
}

// A model's operands have 8 b, its sums 16 b.
TEST(ZigzagGraphs, OfModelsHaveTheWidthsOfZigzag) {
  NetworkGraph graph = *parse_network(
                            "name: g\ninputs: {x: {shape: [2, 4]}}\ngraph:\n"
                            "  - {name: fc, gemm: {n: 8}, in: x}\n",
                            "g.yaml")
                            .graph;
  set_zigzag_widths(graph);
  const Workload& workload = graph.nodes[0].layers[0].workload;
  EXPECT_EQ(workload.tensors[TensorId{0}].bits, Bits{8});
  EXPECT_EQ(workload.tensors[workload.output()].bits, Bits{8});
  EXPECT_EQ(workload.tensors[workload.output()].partial_bits, Bits{16});
  EXPECT_THAT(print_graph("g", graph).text, HasSubstr("partial: 16 b"));
}

// What ZigZag's own reader of models does otherwise.
TEST(ZigzagGraphs, OfModelsHaveNotesOfPaddingAndPools) {
  const Network network = parse_network(
      "name: g\ninputs: {x: {shape: [1, 3, 8, 8]}}\ngraph:\n"
      "  - {name: padded, conv2d: {out_channels: 4, kernel: 3, padding: 1}, in: x}\n"
      "  - {name: pool, op: MaxPool, kernel: 3, stride: 2, padding: 1, in: padded}\n"
      "  - {name: bare, conv2d: {out_channels: 4, kernel: 3}, in: pool}\n"
      "  - {name: mean, op: GlobalAveragePool, in: bare}\n",
      "g.yaml");
  std::vector<std::string> notes;
  zigzag_workload(network, "model.onnx", notes);
  EXPECT_THAT(notes, Contains("model.onnx: the padding of padded is read like the rest of the "
                              "input; ZigZag does not count it"));
  notes.clear();
  note_pools(*network.graph, notes);
  EXPECT_THAT(notes, ElementsAre("pool: a graph has the window without padding that makes its "
                                 "shape, not the one of the workload; what it moves is the same"));
}

}  // namespace
}  // namespace mapsim::zigzag_graph_test
