// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/document.hpp"
#include "core/rng.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::yaml_test {
namespace {

std::string at(const Node& node) { return fmt::format("{}:{}", node.line, node.column); }

std::string yaml_error(const std::string& text) {
  return error_text([&] { parse_yaml(text, "f.yaml"); });
}

TEST(ParseYaml, KnowsWhereEveryValueStands) {
  const Document document = parse_yaml("a: 1\nb:\n  - x\n  - {c: 'q', d: [2]}\n", "f.yaml");
  const Node& root = document.root;
  ASSERT_EQ(root.entries.size(), 2U);
  EXPECT_EQ(at(root.entries[0].key), "1:1");
  EXPECT_EQ(at(root.entries[0].value), "1:4");
  const Node& list = root.entries[1].value;
  EXPECT_EQ(at(list), "3:3");
  EXPECT_EQ(at(list.items[0]), "3:5");
  EXPECT_EQ(at(list.items[1]), "4:5");
  const Node& quoted = list.items[1].entries[0].value;
  EXPECT_EQ(at(quoted), "4:9");
  EXPECT_EQ(quoted.text, "q");
  EXPECT_FALSE(quoted.plain);
  EXPECT_TRUE(list.items[0].plain);
  EXPECT_EQ(path_of(document, list.items[1].entries[1].value.items[0]), "b[1].d[0]");
  EXPECT_EQ(path_of(document, list.items[1].entries[1].key), "b[1]");
}

TEST(ParseYaml, FindsEmptyValuesAtTheirKeys) {
  const Document document = parse_yaml("a:\n\n\nb: ~\nc: [1, ]\nd: \"\"\n", "f.yaml");
  const auto& entries = document.root.entries;
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].value.kind, Node::Kind::kNull);
  EXPECT_EQ(at(entries[0].value), "1:1");
  EXPECT_EQ(entries[1].value.kind, Node::Kind::kNull);
  EXPECT_EQ(at(entries[1].value), "4:4");
  EXPECT_EQ(entries[2].value.items.size(), 1U);
  EXPECT_EQ(entries[3].value.kind, Node::Kind::kScalar);
}

TEST(ParseYaml, CopiesWhatAnAliasStandsFor) {
  const Document document = parse_yaml("a: &x {b: 1}\nc: *x\n", "f.yaml");
  const Node& alias = document.root.entries[1].value;
  ASSERT_EQ(alias.kind, Node::Kind::kMap);
  EXPECT_EQ(alias.entries[0].value.text, "1");
  EXPECT_EQ(at(alias), "1:4");
  EXPECT_EQ(path_of(document, alias.entries[0].value), "c.b");
}

TEST(ParseYaml, TakesCarriageReturnsByteOrderMarksAndDirectives) {
  for (const char* text : {"a: 1\r\nb: 2\r\n",
                           "\xEF\xBB\xBF"
                           "a: 1\nb: 2\n",
                           "%YAML 1.2\n---\na: 1\nb: 2\n...\n"}) {
    const Document document = parse_yaml(text, "f.yaml");
    ASSERT_EQ(document.root.entries.size(), 2U) << text;
    EXPECT_EQ(document.root.entries[1].value.text, "2") << text;
    EXPECT_EQ(document.root.entries[1].value.column, 4) << text;
  }
}

TEST(ParseYaml, TellsWhatIsNoDocument) {
  expect_errors("core/bad_yaml.txt", 16,
                [](const std::string& text) { parse_yaml(text, "f.yaml"); });
}

TEST(ParseYaml, TellsWhatIsNoText) {
  EXPECT_EQ(yaml_error(""), "f.yaml: the file is empty");
  EXPECT_EQ(yaml_error("# c\ra: 1\r"),
            "f.yaml: lines end in carriage returns alone; end them in line feeds");
  EXPECT_EQ(yaml_error(std::string{"a: 1\nb\0c", 8}),
            "f.yaml:2:2: byte 0x00 is not UTF-8 text; is this a binary file?");
  EXPECT_EQ(yaml_error("\xFF\xFE"
                       "a"),
            "f.yaml:1:1: byte 0xFF is not UTF-8 text; is this a binary file?");
  EXPECT_EQ(yaml_error("a: \xC3"),
            "f.yaml:1:4: byte 0xC3 is not UTF-8 text; is this a binary file?");
  EXPECT_EQ(yaml_error("a: \x1B[0m"),
            "f.yaml:1:4: byte 0x1B is not UTF-8 text; is this a binary file?");
  EXPECT_EQ(yaml_error("a: \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80\n"), "");
}

TEST(ParseYaml, PutsTheCaretUnderWideCharactersAndTabs) {
  EXPECT_EQ(yaml_error("\xC3\xA4\xC3\xB6:\t@x"),
            "f.yaml:1:7: not valid YAML: unknown token\n\xC3\xA4\xC3\xB6:\t@x\n   \t^");
}

TEST(ParseYaml, RefusesWhatWouldExhaustTheMachine) {
  EXPECT_EQ(yaml_error(std::string(kMaxFileBytes + 1, ' ')), "f.yaml: larger than 4 MiB");
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    laughs +=
        fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(yaml_error(laughs), testing::HasSubstr("more than 256 MiB of values"));
}

// Whatever the bytes: a document or an error.
TEST(ParseYaml, SurvivesAnyText) {
  for (const std::string part :
       {"[", "{", "- ",    "? ",   "a: ", "\"", "'",    "&a ", "*a ", "!",  "|\n",
        "]", "%", "---\n", "<<: ", "\t",  "#",  "a:\n", "[{",  ",",   "\\", "> \n"}) {
    std::string text;
    while (text.size() < 100'000) {
      text += part;
    }
    yaml_error(text);
  }
  Rng rng{3};
  const std::string alphabet = "ab01 :-[]{},\n\n  \"'&*!|>#?%@`~\t<";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t length = rng.below(60); length > 0; --length) {
      text += alphabet[rng.below(alphabet.size())];
    }
    yaml_error(text);
  }
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (std::uint64_t length = rng.below(60); length > 0; --length) {
      text += static_cast<char>(rng.below(256));
    }
    yaml_error(text);
  }
}

TEST(ReadYaml, TellsWhatCannotBeRead) {
  EXPECT_EQ(error_text([] { read_yaml("/"); }), "/: is a directory, not a file");
  EXPECT_EQ(error_text([] { read_yaml("no/such.yaml"); }),
            "no/such.yaml: cannot be opened: No such file or directory");
  EXPECT_EQ(error_text([] { read_yaml("/dev/zero"); }), "/dev/zero: larger than 4 MiB");
  EXPECT_EQ(error_text([] { read_yaml("/dev/null"); }), "/dev/null: the file is empty");
}

TEST(ReadYaml, TakesNoMoreMemoryThanTheFile) {
  const std::string path = ::testing::TempDir() + "small.yaml";
  std::ofstream{path} << "a: 1\n";
  EXPECT_LT(read_yaml(path).text.capacity(), kMaxFileBytes / 16);
  const std::string large = "a: " + std::string(100'000, 'x') + "\n";
  std::ofstream{path} << large;
  EXPECT_EQ(read_yaml(path).text, large);
  std::filesystem::remove(path);
}

TEST(ReadYaml, ReadsAFile) {
  const std::filesystem::path path = std::filesystem::path{testing::TempDir()} / "read_yaml.yaml";
  std::ofstream{path} << "a: 1\n";
  EXPECT_EQ(read_yaml(path.string()).root.entries[0].value.text, "1");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mapsim::yaml_test
