// SPDX-License-Identifier: Apache-2.0
#include "interop/libconfig.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "core/diagnostic.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_import.hpp"

namespace mapsim::libconfig_test {
namespace {

using ::testing::HasSubstr;

const Node& value(const Node& node, const char* key) {
  const Node* found = value_of(node, key);
  EXPECT_NE(found, nullptr) << key;
  return found == nullptr ? node : *found;
}

TEST(Libconfig, IsTheTreeThatYamlWouldBe) {
  const Node root = parse_libconfig(
                        "# a comment\n"
                        "group : { number = 0x10; long = 12L, real = 1.5e-3; // another\n"
                        "  yes = true };\n"
                        "list = ( { a = \"one \" \"text\" }, 2 ); /* and\n"
                        "a third */ empty = [ ]; array = [ \"x\", \"y\\\"\" ]\n",
                        "d.cfg")
                        .root;
  EXPECT_EQ(value(value(root, "group"), "number").text, "0x10");
  EXPECT_EQ(value(value(root, "group"), "long").text, "12");
  EXPECT_EQ(value(value(root, "group"), "yes").line, 3);
  EXPECT_EQ(value(root, "list").items.at(0).entries.at(0).value.text, "one text");
  EXPECT_EQ(value(root, "list").items.at(1).text, "2");
  EXPECT_EQ(value(root, "empty").kind, Node::Kind::kSequence);
  EXPECT_EQ(value(root, "array").items.at(1).text, "y\"");
  EXPECT_EQ(value(root, "array").line, 5);
}

TEST(Libconfig, SaysWhereItIsWrong) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      parse_libconfig(text, "d.cfg");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint("a = 1;\nb 2;\n"), "d.cfg:2:3: expected '=' behind 'b'\nb 2;\n  ^");
  EXPECT_THAT(complaint("a = {\n b = 1;\n"), HasSubstr("the file ends before '}'"));
  EXPECT_THAT(complaint("a = ( 1, 2\n"), HasSubstr("the file ends before ')'"));
  EXPECT_THAT(complaint("a = \"x\n"), HasSubstr("the file ends inside of a text"));
  EXPECT_THAT(complaint("a = ;\n"), HasSubstr("d.cfg:1:5: expected a value"));
  EXPECT_THAT(complaint("@include \"b.cfg\"\n"), HasSubstr("put the files together"));
  EXPECT_THAT(complaint((std::string(100, '(').insert(0, "a = ")).c_str()),
              HasSubstr("too many lists"));
}

// The older form: a flat architecture, storages counted from the innermost one on.
TEST(Libconfig, IsImportedAsADesign) {
  const std::string path = ::testing::TempDir() + "mapsim_libconfig_test.cfg";
  std::ofstream{path}
      << "arch : { arithmetic : { instances = 4; word_bits = 8; meshX = 4; };\n"
         "  storage = ( { name = \"Regs\"; entries = 64; instances = 4; meshX = 4; word_bits = 8; "
         "},\n"
         "              { name = \"Off\"; technology = \"DRAM\"; instances = 1; word_bits = 8; } "
         "); "
         "};\n"
         "problem : { R = 1; S = 1; P = 2; Q = 1; C = 3; K = 4; N = 1; };\n"
         "mapping = ( { target = 0; type = \"temporal\"; factors = \"R1 S1 P2 Q1 C3 K1 N1\";\n"
         "              permutation = \"CPRSQKN\"; },\n"
         "            { target = 1; type = \"spatial\"; factors = \"R1 S1 P1 Q1 C1 K4 N1\";\n"
         "              permutation = \"KRSPQCN\"; split = 1; },\n"
         "            { target = 1; type = \"temporal\"; factors = \"R1 S1 P1 Q1 C1 K1 N1\";\n"
         "              permutation = \"KRSPQCN\"; } );\n";
  const TimeloopImport import = read_timeloop({path});
  EXPECT_EQ(import.design.machine.storages.size(), 2U);
  EXPECT_EQ(import.design.workload.macs(), 2 * 3 * 4);
  const Arch arch = to_arch(import.design.machine);
  EXPECT_EQ(arch.mac_units(), 4);
  const Mapping mapping = to_mapping(import.design);
  const auto loops =
      std::count_if(mapping.nodes.begin(), mapping.nodes.end(),
                    [](const MappingNode& node) { return std::holds_alternative<Temporal>(node); });
  EXPECT_EQ(loops, 2);  // C and P, at Regs
  EXPECT_TRUE(std::holds_alternative<Temporal>(mapping.nodes.back()));
}

}  // namespace
}  // namespace mapsim::libconfig_test
