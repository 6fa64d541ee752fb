// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mapsim::utf8_test {
namespace {

TEST(Utf8, SaysWhereTextEnds) {
  for (const std::string_view text :
       {"", "a\tb\r\n", "\x7E", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    EXPECT_EQ(first_non_text_byte(text), std::nullopt) << text;
  }
  using Case = std::pair<const char*, std::size_t>;
  for (const auto& [text, at] : {Case{"a\x01", 1},
                                 {"\x7F", 0},
                                 {"b\x80", 1},
                                 {"\xC1\x81", 0},
                                 {"\xC3x", 0},
                                 {"\xC3\xC3", 0},
                                 {"ab\xE2\x82", 2},
                                 {"\xE2x\xAC", 0},
                                 {"\xE2\x82x", 0},
                                 {"\xF0\x9F\x98x", 0},
                                 {"\xF5\x80\x80\x80", 0}}) {
    EXPECT_EQ(first_non_text_byte(text), at) << text;
  }
}

}  // namespace
}  // namespace mapsim::utf8_test
