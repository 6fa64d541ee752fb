// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostic.hpp"
#include "interop/template.hpp"

namespace mapsim {

inline constexpr std::string_view kTemplateBlanks = " \t\r\n";

// Text between the tags of a template, an expression, or a statement.
struct TemplatePiece {
  enum class Kind : std::uint8_t { kText, kExpression, kStatement };
  Kind kind = Kind::kText;
  std::string_view text;   // inside of the braces, without blanks around it
  std::size_t offset = 0;  // of `text` in the file
};

// A template and its file. Both strings must outlive it, and its pieces.
class TemplateSource {
 public:
  TemplateSource(const std::string& text, const std::string& file)
      : text_{text}, file_{as_it_is(text, file)} {}

  const std::string& text() const { return text_; }
  const std::vector<LinePlace>& lines() const { return file_.lines; }
  LinePlace place_of(std::size_t offset) const;
  Diagnostic diagnostic(std::size_t offset, const std::string& message) const;
  [[noreturn]] void fail(std::size_t offset, const std::string& message) const;  // ConfigError

  // A statement or a comment alone on its lines takes them with it; what is between `raw` and
  // `endraw` is text. Throws ConfigError: a tag or `raw` without its end.
  std::vector<TemplatePiece> pieces() const;

 private:
  const std::string& text_;
  AssembledText file_;
};

// Is byte `at` of a text in a comment of YAML?
bool is_in_comment(std::string_view text, std::size_t at);

}  // namespace mapsim
