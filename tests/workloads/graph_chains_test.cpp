// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_chains.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/build_paths.hpp"
#include "workloads/network.hpp"

namespace mapsim::graph_chains_test {
namespace {

using ::testing::ElementsAre;

// "first .. last x2: 3": name, how often, einsums.
std::vector<std::string> texts_of(const GraphChains& graph) {
  std::vector<std::string> texts;
  for (const NetworkChain& chain : graph.chains) {
    texts.push_back(
        fmt::format("{} x{}: {}", chain.chain.name, chain.count, chain.chain.einsums.size()));
  }
  return texts;
}

std::vector<std::string> names_of(const NetworkGraph& graph,
                                  const std::vector<std::size_t>& nodes) {
  std::vector<std::string> names;
  for (const std::size_t n : nodes) {
    names.push_back(graph.nodes[n].name);
  }
  return names;
}

NetworkGraph toy_graph(const std::string& nodes) {
  return *parse_network("name: g\ninputs: {x: {shape: [1, 8, 6, 6]}}\ngraph:\n" + nodes, "g.yaml")
              .graph;
}

const std::string kConv = "conv2d: {out_channels: 8, kernel: 1}";

// "sum: 2304 b": node, what it reads beside what it rides on.
std::vector<std::string> rides_of(const NetworkGraph& graph, const GraphChains& chains) {
  std::vector<std::string> texts;
  for (const GraphRide& ride : chains.rides) {
    texts.push_back(fmt::format("{}: {} b", graph.nodes[ride.node].name, ride.reads.count()));
  }
  return texts;
}

// The sum ends the first two chains and rides on the first; the pointwise node rides, too. Without
// fusion it is a stream, which the second chain does not have, so they are not alike.
TEST(ChainsOfGraphs, GoOnWithTheOnlyReader) {
  const NetworkGraph graph =
      toy_graph("  - {name: a, " + kConv + ", in: x}\n  - {name: b, op: Relu, in: a}\n" +
                "  - {name: c, " + kConv + ", in: b}\n  - {name: d, " + kConv + ", in: x}\n" +
                "  - {name: e, " + kConv + ", in: d}\n  - {name: sum, op: Add, in: [c, e]}\n" +
                "  - {name: f, " + kConv + ", in: sum}\n");
  const GraphChains chains = chains_of(graph);
  EXPECT_THAT(texts_of(chains), ElementsAre("a .. sum x1: 2", "d .. e x1: 2", "f x1: 1"));
  EXPECT_THAT(chains.chains[0].unfused.streams,
              ElementsAre(UnfusedNodes::Crossing{Bits{2304}, Bits{2304}}));
  EXPECT_THAT(chains.chains[1].unfused.streams, ElementsAre());
  EXPECT_EQ(chains.chains[1].unfused.layers.size(), 2U);
  EXPECT_THAT(rides_of(graph, chains), ElementsAre("sum: 2304 b"));  // 8 x 6 x 6 elements of 8 b
  EXPECT_THAT(names_of(graph, chains.streams), ElementsAre());
}

// An operand may be repeated along the other one, and activations may follow.
TEST(ChainsOfGraphs, LetSumsAndProductsRide) {
  const NetworkGraph graph =
      toy_graph("  - {name: pool, op: GlobalAveragePool, in: x}\n  - {name: scale, " + kConv +
                ", in: pool}\n  - {name: a, " + kConv + ", in: x}\n" +
                "  - {name: b, op: Mul, in: [a, scale]}\n  - {name: c, op: Relu, in: b}\n" +
                "  - {name: d, op: Add, in: [x, c]}\n  - {name: e, op: Add, in: [d, x]}\n");
  const GraphChains chains = chains_of(graph);
  EXPECT_THAT(texts_of(chains), ElementsAre("scale x1: 1", "a .. e x1: 1"));
  EXPECT_THAT(rides_of(graph, chains), ElementsAre("b: 64 b", "d: 2304 b", "e: 2304 b"));
  EXPECT_THAT(names_of(graph, chains.streams), ElementsAre("pool"));
}

// A square takes the tensor twice; a wider sum, and what is repeated along the other operand, is
// not what the einsum makes; what leaves the network is written.
TEST(ChainsOfGraphs, LetNothingElseRide) {
  const auto streams = [](const std::string& nodes) {
    const NetworkGraph graph = toy_graph("  - {name: a, " + kConv + ", in: x}\n" + nodes);
    EXPECT_TRUE(chains_of(graph).rides.empty()) << nodes;
    return names_of(graph, chains_of(graph).streams);
  };
  EXPECT_THAT(streams("  - {name: b, op: Mul, in: [a, a]}\n"), ElementsAre("b"));
  EXPECT_THAT(streams("  - {name: b, op: Add, in: [a, x]}\n  - {name: c, op: Add, in: [a, b]}\n"),
              ElementsAre("b", "c"));
  EXPECT_THAT(streams("  - {name: p, op: GlobalAveragePool, in: a}\n  - {name: s, " + kConv +
                      ", in: p}\n  - {name: b, op: Mul, in: [x, s]}\n"),
              ElementsAre("p", "b"));
}

// What two nodes read passes nothing on, and neither does what leaves the network.
TEST(ChainsOfGraphs, EndWhereSeveralRead) {
  const NetworkGraph graph =
      toy_graph("  - {name: a, " + kConv + ", in: x}\n  - {name: b, " + kConv +
                ", in: a}\n  - {name: c, op: MaxPool, kernel: 2, stride: 2, "
                "in: a}\n");
  const GraphChains chains = chains_of(graph);
  EXPECT_THAT(texts_of(chains), ElementsAre("a x2: 1"));
  EXPECT_THAT(names_of(graph, chains.streams), ElementsAre("c"));
}

TEST(ChainsOfGraphs, OfShippedNetworksHaveAllOperations) {
  const std::string folder = source_path("configs/networks/graphs/");
  for (const char* name : {"resnet50", "squeezenet", "mobilenet_v2"}) {
    const NetworkGraph graph = *load_network(folder + name + ".yaml").graph;
    std::int64_t macs = 0;
    for (const NetworkChain& chain : chains_of(graph).chains) {
      for (const Workload& einsum : chain.chain.einsums) {
        macs += chain.count * einsum.macs();
      }
    }
    EXPECT_GE(macs, graph.macs()) << name;  // producers make the padding of what reads them
    EXPECT_LE(static_cast<double>(macs), 1.15 * static_cast<double>(graph.macs())) << name;
  }
  EXPECT_THAT(texts_of(chains_of(*load_network(folder + "bert_base_128.yaml").graph)),
              ElementsAre("layer.1.q x48: 1", "layer.1.scores .. layer.1.context x12: 6",
                          "layer.1.up .. layer.1.sum2 x12: 2", "pooler x1: 1"));
}

}  // namespace
}  // namespace mapsim::graph_chains_test
