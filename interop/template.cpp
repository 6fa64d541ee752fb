// SPDX-License-Identifier: Apache-2.0
#include "interop/template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "core/document.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/template_pieces.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kLongestText = std::size_t{4} << 20;  // as of one file of YAML
constexpr int kMostTurns = 1 << 17;                         // of all loops of a file

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

// A name is asked for whose value depends on another one without a value, which has been reported.
// Such a name is undefined, without a text.
struct Unknown {};

class Renderer {
 public:
  Renderer(const std::string& text, const std::string& file, TemplateValues values,
           const TemplateFunctions& functions)
      : source_{text, file}, values_{std::move(values)}, functions_{functions} {
    names_.find = [this](const std::string& name) {
      const auto value = values_.find(name);
      if (value == values_.end()) {
        missing_.insert(name);
        return ExpressionValue{};
      }
      if (!value->second.defined()) {
        if (value->second.text.empty()) {
          throw Unknown{};
        }
        missing_.insert(value->second.text);  // it was set to a name without a value
      }
      if (functions_.asked) {
        functions_.asked(name, value->second);
      }
      return value->second;
    };
    names_.call = [this](const std::string& name, const std::vector<ExpressionValue>& arguments) {
      return functions_.call(name, arguments, values_);
    };
  }

  AssembledText run() {
    pieces_ = source_.pieces();
    try {
      std::size_t at = 0;
      block(at, true, {});
      if (at < pieces_.size()) {
        source_.fail(pieces_[at].offset,
                     fmt::format("'{}' without its beginning", pieces_[at].text));
      }
    } catch (const ConfigError& error) {
      if (unset_.empty()) {
        throw;
      }
      add_unset(error);
      throw UnsetNames{unset_};  // what a template goes without comes first
    }
    if (!unset_.empty()) {
      throw UnsetNames{unset_};
    }
    return out_.take();
  }

 private:
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

  // nullopt: it depends on what has no value. What else has none is found by going on.
  std::optional<ExpressionValue> evaluate(std::string_view expression, std::size_t offset,
                                          Undefined undefined = Undefined::kError) {
    missing_.clear();
    try {
      return evaluate_expression(expression, names_, undefined);
    } catch (const Unknown&) {
      return std::nullopt;
    } catch (const UnsetName& error) {
      add_unset(ConfigError{{source_.diagnostic(offset + error.offset(), error.what())}});
    } catch (const ExpressionError& error) {
      source_.fail(offset + error.offset(), error.what());
    } catch (const UnsetNames& error) {  // of a file that is included here
      add_unset(error);
    } catch (const ConfigError&) {  // of a file whose name has a name without a value, maybe
      if (unset_.empty()) {
        throw;
      }
    }
    return std::nullopt;
  }

  static std::string_view keyword(const TemplatePiece& piece) {
    return piece.text.substr(0, piece.text.find_first_of(" \t\r\n("));
  }

  // Up to a statement that is one of `ends`. Where it does not count (`wanted`), nothing is
  // computed.
  void block(std::size_t& at, bool wanted, const std::vector<std::string_view>& ends) {
    for (; at < pieces_.size(); ++at) {
      const TemplatePiece& piece = pieces_[at];
      if (piece.kind == TemplatePiece::Kind::kStatement) {
        const std::string_view word = keyword(piece);
        if (word.starts_with("end") || word == "else" || word == "elif") {
          if (std::find(ends.begin(), ends.end(), word) == ends.end()) {
            source_.fail(piece.offset, fmt::format("'{}' without its beginning", word));
          }
          return;
        }
        statement(at, wanted);
      } else if (wanted && piece.kind == TemplatePiece::Kind::kText) {
        out_.add(piece.text, source_.place_of(piece.offset), source_.lines());
      } else if (wanted) {
        write(piece);
      }
      if (out_.text().size() > kLongestText) {
        source_.fail(piece.offset, "the text becomes too long");
      }
    }
    if (!ends.empty()) {
      source_.fail(source_.text().size(), fmt::format("the file ends before '{}'", ends.back()));
    }
  }

  void write(const TemplatePiece& piece) {
    const std::optional<ExpressionValue> value = evaluate(piece.text, piece.offset);
    if (!value) {
      return;
    }
    std::string text = to_text(*value);
    for (std::size_t mark = text.find('\x01'); mark != std::string::npos;
         mark = text.find('\x01')) {
      const std::size_t end = text.find('\x01', mark + 1);
      out_.add(text.substr(0, mark), source_.place_of(piece.offset), {});
      out_.add(functions_.text_of(text.substr(mark + 1, end - mark - 1)));
      text = text.substr(end + 1);
    }
    out_.add(text, source_.place_of(piece.offset), {});
  }

  void statement(std::size_t& at, bool wanted) {
    const TemplatePiece& piece = pieces_[at];
    const std::string_view word = keyword(piece);
    const std::size_t begin =
        std::min(piece.text.find_first_not_of(kTemplateBlanks, word.size()), piece.text.size());
    const std::string_view rest = piece.text.substr(begin);
    const std::size_t offset = piece.offset + begin;
    if (word == "if") {
      choose(at, wanted);
    } else if (word == "for") {
      repeat(at, wanted, rest, offset);
    } else if (word == "set") {
      if (wanted || undecided_ > 0) {
        assign(rest, offset, wanted);
      }
    } else if (word == "assert") {
      if (wanted) {
        claim(rest.substr(0, outside_brackets(rest, ",")), offset);  // and a message
      }
    } else {
      source_.fail(piece.offset, fmt::format("a statement '{}' is not known here", word));
    }
  }

  void claim(std::string_view condition, std::size_t offset) {
    const std::optional<ExpressionValue> value = evaluate(condition, offset);
    if (!value || is_true(*value)) {
      return;
    }
    std::string message = "the assertion does not hold";
    for (const std::string& name : missing_) {
      message += fmt::format("; '{0}' has no value, --set {0}=VALUE gives it one", name);
    }
    if (!missing_.empty()) {
      throw UnsetNames{{source_.diagnostic(offset, message)}};
    }
    source_.fail(offset, message);
  }

  // Where `sign` stands first, neither within brackets nor within quotes; else the end.
  static std::size_t outside_brackets(std::string_view text, std::string_view sign) {
    int depth = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != '\0') {
        quote = c == quote ? '\0' : quote;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (depth == 0 && text.substr(i).starts_with(sign)) {
        return i;
      }
      depth += quote != '\0' ? 0 : (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    return text.size();
  }

  // In a branch that is not `wanted` the name becomes unknown.
  void assign(std::string_view rest, std::size_t offset, bool wanted) {
    const std::size_t equals = std::min(rest.find('='), rest.size());
    const std::string_view name = rest.substr(0, rest.find_first_of(" \t="));
    if (equals == rest.size() || !is_one_name(name) ||
        rest.substr(name.size(), equals - name.size()).find_first_not_of(kTemplateBlanks) !=
            rest.npos) {
      source_.fail(offset, "expected 'set NAME = VALUE'");
    }
    std::optional<ExpressionValue> value;
    if (wanted) {
      value = evaluate(rest.substr(equals + 1), offset + equals + 1, Undefined::kAllowed);
      if (value && !value->defined() && value->text.empty()) {
        value->text = name;
      }
    }
    values_[std::string{name}] = value.value_or(ExpressionValue{});
  }

  // Where a condition is unknown, no branch is taken, and what the branches set is unknown, too.
  void choose(std::size_t& at, bool wanted) {
    bool open = wanted;  // no branch has been taken
    int unknown = 0;
    for (;;) {
      const TemplatePiece& piece = pieces_[at];
      const std::string_view word = keyword(piece);
      bool taken = open;
      if (open && word != "else") {
        const std::optional<ExpressionValue> value =
            evaluate(piece.text.substr(word.size()), piece.offset + word.size());
        taken = value && is_true(*value);
        unknown = value ? 0 : 1;
      }
      open = open && !taken && unknown == 0;
      undecided_ += unknown;
      ++at;
      block(at, taken, {"elif", "else", "endif"});
      undecided_ -= unknown;
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

  // What a loop goes through: the items of a list, the keys of a map. nullopt: it depends on what
  // has no value.
  std::optional<std::vector<ExpressionValue>> items_of(std::string_view expression,
                                                       std::size_t offset) {
    std::optional<ExpressionValue> found = evaluate(expression, offset);
    if (!found) {
      return std::nullopt;
    }
    ExpressionValue& value = *found;
    if (value.kind == ExpressionValue::Kind::kMap) {
      std::vector<ExpressionValue> keys;
      std::transform(value.keys.begin(), value.keys.end(), std::back_inserter(keys), text_value);
      return keys;
    }
    if (value.kind != ExpressionValue::Kind::kList) {
      source_.fail(offset, "a loop needs a list or a map");
    }
    return std::move(value.items);
  }

  // The names of a loop's item, for one turn.
  void name_item(const std::vector<TextPiece>& names, const ExpressionValue& item,
                 std::size_t offset) {
    if (names.size() > 1 && item.items.size() != names.size()) {
      source_.fail(offset,
                   fmt::format("{} names for an item of {}", names.size(), item.items.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      values_[names[i].text] = names.size() > 1 ? item.items[i] : item;
    }
    if (++turns_ > kMostTurns) {
      source_.fail(offset, "the loops take too many turns");
    }
  }

  // loop.index and the like, for turn `index` of `length`.
  static ExpressionValue loop_value(std::size_t index, std::size_t length) {
    const auto number = [](std::size_t count) {
      return number_value(static_cast<double>(count), true);
    };
    ExpressionValue loop;
    loop.kind = ExpressionValue::Kind::kMap;
    loop.keys = {"index", "index0", "revindex", "revindex0", "first", "last", "length"};
    loop.items = {number(index + 1),
                  number(index),
                  number(length - index),
                  number(length - index - 1),
                  boolean_value(index == 0),
                  boolean_value(index + 1 == length),
                  number(length)};
    return loop;
  }

  // for a, b in LIST if CONDITION. What is set inside ends with the turn.
  void repeat(std::size_t& at, bool wanted, std::string_view rest, std::size_t offset) {
    const std::size_t in = rest.find(" in ");
    if (in == rest.npos) {
      source_.fail(offset, "expected 'for NAME in LIST'");
    }
    const std::vector<TextPiece> names = pieces(std::string{rest.substr(0, in)}, " ,");
    const std::string_view list = rest.substr(in + 4);
    const std::size_t filter = outside_brackets(list, " if ");
    auto items = wanted ? items_of(list.substr(0, filter), offset + in + 4) : std::nullopt;
    const TemplateValues before = values_;
    if (items && filter < list.size()) {
      std::erase_if(*items, [&](const ExpressionValue& item) {
        name_item(names, item, offset);
        const auto holds = evaluate(list.substr(filter + 4), offset + in + 4 + filter + 4);
        return !holds || !is_true(*holds);
      });
    }
    const std::size_t body = ++at;
    block(at, false, {"else", "endfor"});
    const bool has_else = keyword(pieces_[at]) == "else";
    const std::size_t otherwise = at + 1;
    if (has_else) {
      block(++at, false, {"endfor"});
    }
    const std::size_t end = at;
    for (std::size_t i = 0; items && i < items->size(); ++i) {
      values_ = before;
      name_item(names, (*items)[i], offset);
      values_["loop"] = loop_value(i, items->size());
      at = body;
      block(at, true, {"else", "endfor"});
    }
    values_ = before;
    if (items && items->empty() && has_else) {
      at = otherwise;
      block(at, true, {"endfor"});
    }
    at = end;
  }

  TemplateSource source_;
  TemplateValues values_;
  const TemplateFunctions& functions_;
  ExpressionNames names_;
  std::set<std::string> missing_;  // names without a value that the last expression asked for
  std::vector<Diagnostic> unset_;  // what has no value so far
  std::vector<TemplatePiece> pieces_;
  Assembler out_;
  int turns_ = 0;
  int undecided_ = 0;  // branches around whose conditions are unknown
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
    if (at + 1 < text.size() &&
        std::string_view{"%{#"}.find(text[at + 1]) != std::string_view::npos &&
        !is_in_comment(text, at)) {
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
