// SPDX-License-Identifier: Apache-2.0
#include "core/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace mapsim {
namespace {

constexpr std::size_t kContext = 60;  // bytes of a long line shown on either side of the caret
constexpr std::size_t kQuoteLimit = 60;

bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The nearest position at or after `at` that does not cut a UTF-8 character.
std::size_t character_start(const std::string& text, std::size_t at) {
  while (at < text.size() && is_continuation_byte(text[at])) {
    ++at;
  }
  return std::min(at, text.size());
}

// Blanks as wide as `text`: tabs stay tabs, so that the caret stands right whatever their width.
std::string blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (!is_continuation_byte(c)) {
      result += c == '\t' ? '\t' : ' ';
    }
  }
  return result;
}

std::string excerpt(const std::string& line, std::size_t column) {
  const std::size_t caret = std::min(column - 1, line.size());
  const bool cut_front = caret > 2 * kContext;
  const std::size_t begin = cut_front ? character_start(line, caret - kContext) : 0;
  const std::size_t end = character_start(line, std::max(caret + kContext, begin + 2 * kContext));
  const std::string front = cut_front ? "..." : "";
  const std::string back = end < line.size() ? "..." : "";
  return fmt::format("\n{}{}{}\n{}^", front, line.substr(begin, end - begin), back,
                     blanks(front + line.substr(begin, caret - begin)));
}

std::vector<Diagnostic> in_file_order(std::vector<Diagnostic> diagnostics) {
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::tie(a.line, a.column) < std::tie(b.line, b.column);
                   });
  return diagnostics;
}

std::string render(const std::vector<Diagnostic>& diagnostics, std::size_t unlisted) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) {
      text += '\n';
    }
    text += to_string(diagnostic);
  }
  if (unlisted > 0) {
    text += fmt::format("\n... and {} more errors", unlisted);
  }
  return text;
}

// Does it begin with a character that turns the text after it (U+202A to U+202E, U+2066 to U+2069)?
// A name in a right-to-left script needs none.
bool turns_text(std::string_view text) {
  const std::string_view first = text.substr(0, 3);
  return (first >= "\u202A" && first <= "\u202E") || (first >= "\u2066" && first <= "\u2069");
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) {
    text += fmt::format(":{}:{}", diagnostic.line, diagnostic.column);
  }
  text += ": ";
  if (!diagnostic.path.empty()) {
    text += diagnostic.path + ": ";
  }
  text += diagnostic.message;
  if (!diagnostic.source.empty() && diagnostic.column > 0) {
    text += excerpt(diagnostic.source, static_cast<std::size_t>(diagnostic.column));
  }
  return printable(text);
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics, std::size_t unlisted)
    : std::runtime_error{render(in_file_order(diagnostics), unlisted)},
      diagnostics_{in_file_order(std::move(diagnostics))},
      unlisted_{unlisted} {}

std::string printable(const std::string& text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte == 0x7F) {
      shown += "\u2421";
    } else if (byte < 0x20 && byte != '\t' && byte != '\n') {
      shown += {'\xE2', '\x90', static_cast<char>(0x80 + byte)};  // U+2400 and on
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += "\uFFFD";  // U+0080 to U+009F have no pictures
      ++i;
    } else if (turns_text(std::string_view{text}.substr(i))) {
      shown += "\uFFFD";
      i += 2;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string quoted(const std::string& text) {
  std::string shown = text.substr(0, text.find('\n'));
  if (shown.size() > kQuoteLimit) {
    shown.resize(character_start(shown, kQuoteLimit));
  }
  return fmt::format("'{}{}'", shown, shown.size() < text.size() ? "..." : "");
}

}  // namespace mapsim
