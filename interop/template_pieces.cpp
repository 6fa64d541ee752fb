// SPDX-License-Identifier: Apache-2.0
#include "interop/template_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mapsim {

namespace {

class Splitter {
 public:
  explicit Splitter(const TemplateSource& source) : source_{source}, text_{source.text()} {}

  std::vector<TemplatePiece> run() {
    const std::string_view all{text_};
    std::size_t at = 0;
    while (at < all.size()) {
      std::size_t open = std::min({all.find("{{", at), all.find("{%", at), all.find("{#", at)});
      while (open != all.npos && all[open + 1] == '{' && is_in_comment(all, open)) {
        open = std::min(
            {all.find("{{", open + 2), all.find("{%", open + 2), all.find("{#", open + 2)});
      }
      if (open == all.npos) {
        out_.push_back({TemplatePiece::Kind::kText, all.substr(at), at});
        return std::move(out_);
      }
      const char sign = all[open + 1];
      const std::string closing = sign == '{' ? "}}" : std::string{sign} + "}";
      const std::size_t close = all.find(closing, open + 2);
      if (close == all.npos) {
        source_.fail(open, fmt::format("a template without its '{}'", closing));
      }
      add_tag(at, open, close, sign);
      at = after_tag(open, close, sign);
      if (sign == '%' && out_.back().text == "raw") {
        out_.pop_back();
        at = add_raw(at);
      }
    }
    return std::move(out_);
  }

 private:
  // What stands before `endraw`, as it is, from `at` on.
  std::size_t add_raw(std::size_t at) {
    for (std::size_t open = text_.find("{%", at); open != text_.npos;
         open = text_.find("{%", open + 2)) {
      const std::size_t word = text_.find_first_not_of(" \t-", open + 2);
      const std::size_t close = text_.find("%}", open);
      if (word != text_.npos && close != text_.npos && text_.compare(word, 6, "endraw") == 0) {
        out_.push_back(
            {TemplatePiece::Kind::kText, std::string_view{text_}.substr(at, open - at), at});
        return after_tag(open, close, '%');
      }
    }
    source_.fail(at, "the file ends before 'endraw'");
  }

  bool alone_before(std::size_t open) const {
    const std::size_t last =
        open == 0 ? std::string::npos : text_.find_last_not_of(" \t", open - 1);
    return open == 0 || last == std::string::npos || text_[last] == '\n';
  }

  void add_tag(std::size_t at, std::size_t open, std::size_t close, char sign) {
    std::string_view before = std::string_view{text_}.substr(at, open - at);
    std::size_t begin = open + 2;
    if (text_[begin] == '-') {
      ++begin;
      before = before.substr(0, before.find_last_not_of(kTemplateBlanks) + 1);
    } else if (sign != '{' && alone_before(open)) {
      before = before.substr(0, before.find_last_not_of(" \t") + 1);
    }
    if (!before.empty()) {
      out_.push_back({TemplatePiece::Kind::kText, before, at});
    }
    if (sign == '#') {
      return;
    }
    std::string_view inside = std::string_view{text_}.substr(begin, close - begin);
    inside = !inside.empty() && inside.back() == '-' ? inside.substr(0, inside.size() - 1) : inside;
    const std::size_t first = std::min(inside.find_first_not_of(kTemplateBlanks), inside.size());
    inside = inside.substr(first, inside.find_last_not_of(kTemplateBlanks) + 1 - first);
    out_.push_back(
        {sign == '{' ? TemplatePiece::Kind::kExpression : TemplatePiece::Kind::kStatement, inside,
         begin + first});
  }

  std::size_t after_tag(std::size_t open, std::size_t close, char sign) const {
    const std::size_t end = close + 2;
    if (close > open && text_[close - 1] == '-') {
      return std::min(text_.find_first_not_of(kTemplateBlanks, end), text_.size());
    }
    return sign != '{' && alone_before(open) && text_[end] == '\n' ? end + 1 : end;
  }

  const TemplateSource& source_;
  const std::string& text_;
  std::vector<TemplatePiece> out_;
};

}  // namespace

LinePlace TemplateSource::place_of(std::size_t offset) const {
  const auto begin = text_.begin();
  const auto line = std::count(begin, begin + static_cast<std::ptrdiff_t>(offset), '\n');
  return file_.lines[std::min(static_cast<std::size_t>(line), file_.lines.size() - 1)];
}

Diagnostic TemplateSource::diagnostic(std::size_t offset, const std::string& message) const {
  const LinePlace place = place_of(offset);
  const std::size_t newline = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
  const std::size_t column = newline == std::string::npos ? offset : offset - newline - 1;
  return {place.file, place.line, static_cast<int>(column) + 1, "", message, place.text};
}

void TemplateSource::fail(std::size_t offset, const std::string& message) const {
  throw ConfigError{{diagnostic(offset, message)}};
}

std::vector<TemplatePiece> TemplateSource::pieces() const { return Splitter{*this}.run(); }

bool is_in_comment(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  char quote = '\0';
  for (std::size_t i = begin; i < at; ++i) {
    const char c = text[i];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' &&
               (i == begin || kTemplateBlanks.find(text[i - 1]) != kTemplateBlanks.npos)) {
      return true;
    }
  }
  return false;
}

}  // namespace mapsim
