// SPDX-License-Identifier: Apache-2.0
#include "core/substitute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mapsim::substitute_test {
namespace {

const std::string kMachine = R"(name: machine
clock: 1 GHz
nodes:
  - storage: DRAM
    capacity: unlimited
  - word: 8 b
    storage: GLB
    capacity: {input: 8 B, weight: 8 B}
    keep: [input, weight]
  - fanout: PEs
    x: {size: 14, dims: [P]}
)";

Node value(const std::string& text) { return parse_yaml("v: " + text, "").root.entries[0].value; }

// The machine with `path` set to `text`, in one line; or what is wrong with the path.
std::string with(const std::string& path, const std::string& text) {
  Node root = parse_yaml(kMachine, "machine.yaml").root;
  const auto problem = substitute(root, path, value(text));
  return problem ? *problem : flow_text(root);
}

TEST(Substitute, FindsValuesByKeyPositionAndName) {
  using testing::HasSubstr;
  EXPECT_THAT(with("clock", "2 GHz"), HasSubstr("name: machine, clock: 2 GHz, nodes"));
  EXPECT_THAT(with("nodes[0].capacity", "1 KiB"), HasSubstr("{storage: DRAM, capacity: 1 KiB}"));
  EXPECT_THAT(with("nodes.GLB.word", "16 b"), HasSubstr("{word: 16 b, storage: GLB,"));
  EXPECT_THAT(with("nodes.GLB.capacity.input", "9 B"), HasSubstr("{input: 9 B, weight: 8 B}"));
  EXPECT_THAT(with("nodes.GLB.keep[1]", "output"), HasSubstr("keep: [input, output]"));
  EXPECT_THAT(with("nodes.PEs.x.size", "16"), HasSubstr("x: {size: 16, dims: [P]}"));
  EXPECT_EQ(with("nodes[1].capacity.input", "9 B"), with("nodes.GLB.capacity.input", "9 B"));
}

TEST(Substitute, MayAddAKeyAndReplaceListsAndMaps) {
  using testing::HasSubstr;
  EXPECT_THAT(with("nodes.GLB.leakage", "5 mW"), HasSubstr("keep: [input, weight], leakage: 5 mW"));
  EXPECT_THAT(with("nodes.GLB.keep", "true"), HasSubstr("keep: true"));
  EXPECT_THAT(with("nodes.PEs.x", "{size: 3}"), HasSubstr("{fanout: PEs, x: {size: 3}}"));
}

TEST(Substitute, SaysWhereAPathLeadsNowhere) {
  EXPECT_EQ(with("nodes.GBL.word", "8 b"), "there is no 'GBL' in nodes; did you mean 'GLB'?");
  EXPECT_EQ(with("node.GLB.word", "8 b"), "there is no 'node' in the file; did you mean 'nodes'?");
  EXPECT_EQ(with("GLB.word", "8 b"), "there is no 'GLB' in the file; did you mean 'nodes.GLB'?");
  EXPECT_EQ(with("nodes[3].word", "8 b"), "nodes has no item 3; it has 3");
  EXPECT_EQ(with("nodes.PEs.x", "16"),
            "nodes.PEs.x is a map; name one of its keys (size, dims), or give a map");
  EXPECT_EQ(with("clock.fast", "16"),
            "clock is a value, '1 GHz', which has no 'fast'; set 'clock' itself");
  for (const char* path : {"", ".", "nodes.", "nodes..x", "[0]", "nodes[", "nodes[x]", "nodes[-1]",
                           "nodes[0]x", "nodes]0["}) {
    EXPECT_THAT(with(path, "1"), testing::StartsWith("not a path")) << path;
  }
}

TEST(Substitute, PutsTheValueAtThePlaceOfTheOldOne) {
  Document document = parse_yaml(kMachine, "machine.yaml");
  ASSERT_FALSE(substitute(document.root, "nodes.GLB.keep[1]", value("[a]")));
  const Node& changed = document.root.entries[2].value.items[1].entries[3].value.items[1];
  EXPECT_EQ(changed.line, 9);
  EXPECT_EQ(changed.column, 19);
  EXPECT_EQ(changed.items[0].line, 9);
}

TEST(FlowText, TellsDifferentValuesApart) {
  const std::vector<std::string> values{"12",         "\"12\"", "[12]",     "'[12]'", "a b",
                                        "[a b]",      "[a, b]", "\"a, b\"", "{a: b}", "[{a: b}]",
                                        "\"{a: b}\"", "~",      "\"\""};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(flow_text(value(values[i])), flow_text(value(values[j])));
    }
  }
  EXPECT_EQ(flow_text(value("[a,   'b'] # comment")), "[a, \"b\"]");
}

}  // namespace
}  // namespace mapsim::substitute_test
