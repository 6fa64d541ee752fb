// SPDX-License-Identifier: Apache-2.0
#include "plan/groups.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/support/build_paths.hpp"

namespace mapsim::groups_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Network network(const std::string& nodes, const std::string& outputs = "") {
  return parse_network(
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 16, 8, 8]}}\ngraph:\n" +
          nodes + outputs,
      "n.yaml");
}

std::string names(const Operations& operations, const Group& group) {
  std::string text;
  for (const std::size_t i : group.operations) {
    text += (text.empty() ? "" : "+") + operations.node(i).name;
  }
  return text;
}

// The groups of several operations, and those that are elided.
std::set<std::string> fused(const Network& of, Fusion fusion = Fusion::kElision) {
  const Operations operations = operations_of(*of.graph);
  std::set<std::string> all;
  for (const Group& group : groups_of(operations, fusion).all) {
    if (group.operations.size() > 1 || group.elided) {
      all.insert(names(operations, group) + (group.elided ? " elided" : ""));
    }
  }
  return all;
}

std::vector<std::string> obstacles(const Network& of, const std::string& node) {
  const Operations operations = operations_of(*of.graph);
  std::vector<std::string> all;
  for (const FusionObstacle& each : groups_of(operations, Fusion::kElision).obstacles) {
    if (operations.node(each.operation).name == node) {
      all.push_back(each.what);
    }
  }
  return all;
}

Group group_of(const Network& of, const std::string& name) {
  const Operations operations = operations_of(*of.graph);
  for (const Group& group : groups_of(operations, Fusion::kElision).all) {
    if (names(operations, group) == name && !group.elided) {
      return group;
    }
  }
  ADD_FAILURE() << "no group " << name;
  return {};
}

const std::string kResidual =
    "  - {name: a, conv2d: {out_channels: 16, kernel: 1}, in: x}\n"
    "  - {name: b, conv2d: {out_channels: 16, kernel: 1}, in: a}\n"
    "  - {name: sum, op: Add, in: [b, a], epilogue: [relu]}\n"
    "  - {name: c, conv2d: {out_channels: 16, kernel: 1}, in: sum}\n";

TEST(Groups, AddAResidualInItsOnlyReadersProducer) {
  const Network of = network(kResidual);
  EXPECT_THAT(fused(of), ElementsAre("b+sum"));
  const Group group = group_of(of, "b+sum");
  EXPECT_TRUE(group.adds_tensor);
  EXPECT_EQ(group.reads.size(), 1U);  // a, which b reads and the sum adds
  EXPECT_EQ(group.anchor, 2U);
  EXPECT_THAT(obstacles(of, "a"),
              ElementsAre("no operator is fused to its output: 2 operations read a"));
}

TEST(Groups, AreSinglesWithoutFusion) {
  const Network of = network(kResidual);
  EXPECT_THAT(fused(of, Fusion::kNone), IsEmpty());
  const Operations operations = operations_of(*of.graph);
  const Groups groups = groups_of(operations, Fusion::kNone);
  EXPECT_EQ(groups.all[2].epilogue, Bits{16 * 8 * 8 * 8});
  EXPECT_EQ(groups_of(operations, Fusion::kVertical).all[2].epilogue, Bits{0});
}

TEST(Groups, LeaveWhatTheNetworkGivesInMemory) {
  const Network of = network(kResidual, "outputs: [b, c]\n");
  EXPECT_THAT(fused(of), IsEmpty());
}

TEST(Groups, AreChainsOfOperatorsByRow) {
  const Network of = network(
      "  - {name: r, op: Relu, in: x}\n"
      "  - {name: s, op: Sigmoid, in: r}\n"
      "  - {name: t, op: Softmax, in: s}\n"
      "  - {name: p, op: MaxPool, kernel: 2, in: t}\n");
  EXPECT_THAT(fused(of), ElementsAre("r+s", "r+s+t", "s+t"));
  const Group group = group_of(of, "r+s+t");
  EXPECT_EQ(group.stream.in, Bits{16 * 8 * 8 * 8});
  EXPECT_EQ(group.stream.out, Bits{16 * 8 * 8 * 8});
}

const std::string kSiblings =
    "  - {name: a, conv2d: {out_channels: 16, kernel: 1}, in: x, epilogue: [relu]}\n"
    "  - {name: b, conv2d: {out_channels: 32, kernel: 1}, in: x, epilogue: [relu]}\n"
    "  - {name: c, conv2d: {out_channels: 16, kernel: 3, padding: 1}, in: x, epilogue: [relu]}\n"
    "  - {name: d, conv2d: {out_channels: 8, kernel: 1}, in: x, epilogue: [relu]}\n"
    "  - {name: e, conv2d: {out_channels: 8, kernel: 1}, in: x}\n";

TEST(Groups, MergeSiblingsOfOneKernelAndEpilogue) {
  const Network of = network("  - {name: r, op: Relu, in: x}\n" + [] {
    std::string text = kSiblings;
    for (std::size_t at = 0; (at = text.find("in: x", at)) != std::string::npos; ++at) {
      text[at + 4] = 'r';
    }
    return text;
  }());
  EXPECT_THAT(fused(of), ElementsAre("a+b", "a+b+d", "a+d", "b+d"));
  const Group group = group_of(of, "a+b+d");
  const Workload& workload = group.layers.front().workload;
  EXPECT_EQ(workload.dims[*workload.find_dim("K")].bound, 16 + 32 + 8);
  EXPECT_EQ(group.anchor, 1U);
  EXPECT_EQ(group.writes.size(), 3U);
  EXPECT_THAT(obstacles(of, "c"), Contains(HasSubstr("another kernel, stride, padding or width")));
  EXPECT_THAT(obstacles(of, "e"), Contains(HasSubstr("another epilogue")));
}

TEST(Groups, MergeSiblingsThatReadAnInputOfTheNetwork) {
  const Network of = network(kSiblings);
  EXPECT_THAT(fused(of), ElementsAre("a+b", "a+b+d", "a+d", "b+d"));
  const Group group = group_of(of, "a+d");
  EXPECT_THAT(group.reason, HasSubstr("the same kernel on the same input, x"));
  EXPECT_THAT(group.reads, IsEmpty());  // every engine has it
  EXPECT_EQ(group.anchor, 0U);
  EXPECT_THAT(obstacles(of, "c"), Contains(HasSubstr("another kernel, stride, padding or width")));
  EXPECT_THAT(obstacles(of, "e"), Contains(HasSubstr("another epilogue")));
}

TEST(Groups, ElideConcatsOfWhatIsMadeForThem) {
  const Network of = network(
      "  - {name: a, conv2d: {out_channels: 16, kernel: 1}, in: x}\n"
      "  - {name: b, op: Relu, in: x}\n"
      "  - {name: ab, op: Concat, in: [a, b]}\n"
      "  - {name: ba, op: Concat, in: [b, a]}\n"
      "  - {name: ax, op: Concat, in: [a, x]}\n");
  EXPECT_THAT(fused(of), ElementsAre("ab elided"));
  EXPECT_THAT(obstacles(of, "ba"),
              ElementsAre("it copies its operands: b is part of another concat already"));
  EXPECT_THAT(obstacles(of, "ax"), ElementsAre("it copies its operands: one of them twice, a "
                                               "constant, or an input of the network"));
}

TEST(Operations, SeeThroughAliases) {
  const Network of = network(
      "  - {name: a, conv2d: {out_channels: 16, kernel: 1}, in: x}\n"
      "  - {name: flat, op: Flatten, in: a}\n"
      "  - {name: r, op: Relu, in: flat}\n");
  const Operations operations = operations_of(*of.graph);
  ASSERT_EQ(operations.all.size(), 2U);
  EXPECT_EQ(operations.all[1].in, operations.all[0].out);
  EXPECT_THAT(fused(of), ElementsAre("a+r"));
}

// A key behind those of a cache, where it lies: the scores wait for the key, and with softmax and
// the next product they are one kernel.
TEST(Operations, WaitForAllPartsOfAConcatThatMovesNothing) {
  const Network of = load_network(source_path("configs/networks/graphs/llama3_8b_decoder.yaml"));
  const Operations operations = operations_of(*of.graph);
  const auto index_of = [&](const std::string& name) {
    std::size_t i = 0;
    while (operations.node(i).name != name) {
      ++i;
    }
    return i;
  };
  const auto read_by = [&](const std::string& name) {
    return operations.readers[operations.all[index_of(name)].out.front()];
  };
  EXPECT_THAT(read_by("q_turned"), ElementsAre(index_of("scores")));
  EXPECT_THAT(read_by("k_turned"), ElementsAre(index_of("scores")));
  EXPECT_THAT(read_by("v"), ElementsAre(index_of("context")));
  EXPECT_TRUE(operations.is_output[operations.all[index_of("k_turned")].out.front()]);
  EXPECT_EQ(group_of(of, "scores+softmax+context").kernel, GroupKernel::kAttention);
}

TEST(Operations, GrowWithTheWidthOfOperands) {
  Network of = network(kResidual);
  set_width(*of.graph, Bits{16});
  const GraphNode& sum = of.graph->nodes[2];
  EXPECT_EQ(sum.writes, Bits{16 * 8 * 8 * 16});
  const Workload& layer = of.graph->nodes[0].layers.front().workload;
  EXPECT_EQ(layer.tensors[TensorId{0}].bits, Bits{16});
  EXPECT_EQ(layer.tensors[layer.output()].partial_bits, Bits{32});
  EXPECT_EQ(of.graph->tensors.back().bits, Bits{16});
}

}  // namespace
}  // namespace mapsim::groups_test
