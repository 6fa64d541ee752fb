// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mapsim::diagnostic_test {
namespace {

TEST(Diagnostic, LeavesOutWhatItDoesNotKnow) {
  EXPECT_EQ(to_string({"f", 0, 0, "", "is empty", ""}), "f: is empty");
  EXPECT_EQ(to_string({"f", 2, 3, "", "is bad", ""}), "f:2:3: is bad");
  EXPECT_EQ(to_string({"f", 2, 3, "a.b", "is bad", "  x"}), "f:2:3: a.b: is bad\n  x\n  ^");
}

TEST(Diagnostic, PutsTheCaretBehindTheLineAtItsEnd) {
  EXPECT_EQ(to_string({"f", 1, 9, "", "ends", "a: 1"}), "f:1:9: ends\na: 1\n    ^");
}

TEST(Diagnostic, ShowsTheNeighbourhoodOfALongLine) {
  const std::string line = std::string(500, 'a') + "X" + std::string(500, 'b');
  EXPECT_EQ(to_string({"f", 1, 501, "", "is bad", line}),
            "f:1:501: is bad\n..." + std::string(60, 'a') + "X" + std::string(59, 'b') + "...\n" +
                std::string(63, ' ') + "^");
}

TEST(ConfigError, TellsAllInTheOrderOfTheFile) {
  const ConfigError error{
      {{"f", 7, 1, "", "third", ""}, {"f", 2, 5, "", "second", ""}, {"f", 2, 1, "", "first", ""}}};
  EXPECT_STREQ(error.what(), "f:2:1: first\nf:2:5: second\nf:7:1: third");
  EXPECT_EQ(error.diagnostics().front().message, "first");
}

TEST(ConfigError, CountsWhatItDoesNotList) {
  EXPECT_STREQ((ConfigError{{{"f", 1, 1, "", "bad", ""}}, 9}.what()),
               "f:1:1: bad\n... and 9 more errors");
}

TEST(Printable, ShowsControlCharactersAsPictures) {
  EXPECT_EQ(printable("a\tb\n\x1b[31m\x7f\r"), "a\tb\n\u241B[31m\u2421\u240D");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1m\xC2\xA0\xC3\xA9"),
            "\uFFFD1m\u00A0\u00E9");
  EXPECT_EQ(printable("a\u202Eb\u2066c\u05D0\u200F\u2065\u202F"),
            "a\uFFFDb\uFFFDc\u05D0\u200F\u2065\u202F");
  EXPECT_EQ(to_string({"f\x1b", 1, 2, "a\x1b", "b\x1b", "\x1b c"}),
            "f\u241B:1:2: a\u241B: b\u241B\n\u241B c\n ^");
}

TEST(Quoted, ShortensLongTextsBetweenCharacters) {
  EXPECT_EQ(quoted("a b"), "'a b'");
  EXPECT_EQ(quoted("a\nb"), "'a...'");
  const std::string long_text(59, 'a');
  EXPECT_EQ(quoted(long_text + "\xC3\xA4 b"), fmt::format("'{}\xC3\xA4...'", long_text));
}

}  // namespace
}  // namespace mapsim::diagnostic_test
