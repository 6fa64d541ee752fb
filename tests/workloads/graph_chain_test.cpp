// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_chain.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/build_paths.hpp"
#include "workloads/network.hpp"
#include "workloads/print.hpp"

namespace mapsim::graph_chain_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kConfigs = source_path("configs/");

NetworkGraph shipped(const std::string& name) {
  return *load_network(kConfigs + "networks/graphs/" + name + ".yaml").graph;
}

NetworkGraph graph_of(const std::string& text) { return *parse_network(text, "g.yaml").graph; }

std::vector<std::size_t> named(const NetworkGraph& graph, const std::vector<std::string>& names) {
  std::vector<std::size_t> nodes;
  for (const std::string& name : names) {
    nodes.push_back(graph.find_node(name).value());
  }
  return nodes;
}

GraphCut cut(const NetworkGraph& graph, const std::vector<std::string>& names) {
  return std::get<GraphCut>(cut_chain(graph, named(graph, names)));
}

std::string problem(const NetworkGraph& graph, const std::vector<std::string>& names) {
  const auto result = cut_chain(graph, named(graph, names));
  const auto* problems = std::get_if<std::vector<CutProblem>>(&result);
  return problems == nullptr
             ? "none"
             : fmt::format("{}: {}", problems->front().node, problems->front().what);
}

// What comes out reads back: every invariant of a loaded chain holds.
void expect_reads_back(const EinsumChain& chain) {
  const EinsumChain back = parse_chain(print_chain(chain), "chain.yaml");
  EXPECT_EQ(back.names, chain.names);
  EXPECT_EQ(back.intermediates, chain.intermediates);
  ASSERT_EQ(back.einsums.size(), chain.einsums.size());
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    EXPECT_EQ(back.einsums[e].equation(), chain.einsums[e].equation());
    EXPECT_EQ(back.einsums[e].dims, chain.einsums[e].dims);
  }
}

// The same einsums as the chain that was written by hand: the first makes the padding of the
// second.
TEST(CutChain, CutsABottleneckOut) {
  const NetworkGraph graph = shipped("resnet50");
  const GraphCut block = cut(graph, {"conv2.1.a", "conv2.1.b", "conv2.1.c", "conv2.1.sum"});
  const EinsumChain hand = load_chain(kConfigs + "chains/resnet50_conv2_block.yaml");
  ASSERT_EQ(block.chain.einsums.size(), 3U);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_EQ(block.chain.einsums[e].dims, hand.einsums[e].dims);
    EXPECT_EQ(block.chain.einsums[e].equation(), hand.einsums[e].equation());
    EXPECT_EQ(block.chain.intermediates.size(), hand.intermediates.size());
  }
  EXPECT_THAT(block.rides, ElementsAre(std::pair{"conv2_1_c", "conv2.1.sum"}));
  EXPECT_THAT(block.notes,
              ElementsAre("conv2.1.sum rides on conv2_1_c: reading its other operand conv2_1_sum "
                          "(802816 elements) is not counted",
                          "padding between einsums is made: 3735552 more MACs (1.7 %)"));
  EXPECT_EQ(block.chain.names[0][TensorId{0}], "conv2_1_sum");
  expect_reads_back(block.chain);
}

// Two operands of the sum are made inside: it is an einsum of its own.
TEST(CutChain, MakesASumOfTwoBranchesAnEinsum) {
  const GraphCut block = cut(shipped("resnet50"), {"conv2_1_a", "conv2_1_b", "conv2_1_c",
                                                   "conv2_1_projection", "conv2_1_sum"});
  ASSERT_EQ(block.chain.einsums.size(), 5U);
  const Workload& sum = block.chain.einsums[4];
  EXPECT_EQ(sum.equation(), "Z[d0][d1][d2][d3] += A[d0][d1][d2][d3] * B[d0][d1][d2][d3]");
  EXPECT_EQ(block.chain.intermediates.size(), 4U);
  expect_reads_back(block.chain);
}

TEST(CutChain, MakesAnExactSoftmaxOfFourEinsums) {
  const GraphCut attention =
      cut(shipped("bert_base_128"), {"layer.1.scores", "layer.1.softmax", "layer.1.context"});
  std::vector<std::string> equations;
  for (const Workload& einsum : attention.chain.einsums) {
    equations.push_back(einsum.equation());
  }
  EXPECT_THAT(
      equations,
      ElementsAre("Z[H][M][N] += A[H][M][K] * B[H][K][N]", "Z[d0][d1] += A[d0][d1][d2]",
                  "Z[d0][d1][d2] += A[d0][d1][d2] * B[d0][d1]", "Z[d0][d1] += A[d0][d1][d2]",
                  "Z[d0][d1][d2] += A[d0][d1][d2] * B[d0][d1]",
                  "Z[H][M][N] += A[H][M][K] * B[H][K][N]"));
  ASSERT_EQ(attention.chain.intermediates.size(), 5U);
  EXPECT_EQ(attention.chain.intermediates[0].name, "layer_1_scores");
  EXPECT_EQ(attention.chain.intermediates[0].readers.size(), 2U);  // maximum and exponentials
  EXPECT_EQ(attention.chain.intermediates[2].readers.size(), 2U);  // sum and quotients
  expect_reads_back(attention.chain);
}

// Activations and views vanish, a last row that a stride leaves over is made.
TEST(CutChain, LetsActivationsRideAndAliasesVanish) {
  const NetworkGraph graph = graph_of(
      "name: g\ninputs: {x: {shape: [1, 4, 8, 8]}}\ngraph:\n"
      "  - {name: c1, conv2d: {out_channels: 6, kernel: 1}, in: x}\n"
      "  - {name: r1, op: Relu, in: c1}\n"
      "  - {name: s1, op: Sigmoid, in: r1}\n"
      "  - {name: v1, op: Identity, in: s1}\n"
      "  - {name: c2, conv2d: {out_channels: 6, kernel: 1, stride: 2, groups: 6}, in: v1}\n");
  const GraphCut both = cut(graph, {"c1", "r1", "s1", "v1", "c2"});
  ASSERT_EQ(both.chain.einsums.size(), 2U);
  EXPECT_EQ(both.rides.size(), 2U);
  EXPECT_TRUE(both.notes.empty());
  EXPECT_EQ(both.chain.einsums[0].macs(), 6 * 4 * 64);
  EXPECT_EQ(both.chain.intermediates[0].name, "v1");
  expect_reads_back(both.chain);
}

TEST(CutChain, NamesWhatAChainCannotHold) {
  const NetworkGraph resnet = shipped("resnet50");
  EXPECT_EQ(problem(resnet, {"conv1", "pool1"}), "pool1: MaxPool (pool) is no einsum of a chain");
  EXPECT_THAT(
      problem(resnet, {"conv2_1_a", "conv2_1_c"}),
      HasSubstr("conv2_1_c: reads conv2_1_b, which depends on the chain but is made outside it"));
  EXPECT_THAT(problem(resnet, {"conv2_1_a", "conv3_1_a"}),
              HasSubstr("which depends on the chain but is made outside it"));
  EXPECT_THAT(problem(resnet, {"conv2_1_b", "conv2_1_projection"}),
              HasSubstr("nothing that is cut connects it with conv2_1_b"));
  EXPECT_THAT(problem(resnet, {"conv2_1_sum", "conv2.1.a"}), HasSubstr("read inside and outside"));
  EXPECT_THAT(problem(resnet, {"conv2_1_c", "conv2_1_projection", "conv2_1_sum", "conv2.1.a",
                               "conv2.1.b", "conv2.1.c", "conv2.1.sum"}),
              HasSubstr("in rank 3: a chain has no tensor that is read with and without padding"));
  const NetworkGraph bert = shipped("bert_base_128");
  EXPECT_THAT(problem(bert, {"layer.1.q", "layer.1.q_heads", "layer.1.q_rows", "layer.1.scores"}),
              HasSubstr("layer.1.q_heads: Reshape of 128x768 to 128x12x64 splits, joins or turns"));
  EXPECT_EQ(problem(bert, {"layer.1.down", "layer.1.sum2", "layer.1.norm2"}),
            "layer.1.norm2: LayerNormalization (norm) is no einsum of a chain");
  EXPECT_THAT(problem(shipped("lstm_ptb"), {"lstm1"}), HasSubstr("is several einsums"));
  EXPECT_THAT(problem(resnet, {"flat"}), HasSubstr("nothing of what is cut is an einsum"));
}

}  // namespace
}  // namespace mapsim::graph_chain_test
