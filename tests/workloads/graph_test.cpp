// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "tests/support/bad_inputs.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/graph_print.hpp"
#include "workloads/network.hpp"

namespace mapsim::graph_test {
namespace {

using ::testing::ElementsAre;

Network read(const std::string& text) { return parse_network(text, "g.yaml"); }

Extents shape(const NetworkGraph& graph, const std::string& tensor) {
  return graph.tensors[graph.find_tensor(tensor).value()].shape.value();
}

const std::string kBlocks =
    "name: blocks\n"
    "inputs: {x: {shape: [1, 4, 8, 8]}}\n"
    "graph:\n"
    "  - {name: stem, conv2d: {out_channels: 8, kernel: 3, padding: 1}, in: x, epilogue: [bias]}\n"
    "  - name: block\n"
    "    repeat: 2\n"
    "    carry: {y: stem}\n"
    "    out: sum\n"
    "    graph:\n"
    "      - {name: c, conv2d: {out_channels: 8, kernel: 3, padding: same}, in: y}\n"
    "      - {name: sum, op: Add, in: [c, y], epilogue: [relu]}\n"
    "  - {name: pool, op: GlobalAveragePool, in: block}\n"
    "  - {name: flat, op: Flatten, in: pool}\n"
    "  - {name: fc, gemm: {n: 10, bias: true}, in: flat}\n";

TEST(NetworkGraph, RepeatsBlocksAndKeepsEdges) {
  const Network network = read(kBlocks);
  const NetworkGraph& graph = network.graph.value();
  EXPECT_THAT(names_of(graph.nodes), ElementsAre("stem", "block.1.c", "block.1.sum", "block.2.c",
                                                 "block.2.sum", "pool", "flat", "fc"));
  const GraphLinks links = links_of(graph);
  const std::size_t first = graph.find_tensor("block.1.sum").value();
  EXPECT_EQ(links.producer[first], 2U);
  EXPECT_THAT(links.readers[first], ElementsAre(3U, 4U));  // the block and its shortcut
  EXPECT_THAT(
      names_of(std::vector{graph.tensors[graph.inputs.at(0)], graph.tensors[graph.outputs.at(0)]}),
      ElementsAre("x", "fc"));
  EXPECT_EQ(graph.outputs.size(), 1U);
  EXPECT_EQ(shape(graph, "fc"), (Extents{1, 10}));
  EXPECT_EQ(source_of(graph, links, graph.find_tensor("flat").value()),
            graph.find_tensor("pool").value());
  EXPECT_EQ(graph.nodes[0].in[0].of, TensorId{0});
}

// As a list of these layers would have it: equal layers once, what only moves data as streams.
TEST(NetworkGraph, HasInputsAsWideAsItsLayersAreUnlessTheySayIt) {
  const auto bits = [](const std::string& head) {
    const NetworkGraph graph =
        read("name: w\n" + head + "graph: [{name: fc, gemm: {n: 10}, in: x}]\n").graph.value();
    return graph.tensors[graph.inputs.at(0)].bits;
  };
  EXPECT_EQ(bits("inputs: {x: {shape: [1, 4]}}\n"), Bits{8});
  EXPECT_EQ(bits("precision: {input: 32 b}\ninputs: {x: {shape: [1, 4]}}\n"), Bits{32});
  EXPECT_EQ(bits("precision: {weight: 16 b}\ninputs: {x: {shape: [1, 4], bits: 8 b}}\n"), Bits{8});
}

TEST(NetworkGraph, AddsUpToAList) {
  const Network network = read(kBlocks);
  ASSERT_EQ(network.layers.size(), 3U);
  EXPECT_EQ(network.layers[1].name, "block.1.c");
  EXPECT_EQ(network.layers[1].count, 2);
  EXPECT_EQ(network.layers[1].workload.macs(), 64 * 8 * 8 * 9);
  EXPECT_EQ(network.layers[2].workload, gemm("fc", {1, 10, 8, {}, true}));
  EXPECT_EQ(network.macs(), network.graph->macs());
  const Bits map{8 * 8 * 64};
  EXPECT_EQ(network.streams,
            (std::vector<Stream>{{"block.1.sum", "Add", map * 2, map, 2},
                                 {"pool", "GlobalAveragePool", map, Bits{64}, 1}}));
  EXPECT_EQ(network.graph->parameters(), 4 * 8 * 9 + 8 + 2 * 64 * 9 + 80 + 10);
}

TEST(NetworkGraph, GrowsWithABatchLikeItsList) {
  const Network four = batched(read(kBlocks), 4, "g.yaml");
  EXPECT_EQ(shape(*four.graph, "block.2.sum"), (Extents{4, 8, 8, 8}));
  EXPECT_EQ(four.graph->macs(), four.macs());
  EXPECT_EQ(four.graph->nodes[2].reads, four.streams[0].in);
  const Network summed = network_of("blocks", *four.graph);
  EXPECT_EQ(summed.layers, four.layers);
  EXPECT_EQ(summed.streams, four.streams);
  const Network constant = batched(
      read("name: g\ninputs: {x: {shape: [5, 8]}, t: {shape: [1, 8], constant: true}}\ngraph:\n"
           "  - {name: c, op: Concat, axis: 0, in: [t, x]}\n"),
      3, "g.yaml");
  EXPECT_EQ(shape(*constant.graph, "t"), (Extents{1, 8}));
  EXPECT_EQ(constant.graph->parameters(), 8);
  EXPECT_EQ(constant.graph->inputs.size(), 1U);
}

// Attention over tokens, and every operator whose shape has a rule.
TEST(NetworkGraph, InfersShapes) {
  const NetworkGraph graph = *read(R"(name: g
inputs: {x: {shape: [6, 8]}, seq: {shape: [5, 2, 3]}, image: {shape: [1, 6, 9, 9]}}
graph:
  - {name: qkv, gemm: {n: 24}, in: x}
  - {name: parts, op: Split, axis: 1, parts: [8, 8, 8], in: qkv, out: [q, k, v]}
  - {name: qh, op: Reshape, shape: [6, 2, 4], in: q}
  - {name: qt, op: Transpose, perm: [1, 0, 2], alias: true, in: qh}
  - {name: kh, op: Reshape, shape: [6, 2, 4], in: k}
  - {name: kt, op: Transpose, perm: [1, 2, 0], in: kh}
  - {name: scores, batched_gemm: {}, in: [qt, kt]}
  - {name: soft, op: Softmax, in: scores}
  - {name: norm, op: LayerNormalization, in: x}
  - {name: lstm, op: LSTM, hidden: 7, directions: 2, in: seq}
  - {name: pool, op: MaxPool, kernel: 3, stride: 2, ceil: true, in: image}
  - {name: tight, op: AveragePool, kernel: [2, 3], stride: 2, padding: [0, 1], in: image}
  - {name: part, op: Slice, shape: [1, 8], in: x}
  - {name: odd, op: Roll, unpriced: true, shape: [6, 8], in: x}
)")
                                  .graph;
  EXPECT_EQ(shape(graph, "qt"), (Extents{2, 6, 4}));
  EXPECT_EQ(shape(graph, "scores"), (Extents{2, 6, 6}));
  EXPECT_EQ(shape(graph, "soft"), (Extents{2, 6, 6}));
  EXPECT_EQ(shape(graph, "lstm"), (Extents{5, 2, 14}));
  EXPECT_EQ(shape(graph, "pool"), (Extents{1, 6, 4, 4}));
  EXPECT_EQ(shape(graph, "tight"), (Extents{1, 6, 4, 5}));
  const auto node = [&graph](const char* name) {
    return graph.nodes[graph.find_node(name).value()];
  };
  EXPECT_EQ(node("qt").kind, OpKind::kAlias);
  EXPECT_EQ(node("kt").kind, OpKind::kTranspose);
  EXPECT_EQ(node("kt").axes, (Extents{1, 2, 0}));
  EXPECT_EQ(node("qt").reads, Bits{0});
  EXPECT_EQ(node("part").reads, Bits{64});  // no more than it writes
  EXPECT_EQ(node("odd").unpriced, "Roll");
  EXPECT_EQ(node("norm").parameters, 16);
  // 4 gates; two directions of 3 inputs, 7 states and two biases; 5 steps of 2 sequences.
  const GraphNode lstm = node("lstm");
  EXPECT_EQ(lstm.parameters, 2 * 28 * (3 + 7 + 2));
  EXPECT_EQ(lstm.layers[0].workload.macs(), 10 * 56 * 3);
  EXPECT_EQ(lstm.layers[1].count * lstm.layers[1].workload.macs(), 5 * 2 * 2 * 28 * 7);
}

// Random graphs of convolutions, sums, pools and concats, whose shapes are worked out here.
TEST(NetworkGraph, HasTheShapesOfRandomGraphs) {
  Rng rng{70};
  for (int round = 0; round < 60; ++round) {
    std::vector<Extents> made{{1, 4, 12, 12}};
    std::int64_t macs = 0;
    std::string text = "name: g\ninputs: {t0: {shape: [1, 4, 12, 12]}}\ngraph:\n";
    for (int n = 1; n <= 12; ++n) {
      const std::size_t a = rng.below(made.size());
      Extents out = made[a];
      std::string what;
      const auto kernel = static_cast<std::int64_t>(1 + 2 * rng.below(2));
      switch (rng.below(4)) {
        case 0: {
          const auto channels = static_cast<std::int64_t>(1 + rng.below(6));
          macs += channels * out[1] * kernel * kernel * out[2] * out[3];
          out[1] = channels;
          what = fmt::format("conv2d: {{out_channels: {}, kernel: {}, padding: same}}, in: t{}",
                             channels, kernel, a);
          break;
        }
        case 1:
          out[2] = (out[2] + 1) / 2;
          what = fmt::format(
              "op: MaxPool, kernel: [3, 1], stride: [2, 1], padding: [1, 0], in: t{}", a);
          break;
        default: {
          std::vector<std::size_t> alike;
          for (std::size_t i = 0; i < made.size(); ++i) {
            if (made[i][2] == out[2] && made[i][3] == out[3]) {
              alike.push_back(i);
            }
          }
          const std::size_t b = alike[rng.below(alike.size())];
          const bool add = made[b] == out;
          out[1] += add ? 0 : made[b][1];
          what = fmt::format("op: {}, in: [t{}, t{}]", add ? "Add" : "Concat", a, b);
        }
      }
      made.push_back(out);
      text += fmt::format("  - {{name: t{}, {}}}\n", n, what);
    }
    const NetworkGraph graph = *read(text).graph;
    for (std::size_t t = 0; t < made.size(); ++t) {
      EXPECT_EQ(shape(graph, fmt::format("t{}", t)), made[t]) << text;
    }
    EXPECT_EQ(graph.macs(), macs);
  }
}

TEST(NetworkGraph, TellsAllThatIsWrong) { expect_errors("workloads/bad_graphs.txt", 20, read); }

// Some name an axis that is none where another one is in its place.
TEST(NetworkGraph, RefusesAPermThatIsNone) {
  const auto problem = [](const std::string& perm) -> std::string {
    try {
      read(
          "name: g\ninputs: {x: {shape: [2, 3, 4]}}\ngraph:\n"
          "  - {name: t, op: Transpose, perm: " +
          perm + ", in: x}\n");
    } catch (const ConfigError& error) {
      return error.diagnostics().front().message;
    }
    return "";
  };
  EXPECT_EQ(problem("[2, 0, 1]"), "");
  for (const char* const perm :
       {"[1000000, 0, 1]", "[1, 1, 0]", "[0, 1]", "[0, 1, 2, 3]", "[3, 1, 2]"}) {
    EXPECT_NE(problem(perm).find("'perm' names each axis of"), std::string::npos) << perm;
  }
}

// Each node reads and writes a tensor of the largest size, 2^53 bits.
TEST(NetworkGraph, MovesAtMostTwoToThe56Bits) {
  const std::string four =
      "name: g\ninputs: {x: {shape: [1073741824, 1048576]}}\ngraph:\n"
      "  - {name: a, op: Relu, in: x}\n  - {name: b, op: Relu, in: a}\n"
      "  - {name: c, op: Relu, in: b}\n  - {name: d, op: Relu, in: c}\n";
  const Network most = read(four);
  Bits moved{0};
  for (const GraphNode& node : most.graph->nodes) {
    moved += node.reads + node.writes;
  }
  EXPECT_EQ(moved, Bits{std::int64_t{1} << 56});
  const std::string small = "  - {name: e, op: Relu, in: y}\n";
  EXPECT_THROW(read(four.substr(0, 17) + "y: {shape: [1]}, " + four.substr(17) + small),
               ConfigError);
}

TEST(NetworkGraph, SurvivesDamagedFiles) {
  expect_survival(
      "name: g\ninputs: {x: {shape: [1, 4]}}\ngraph:\n"
      "  - {name: b, repeat: 2, carry: {y: x}, out: a, graph: [{name: a, op: Relu, in: y}]}\n",
      read);
}

// Every shipped graph that a list of nodes can say, written and read back: print_graph() compares.
TEST(Graph, IsWrittenAsItIsRead) {
  const std::string folder = source_path("configs/networks/graphs/");
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    const Network network = load_network(entry.path().string(), {source_path("configs")});
    const PrintedGraph printed = print_graph(network.name, *network.graph);
    if (entry.path().stem() == "lstm_ptb") {
      EXPECT_THAT(printed.why, ::testing::HasSubstr("is several layers")) << entry.path();
      continue;
    }
    EXPECT_EQ(printed.why, "") << entry.path();
    const Network again = read(printed.text);
    EXPECT_EQ(again.macs(), network.macs());
    EXPECT_EQ(again.graph->nodes.size(), network.graph->nodes.size());
    EXPECT_EQ(again.graph->outputs.size(), network.graph->outputs.size());
  }
}

}  // namespace
}  // namespace mapsim::graph_test
