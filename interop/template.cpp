// SPDX-License-Identifier: Apache-2.0
#include "interop/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>

#include "core/document.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kLongestText = std::size_t{4} << 20;  // as of one file of YAML
constexpr int kMostTurns = 1 << 17;                         // of all loops of a file
constexpr std::string_view kBlank = " \t\r\n";

// Text between tags, an expression, or a statement.
struct Piece {
  enum class Kind : std::uint8_t { kText, kExpression, kStatement };
  Kind kind = Kind::kText;
  std::string_view text;   // inside of the braces, without blanks around it
  std::size_t offset = 0;  // of `text` in the file
};

class Assembler {
 public:
  // A part of a file, or a value that stands on a line of it.
  void add(std::string_view part, const LinePlace& place, const std::vector<LinePlace>& file) {
    int line = place.line;
    const bool written = !file.empty();
    for (const char c : part) {
      if (at_start_) {
        out_.lines.push_back(written ? file[static_cast<std::size_t>(line) - 1] : place);
        at_start_ = false;
      }
      out_.text += c;
      at_start_ = c == '\n';
      line += written && c == '\n' ? 1 : 0;
    }
  }

  void add(const AssembledText& part) {
    // The first line goes on where it stands.
    for (std::size_t begin = 0, i = 0; begin < part.text.size(); ++i) {
      const std::size_t end = std::min(part.text.find('\n', begin), part.text.size() - 1) + 1;
      add(part.text.substr(begin, end - begin), part.lines[i], {});
      begin = end;
    }
  }

  const std::string& text() const { return out_.text; }
  AssembledText take() { return std::move(out_); }

 private:
  AssembledText out_;
  bool at_start_ = true;
};

// In a comment of YAML? Up to `at`, which stands in the line that begins at `begin`.
bool in_comment(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  char quote = '\0';
  for (std::size_t i = begin; i < at; ++i) {
    const char c = text[i];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == begin || kBlank.find(text[i - 1]) != kBlank.npos)) {
      return true;
    }
  }
  return false;
}

// Names without a value, all of those that a template has asked for.
class UnsetNames : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

class Renderer {
 public:
  Renderer(const std::string& text, const std::string& file, TemplateValues values,
           const TemplateFunctions& functions)
      : text_{text},
        file_{as_it_is(text, file)},
        values_{std::move(values)},
        functions_{functions} {
    names_.find = [this](const std::string& name) {
      const auto value = values_.find(name);
      if (value == values_.end()) {
        missing_.insert(name);
        return ExpressionValue{};
      }
      if (!value->second.defined()) {
        missing_.insert(value->second.text);  // it was set to a name without a value
      }
      return value->second;
    };
    names_.call = [this](const std::string& name, const std::vector<ExpressionValue>& arguments) {
      return functions_.call(name, arguments, values_);
    };
  }

  AssembledText run() {
    split();
    try {
      std::size_t at = 0;
      block(at, true, {});
      if (at < pieces_.size()) {
        fail(pieces_[at].offset, fmt::format("'{}' without its beginning", pieces_[at].text));
      }
    } catch (const ConfigError& error) {
      if (unset_.empty()) {
        throw;
      }
      add_unset(error);
      throw ConfigError{unset_};  // what a template goes without comes first
    }
    if (!unset_.empty()) {
      throw UnsetNames{unset_};
    }
    return out_.take();
  }

 private:
  LinePlace place_of(std::size_t offset) const {
    const auto begin = text_.begin();
    const auto line = std::count(begin, begin + static_cast<std::ptrdiff_t>(offset), '\n');
    return file_.lines[std::min(static_cast<std::size_t>(line), file_.lines.size() - 1)];
  }

  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw ConfigError{{diagnostic(offset, message)}};
  }

  void add_unset(const ConfigError& error) {
    for (const Diagnostic& each : error.diagnostics()) {
      const bool known = std::any_of(unset_.begin(), unset_.end(), [&](const Diagnostic& other) {
        return other.message == each.message;
      });
      if (!known) {
        unset_.push_back(each);
      }
    }
  }

  // A name has no value: what else has none is found by going on.
  ExpressionValue go_without(std::size_t offset, const std::string& message) {
    add_unset(ConfigError{{diagnostic(offset, message)}});
    return {};
  }

  Diagnostic diagnostic(std::size_t offset, const std::string& message) const {
    const LinePlace place = place_of(offset);
    const std::size_t newline = offset == 0 ? std::string::npos : text_.rfind('\n', offset - 1);
    const std::size_t column = newline == std::string::npos ? offset : offset - newline - 1;
    return {place.file, place.line, static_cast<int>(column) + 1, "", message, place.text};
  }

  // Into pieces. A statement or a comment alone on its lines takes them with it.
  void split() {
    const std::string_view all{text_};
    std::size_t at = 0;
    while (at < all.size()) {
      std::size_t open = std::min({all.find("{{", at), all.find("{%", at), all.find("{#", at)});
      while (open != all.npos && all[open + 1] == '{' && in_comment(all, open)) {
        open = std::min(
            {all.find("{{", open + 2), all.find("{%", open + 2), all.find("{#", open + 2)});
      }
      if (open == all.npos) {
        pieces_.push_back({Piece::Kind::kText, all.substr(at), at});
        return;
      }
      const char sign = all[open + 1];
      const std::string closing = sign == '{' ? "}}" : std::string{sign} + "}";
      const std::size_t close = all.find(closing, open + 2);
      if (close == all.npos) {
        fail(open, fmt::format("a template without its '{}'", closing));
      }
      add_tag(at, open, close, sign);
      at = after_tag(open, close, sign);
      if (sign == '%' && pieces_.back().text == "raw") {
        pieces_.pop_back();
        at = add_raw(at);
      }
    }
  }

  // What stands before `endraw`, as it is, from `at` on.
  std::size_t add_raw(std::size_t at) {
    for (std::size_t open = text_.find("{%", at); open != text_.npos;
         open = text_.find("{%", open + 2)) {
      const std::size_t word = text_.find_first_not_of(" \t-", open + 2);
      const std::size_t close = text_.find("%}", open);
      if (word != text_.npos && close != text_.npos && text_.compare(word, 6, "endraw") == 0) {
        pieces_.push_back({Piece::Kind::kText, std::string_view{text_}.substr(at, open - at), at});
        return after_tag(open, close, '%');
      }
    }
    fail(at, "the file ends before 'endraw'");
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
      before = before.substr(0, before.find_last_not_of(kBlank) + 1);
    } else if (sign != '{' && alone_before(open)) {
      before = before.substr(0, before.find_last_not_of(" \t") + 1);
    }
    if (!before.empty()) {
      pieces_.push_back({Piece::Kind::kText, before, at});
    }
    if (sign == '#') {
      return;
    }
    std::string_view inside = std::string_view{text_}.substr(begin, close - begin);
    inside = !inside.empty() && inside.back() == '-' ? inside.substr(0, inside.size() - 1) : inside;
    const std::size_t first = std::min(inside.find_first_not_of(kBlank), inside.size());
    inside = inside.substr(first, inside.find_last_not_of(kBlank) + 1 - first);
    pieces_.push_back(
        {sign == '{' ? Piece::Kind::kExpression : Piece::Kind::kStatement, inside, begin + first});
  }

  std::size_t after_tag(std::size_t open, std::size_t close, char sign) const {
    const std::size_t end = close + 2;
    if (close > open && text_[close - 1] == '-') {
      return std::min(text_.find_first_not_of(kBlank, end), text_.size());
    }
    return sign != '{' && alone_before(open) && text_[end] == '\n' ? end + 1 : end;
  }

  ExpressionValue evaluate(std::string_view expression, std::size_t offset) {
    missing_.clear();
    try {
      return evaluate_expression(expression, names_);
    } catch (const ExpressionError& error) {
      if (missing_.empty()) {
        fail(offset + error.offset(), error.what());
      }
      return go_without(offset + error.offset(), error.what());
    } catch (const UnsetNames& error) {  // of a file that is included here
      add_unset(error);
      return {};
    } catch (const ConfigError&) {  // of a file whose name has a name without a value, maybe
      if (unset_.empty()) {
        throw;
      }
      return {};
    }
  }

  static std::string_view keyword(const Piece& piece) {
    return piece.text.substr(0, piece.text.find_first_of(" \t\r\n("));
  }

  // Up to a statement that is one of `ends`. Where it does not count (`wanted`), nothing is
  // computed.
  void block(std::size_t& at, bool wanted, const std::vector<std::string_view>& ends) {
    for (; at < pieces_.size(); ++at) {
      const Piece& piece = pieces_[at];
      if (piece.kind == Piece::Kind::kStatement) {
        const std::string_view word = keyword(piece);
        if (word.starts_with("end") || word == "else" || word == "elif") {
          if (std::find(ends.begin(), ends.end(), word) == ends.end()) {
            fail(piece.offset, fmt::format("'{}' without its beginning", word));
          }
          return;
        }
        statement(at, wanted);
      } else if (wanted && piece.kind == Piece::Kind::kText) {
        out_.add(piece.text, place_of(piece.offset), file_.lines);
      } else if (wanted) {
        write(piece);
      }
      if (out_.text().size() > kLongestText) {
        fail(piece.offset, "the text becomes too long");
      }
    }
    if (!ends.empty()) {
      fail(text_.size(), fmt::format("the file ends before '{}'", ends.back()));
    }
  }

  void write(const Piece& piece) {
    const std::size_t before = unset_.size();
    const ExpressionValue value = evaluate(piece.text, piece.offset);
    if (!value.defined()) {
      // Without a name that is asked for, other expressions have no value either
      if (unset_.size() == before && (unset_.empty() || is_one_name(piece.text))) {
        go_without(piece.offset, fmt::format("'{}' has no value; --set {}=VALUE gives it one",
                                             piece.text, piece.text));
      }
      return;
    }
    std::string text = to_text(value);
    for (std::size_t mark = text.find('\x01'); mark != std::string::npos;
         mark = text.find('\x01')) {
      const std::size_t end = text.find('\x01', mark + 1);
      out_.add(text.substr(0, mark), place_of(piece.offset), {});
      out_.add(functions_.text_of(text.substr(mark + 1, end - mark - 1)));
      text = text.substr(end + 1);
    }
    out_.add(text, place_of(piece.offset), {});
  }

  void statement(std::size_t& at, bool wanted) {
    const Piece& piece = pieces_[at];
    const std::string_view word = keyword(piece);
    const std::size_t begin =
        std::min(piece.text.find_first_not_of(kBlank, word.size()), piece.text.size());
    const std::string_view rest = piece.text.substr(begin);
    const std::size_t offset = piece.offset + begin;
    if (word == "if") {
      choose(at, wanted);
    } else if (word == "for") {
      repeat(at, wanted, rest, offset);
    } else if (word == "set") {
      if (wanted) {
        assign(rest, offset);
      }
    } else if (word == "assert") {
      if (wanted) {
        claim(rest.substr(0, end_of_condition(rest)), offset);
      }
    } else {
      fail(piece.offset, fmt::format("a statement '{}' is not known here", word));
    }
  }

  void claim(std::string_view condition, std::size_t offset) {
    const std::size_t before = unset_.size();
    if (is_true(evaluate(condition, offset)) || unset_.size() > before) {
      return;
    }
    std::string message = "the assertion does not hold";
    for (const std::string& name : missing_) {
      message += fmt::format("; '{0}' has no value, --set {0}=VALUE gives it one", name);
    }
    fail(offset, message);
  }

  // assert CONDITION, MESSAGE: the comma between them.
  static std::size_t end_of_condition(std::string_view rest) {
    int depth = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (quote != '\0') {
        quote = c == quote ? '\0' : quote;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == ',' && depth == 0) {
        return i;
      }
      depth += quote != '\0' ? 0 : (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    return rest.size();
  }

  void assign(std::string_view rest, std::size_t offset) {
    const std::size_t equals = std::min(rest.find('='), rest.size());
    const std::string_view name = rest.substr(0, rest.find_first_of(" \t="));
    if (equals == rest.size() || !is_one_name(name) ||
        rest.substr(name.size(), equals - name.size()).find_first_not_of(kBlank) != rest.npos) {
      fail(offset, "expected 'set NAME = VALUE'");
    }
    values_[std::string{name}] = evaluate(rest.substr(equals + 1), offset + equals + 1);
  }

  void choose(std::size_t& at, bool wanted) {
    bool open = wanted;  // no branch has been taken
    for (;;) {
      const Piece& piece = pieces_[at];
      const std::string_view word = keyword(piece);
      const bool taken = open && (word == "else" || is_true(evaluate(piece.text.substr(word.size()),
                                                                     piece.offset + word.size())));
      open = open && !taken;
      ++at;
      block(at, taken, {"elif", "else", "endif"});
      if (keyword(pieces_[at]) == "endif") {
        return;
      }
    }
  }

  static bool is_one_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_';
    });
  }

  // What a loop goes through: the items of a list, the keys of a map.
  std::vector<ExpressionValue> items_of(std::string_view expression, std::size_t offset) {
    ExpressionValue value = evaluate(expression, offset);
    if (!value.defined() && !missing_.empty()) {
      const std::string& name = *missing_.begin();
      go_without(offset, fmt::format("'{0}' has no value; --set {0}=VALUE gives it one", name));
      return {};
    }
    if (value.kind == ExpressionValue::Kind::kMap) {
      std::vector<ExpressionValue> keys;
      std::transform(value.keys.begin(), value.keys.end(), std::back_inserter(keys), text_value);
      return keys;
    }
    if (value.kind != ExpressionValue::Kind::kList) {
      fail(offset, "a loop needs a list or a map");
    }
    return std::move(value.items);
  }

  // for a, b in LIST. What is set inside ends with the turn.
  void repeat(std::size_t& at, bool wanted, std::string_view rest, std::size_t offset) {
    const std::size_t in = rest.find(" in ");
    if (in == rest.npos) {
      fail(offset, "expected 'for NAME in LIST'");
    }
    const std::vector<TextPiece> names = pieces(std::string{rest.substr(0, in)}, " ,");
    const auto items =
        wanted ? items_of(rest.substr(in + 4), offset + in + 4) : std::vector<ExpressionValue>{};
    const std::size_t body = ++at;
    block(at, false, {"endfor"});
    const std::size_t end = at;
    const TemplateValues before = values_;
    for (const ExpressionValue& item : items) {
      if (names.size() > 1 && item.items.size() != names.size()) {
        fail(offset, fmt::format("{} names for an item of {}", names.size(), item.items.size()));
      }
      for (std::size_t i = 0; i < names.size(); ++i) {
        values_[names[i].text] = names.size() > 1 ? item.items[i] : item;
      }
      if (++turns_ > kMostTurns) {
        fail(offset, "the loops take too many turns");
      }
      at = body;
      block(at, true, {"endfor"});
      values_ = before;
    }
    at = end;
  }

  const std::string& text_;
  AssembledText file_;
  TemplateValues values_;
  const TemplateFunctions& functions_;
  ExpressionNames names_;
  std::set<std::string> missing_;  // names without a value that the last expression asked for
  std::vector<Diagnostic> unset_;  // what has no value so far
  std::vector<Piece> pieces_;
  Assembler out_;
  int turns_ = 0;
};

}  // namespace

AssembledText as_it_is(std::string text, const std::string& file) {
  AssembledText all;
  int number = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    all.lines.push_back({file, ++number, text.substr(begin, end - begin)});
    begin = end + 1;
  }
  all.text = std::move(text);
  return all;
}

bool is_template(const std::string& text) {
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    if (at + 1 < text.size() && (text[at + 1] == '%' || text[at + 1] == '{') &&
        !in_comment(text, at)) {
      return true;
    }
  }
  return false;
}

AssembledText render_template(const std::string& text, const std::string& file,
                              TemplateValues values, const TemplateFunctions& functions) {
  return Renderer{text, file, std::move(values), functions}.run();
}

}  // namespace mapsim
