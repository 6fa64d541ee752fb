// SPDX-License-Identifier: Apache-2.0
#include "report/markup.hpp"

#include <fmt/format.h>

#include "core/utf8.hpp"

namespace mapsim {

namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// U+FFFE and U+FFFF are UTF-8, but not characters of XML.
bool is_no_character(std::string_view rest) {
  return rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");
}

std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

}  // namespace

std::string repaired(std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const std::size_t good = first_non_text_byte(words).value_or(words.size());
    for (std::size_t i = 0; i < good; ++i) {
      const bool none = is_no_character(words.substr(i));
      text += none ? kReplacement : std::string{words[i]};
      i += none ? 2 : 0;
    }
    words.remove_prefix(good);
    if (!words.empty()) {
      text += kReplacement;
      words.remove_prefix(1);
    }
  }
  return text;
}

std::string markup(std::string_view words) {
  std::string text;
  for (const char c : repaired(words)) {
    const std::string_view escape = escape_of(c);
    text += escape.empty() ? std::string{c} : std::string{escape};
  }
  return text;
}

std::string json_string(std::string_view words) {
  std::string text = "\"";
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::size_t good = first_non_text_byte(rest).value_or(rest.size());
    for (const char c : rest.substr(0, good)) {
      if (c == '"' || c == '\\') {
        text += '\\';
      }
      const auto byte = static_cast<unsigned char>(c);
      text += byte < ' ' || c == '<' ? fmt::format("\\u{:04x}", byte) : std::string{c};
    }
    rest.remove_prefix(good);
    if (!rest.empty()) {
      const auto byte = static_cast<unsigned char>(rest.front());
      text += fmt::format("\\u{:04x}", byte < 0x80 ? byte : 0xFFFDU);
      rest.remove_prefix(1);
    }
  }
  return text + '"';
}

}  // namespace mapsim
