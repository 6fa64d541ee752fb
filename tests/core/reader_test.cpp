// SPDX-License-Identifier: Apache-2.0
#include "core/reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/bad_inputs.hpp"

namespace mapsim::reader_test {
namespace {

TEST(Reader, ReadsTypedValues) {
  const Document document =
      parse_yaml("n: 12\nb: true\nname: a.b-1\nsize: \"64 KiB\"\nlist: [y, x]\n", "f.yaml");
  Reader reader{document};
  const Fields fields = reader.fields(reader.root(), {"n", "b", "name", "size", "list", "more"});
  EXPECT_EQ(reader.integer(fields.require("n"), 0, 12), 12);
  EXPECT_EQ(reader.boolean(fields.require("b")), true);
  EXPECT_EQ(reader.name(fields.require("name")), "a.b-1");
  EXPECT_EQ(reader.quantity(fields.require("size"), parse_size), Bits{64 * 8192});
  EXPECT_EQ(reader.choice_list(fields.find("list"), {"x", "y"}, "axis"),
            (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(fields.find("more"), nullptr);
  EXPECT_EQ(reader.integer(nullptr, 0, 1), std::nullopt);
  EXPECT_NO_THROW(reader.finish());
}

TEST(Reader, ThrowsAllErrorsOnceInTheOrderOfTheFile) {
  const Document document = parse_yaml("n: x\nb: yes\n", "f.yaml");
  Reader reader{document};
  const Fields fields = reader.fields(reader.root(), {"n", "b", "c"});
  fields.require("c");
  reader.boolean(fields.find("b"));
  reader.integer(fields.find("n"), 0, 1);
  EXPECT_EQ(reader.errors(), 3U);
  EXPECT_EQ(error_text([&] { reader.finish(); }),
            "f.yaml:1:1: missing key 'c'\nn: x\n^\n"
            "f.yaml:1:4: n: 'x' is not a whole number; decimal digits only\nn: x\n   ^\n"
            "f.yaml:2:4: b: expected true or false, not 'yes'\nb: yes\n   ^");
}

TEST(Reader, PointsIntoScalarsWhereTheFileShowsThemVerbatim) {
  const Document document = parse_yaml("a: one two\nb: 'one two'\nc: \"one\\ttwo\"\n", "f.yaml");
  Reader reader{document};
  for (const Entry& entry : document.root.entries) {
    reader.error(entry.value, 4, "here");
  }
  EXPECT_EQ(error_text([&] { reader.finish(); }),
            "f.yaml:1:8: a: here\na: one two\n       ^\n"
            "f.yaml:2:9: b: here\nb: 'one two'\n        ^\n"
            "f.yaml:3:4: c: here\nc: \"one\\ttwo\"\n   ^");
}

TEST(Reader, ListsAHundredErrorsAndCountsTheRest) {
  std::string text;
  for (int i = 0; i < 150; ++i) {
    text += fmt::format("k{}: 1\n", i);
  }
  const Document document = parse_yaml(text, "f.yaml");
  Reader reader{document};
  reader.fields(reader.root(), {});
  EXPECT_EQ(reader.errors(), 150U);
  try {
    reader.finish();
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.diagnostics().size(), 100U);
    EXPECT_TRUE(std::string{error.what()}.ends_with("\n... and 50 more errors"));
  }
}

TEST(IsName, TakesWordsThatYamlReadsAsText) {
  for (const char* name : {"a", "_", "A1", "conv2_3x3.b-1"}) {
    EXPECT_TRUE(is_name(name)) << name;
  }
  for (const char* name :
       {"", "1a", "a b", "-a", "null", "Null", "NULL", "true", "False", "~", "a:", "\xC3\xA4"}) {
    EXPECT_FALSE(is_name(name)) << name;
  }
}

}  // namespace
}  // namespace mapsim::reader_test
