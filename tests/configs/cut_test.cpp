// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/graph_chain.hpp"
#include "workloads/network.hpp"

namespace mapsim::cut_test {
namespace {

const std::string kShipped = source_path("configs/");

EinsumChain cut_out(const std::string& network, const std::vector<std::string>& names) {
  const NetworkGraph graph = *load_network(kShipped + "networks/graphs/" + network + ".yaml").graph;
  std::vector<std::size_t> nodes;
  for (const std::string& name : names) {
    nodes.push_back(graph.find_node(name).value());
  }
  return std::get<GraphCut>(cut_chain(graph, nodes)).chain;
}

TreeCost cost_of(const EinsumChain& chain, const std::string& tree) {
  const Arch arch = load_arch(kShipped + "arch/teaching.yaml");
  return std::get<TreeCost>(evaluate_tree(arch, chain, parse_tree(tree, "tree.yaml", arch, chain)));
}

// `t0` and `t1` between c1, c2 and c3, whatever these are called.
std::string bottleneck_tree(const std::string& t0, const std::string& t1, const std::string& c1,
                            const std::string& c2, const std::string& c3) {
  return fmt::format(
      "mapping:\n  - keep Buffer: [{}]\n  - for {}.P: 1\n  - keep Buffer: [{}]\n  - sequence:\n"
      "      - {}: [for P: 1, for K: 4, for Q: 2, keep Registers: [O], for C: 1, for K: 1, for Q: "
      "1]\n"
      "      - {}: [for K: 4, for Q: 2, keep Registers: [O], for C: 1, for R: 1, for S: 1, for K: "
      "1, for Q: 1]\n"
      "      - {}: [for K: 4, for Q: 2, keep Registers: [O], for C: 1, for K: 1, for Q: 1]\n",
      t0, c3, t1, c1, c2, c3);
}

// The chain of a residual block costs what the one that was written by hand costs.
TEST(CutChains, OfABottleneckCostAsMuchAsByHand) {
  const EinsumChain cut =
      cut_out("resnet50", {"conv2.1.a", "conv2.1.b", "conv2.1.c", "conv2.1.sum"});
  const EinsumChain hand = load_chain(kShipped + "chains/resnet50_conv2_block.yaml");
  const TreeCost one = cost_of(
      cut, bottleneck_tree("conv2_1_a", "conv2_1_b", "conv2_1_a", "conv2_1_b", "conv2_1_c"));
  const TreeCost other = cost_of(hand, bottleneck_tree("t0", "t1", "c1", "c2", "c3"));
  ASSERT_EQ(one.einsums.size(), other.einsums.size());
  for (std::size_t e = 0; e < one.einsums.size(); ++e) {
    EXPECT_EQ(one.einsums[e].energy.total.count(), other.einsums[e].energy.total.count());
  }
}

// Attention with an exact softmax, 16 queries of a head at a time: no score leaves the chip.
TEST(CutChains, OfAttentionKeepTheScoresOnChip) {
  const EinsumChain cut =
      cut_out("bert_base_128", {"layer.1.scores", "layer.1.softmax", "layer.1.context"});
  std::string keeps;
  for (const Intermediate& t : cut.intermediates) {
    keeps += (keeps.empty() ? "" : ", ") + t.name;
  }
  const std::string rows = "[for d1: 1, for d2: 1]\n";
  const std::string product = "[for M: 1, for N: 1, for K: 1]\n";
  const std::string sequence =
      "  - sequence:\n      - layer_1_scores: " + product + "      - layer_1_softmax_max: " + rows +
      "      - layer_1_softmax_exp: " + rows + "      - layer_1_softmax_sum: " + rows +
      "      - layer_1_softmax: " + rows + "      - layer_1_context: " + product;
  const std::string loops = "  - for layer_1_context.H: 1\n  - for layer_1_context.M: 16\n";
  const TreeCost fused =
      cost_of(cut, "mapping:\n" + loops + "  - keep Buffer: [" + keeps + "]\n" + sequence);
  const TreeCost spilled = cost_of(cut, "mapping:\n" + loops + sequence);
  double on_chip = 0, off_chip = 0;
  for (std::size_t e = 0; e < 6; ++e) {
    on_chip += fused.einsums[e].energy.total.count();
    off_chip += spilled.einsums[e].energy.total.count();
  }
  EXPECT_LT(on_chip, off_chip);
  for (const std::size_t e : {1, 2, 3, 4}) {  // of the softmax nothing touches the DRAM
    for (const TensorId t : cut.einsums[e].tensors.ids()) {
      EXPECT_EQ(fused.counts.einsums[e].levels[LevelId{0}][t].total.reads, 0);
      EXPECT_EQ(fused.counts.einsums[e].levels[LevelId{0}][t].total.updates, 0);
    }
  }
}

}  // namespace
}  // namespace mapsim::cut_test
