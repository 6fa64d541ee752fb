// SPDX-License-Identifier: Apache-2.0
#include "interop/accelforge_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

namespace mapsim {

namespace {

constexpr int kDeepestSet = 64;  // parentheses inside of each other
constexpr std::string_view kBitsOf = ".bits_per_value";
constexpr std::string_view kBitsWord = "__bits_per_value";

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Python's precedences: | below ^ below & below - below ~.
class SetReader {
 public:
  SetReader(std::string_view text, const ForgeNames& names) : text_{text}, names_{names} {}

  ForgeSet run() {
    const ForgeSet set = choice();
    space();
    if (at_ != text_.size()) {
      fail(fmt::format("unexpected '{}'", text_.substr(at_, 12)));
    }
    return set;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw ExpressionError{at_, message}; }

  void space() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
  }

  bool sign(char c) {
    space();
    const bool here = at_ < text_.size() && text_[at_] == c;
    at_ += here ? 1 : 0;
    return here;
  }

  std::string_view word() {
    space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  bool keyword(std::string_view wanted) {
    const std::size_t before = at_;
    if (word() == wanted) {
      return true;
    }
    at_ = before;
    return false;
  }

  // A if CONDITION else B
  ForgeSet choice() {
    if (++depth_ > kDeepestSet) {
      fail("too many parentheses inside of each other");
    }
    ForgeSet set = any();
    if (keyword("if")) {
      const std::size_t end = text_.find(" else ", at_);
      if (end == std::string_view::npos) {
        fail("an 'if' needs an 'else'");
      }
      const std::string condition{text_.substr(at_, end - at_)};
      at_ = end;
      keyword("else");
      const ForgeSet other = choice();
      set = evaluate_number(condition, names_) != 0 ? set : other;
    }
    --depth_;
    return set;
  }

  static ForgeSet set(std::uint32_t surely, std::uint32_t maybe, const ForgeSet& like) {
    return {surely, maybe, like.of_dims};
  }

  void check_kinds(const ForgeSet& a, const ForgeSet& b) const {
    if (a.of_dims != b.of_dims) {
      fail("a set of tensors and one of rank variables cannot be combined");
    }
  }

  ForgeSet any() {
    ForgeSet left = either();
    while (sign('|')) {
      const ForgeSet right = either();
      check_kinds(left, right);
      left = set(left.surely | right.surely, left.maybe | right.maybe, left);
    }
    return left;
  }

  ForgeSet either() {
    ForgeSet left = both();
    while (sign('^')) {
      const ForgeSet right = both();
      check_kinds(left, right);
      left = set((left.surely & ~right.maybe) | (right.surely & ~left.maybe),
                 (left.maybe | right.maybe) & ~(left.surely & right.surely), left);
    }
    return left;
  }

  ForgeSet both() {
    ForgeSet left = without();
    while (sign('&')) {
      const ForgeSet right = without();
      check_kinds(left, right);
      left = set(left.surely & right.surely, left.maybe & right.maybe, left);
    }
    return left;
  }

  ForgeSet without() {
    ForgeSet left = negated();
    while (sign('-')) {
      const ForgeSet right = negated();
      check_kinds(left, right);
      left = set(left.surely & ~right.maybe, left.maybe & ~right.surely, left);
    }
    return left;
  }

  ForgeSet negated() {
    if (!sign('~')) {
      return member();
    }
    const ForgeSet of = negated();
    const std::uint32_t all = of.of_dims ? names_.dims : names_.tensors;
    return set(all & ~of.maybe, all & ~of.surely, of);
  }

  // GlobalBuffer.tensors and Inputs() are GlobalBuffer and Inputs.
  ForgeSet member() {
    ForgeSet found = named();
    for (;;) {
      if (sign('(')) {
        if (!sign(')')) {
          fail("a set takes no arguments");
        }
      } else if (sign('.')) {
        const std::string_view what = word();
        if (what == "rank_variables" && !found.of_dims) {
          found = {dims_of(found.surely), dims_of(found.maybe), true};
        } else if (what != "tensors") {
          fail(fmt::format("a set has no '{}'", what));
        }
      } else {
        return found;
      }
    }
  }

  std::uint32_t dims_of(std::uint32_t tensors) const {
    std::uint32_t dims = 0;
    for (std::size_t t = 0; t < names_.dims_of.size(); ++t) {
      dims |= ((tensors >> t) & 1U) != 0 ? names_.dims_of[t] : 0;
    }
    return dims;
  }

  ForgeSet named() {
    if (sign('(')) {
      const ForgeSet inside = choice();
      if (!sign(')')) {
        fail("expected ')'");
      }
      return inside;
    }
    space();
    const std::size_t begin = at_;
    const std::string name{word()};
    const auto found = names_.sets.find(name);
    if (found == names_.sets.end()) {
      at_ = begin;
      fail(name.empty() ? "expected a name"
                        : fmt::format("nothing is called '{}' here; a memory further out, a "
                                      "tensor or a rename may be named",
                                      name));
    }
    return found->second;
  }

  std::string_view text_;
  const ForgeNames& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void require_known(const ForgeSet& set, const std::string& name) {
  if (!set.is_known()) {
    throw ExpressionError{
        0, fmt::format("what '{}' holds depends on a choice that is left to the mapping", name)};
  }
}

ExpressionValue bits_per_value(const ForgeSet& set, const ForgeNames& names) {
  ExpressionValue bits;
  for (std::size_t t = 0; t < names.bits_of.size(); ++t) {
    if (((set.surely >> t) & 1U) != 0) {
      if (bits.defined() && bits.number != names.bits_of[t]) {
        throw ExpressionError{0, "bits_per_value of tensors that differ in it"};
      }
      bits = number_value(names.bits_of[t], true);
    }
  }
  return bits;
}

// No template is left here: --set gives no value to a name.
ExpressionValue value_of_expression(const std::string& text, const ExpressionNames& names) {
  try {
    return evaluate_expression(text, names, Undefined::kError);
  } catch (const UnsetName& error) {
    throw ExpressionError{error.offset(),
                          fmt::format("'{0}' has no value; 'variables: {{{0}: VALUE}}' in one of "
                                      "the files gives it one",
                                      error.name())};
  }
}

}  // namespace

ForgeSet evaluate_set(const std::string& text, const ForgeNames& names) {
  return SetReader{text, names}.run();
}

double evaluate_number(const std::string& text, const ForgeNames& names) {
  std::string rewritten = text;
  for (std::size_t at = rewritten.find(kBitsOf); at != std::string::npos;
       at = rewritten.find(kBitsOf, at)) {
    rewritten.replace(at, kBitsOf.size(), kBitsWord);
  }
  ExpressionNames find;
  find.find = [&names](const std::string& name) {
    if (name == "inf") {
      return number_value(std::numeric_limits<double>::infinity(), false);
    }
    const bool bits = name.ends_with(kBitsWord);
    const std::string known = bits ? name.substr(0, name.size() - kBitsWord.size()) : name;
    if (const auto set = names.sets.find(known); set != names.sets.end()) {
      require_known(set->second, known);
      const auto size = static_cast<std::size_t>(std::popcount(set->second.surely));
      return bits ? bits_per_value(set->second, names)
                  : list_value(std::vector<ExpressionValue>(size, text_value("")));
    }
    const auto number = names.numbers.find(name);
    return number == names.numbers.end() ? ExpressionValue{} : number_value(number->second, false);
  };
  const ExpressionValue value = value_of_expression(rewritten, find);
  if (value.kind == ExpressionValue::Kind::kBoolean) {
    return value.truth ? 1 : 0;
  }
  if (value.kind != ExpressionValue::Kind::kNumber) {
    if (value.kind == ExpressionValue::Kind::kList) {  // a set, as a condition
      return value.items.empty() ? 0 : 1;
    }
    throw ExpressionError{0, fmt::format("'{}' is not a number", text)};
  }
  return value.number;
}

double read_forge_number(Reader& reader, const Node& node, const ForgeNames& names) {
  try {
    return evaluate_number(node.text, names);
  } catch (const ExpressionError& error) {
    reader.error(node, error.offset(), error.what());
    return 1;
  }
}

std::vector<const Node*> read_forge_list(Reader& reader, const Node* list, std::string_view what) {
  const bool empty = list != nullptr && list->kind == Node::Kind::kSequence && list->items.empty();
  return list == nullptr || empty ? std::vector<const Node*>{} : reader.items(*list, what);
}

std::int64_t forge_count(double number) {
  constexpr double kMost = kMaxInteger;
  return std::isnan(number)
             ? 0
             : static_cast<std::int64_t>(std::clamp(std::floor(number), -kMost, kMost));
}

ForgeSet read_known_forge_set(Reader& reader, const Node& node, const ForgeNames& names) {
  const ForgeSet set = read_forge_set(reader, node, names);
  try {
    require_known(set, node.text);
  } catch (const ExpressionError& error) {
    reader.error(node, error.what());
  }
  return set;
}

ForgeSet read_forge_set(Reader& reader, const Node& node, const ForgeNames& names,
                        const ForgeSet& otherwise) {
  try {
    return evaluate_set(node.text, names);
  } catch (const ExpressionError& error) {
    reader.error(node, error.offset(), error.what());
    return otherwise;
  }
}

}  // namespace mapsim
