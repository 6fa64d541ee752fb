// SPDX-License-Identifier: Apache-2.0
#include "interop/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>

#include "interop/expression_functions.hpp"

namespace mapsim {

namespace {

using Value = ExpressionValue;
using Kind = Value::Kind;

constexpr int kDeepest = 64;  // parentheses inside of each other

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Evaluates while it reads. A part whose value is not wanted is read with `skips_`, so that what it
// refers to need not exist.
class Evaluator {
 public:
  Evaluator(std::string_view text, const ExpressionNames& names) : text_{text}, names_{names} {}

  Value run(Undefined undefined) {
    Value value = ternary();
    space();
    if (at_ != text_.size()) {
      fail(fmt::format("unexpected '{}'", text_.substr(at_, 12)));
    }
    return undefined == Undefined::kError ? defined(value) : value;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw ExpressionError{at_, message}; }

  // An operand, which must have a value wherever the value of its expression is wanted.
  const Value& defined(const Value& value) const {
    if (skips_ > 0 || value.defined()) {
      return value;
    }
    if (value.text.empty()) {
      fail(without_value(value));
    }
    const auto place = places_.find(value.text);
    throw UnsetName{place == places_.end() ? at_ : place->second, without_value(value), value.text};
  }

  bool holds(const Value& value) const { return is_true(defined(value)); }

  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }

  bool symbol(std::string_view sign) {
    space();
    if (text_.substr(at_, sign.size()) != sign) {
      return false;
    }
    at_ += sign.size();
    return true;
  }

  bool word(std::string_view name) {
    space();
    const std::size_t end = at_ + name.size();
    if (text_.substr(at_, name.size()) != name || (end < text_.size() && is_word(text_[end]))) {
      return false;
    }
    at_ = end;
    return true;
  }

  // Reads a part without its value.
  template <class Part>
  void skip(const Part& part) {
    ++skips_;
    part();
    --skips_;
  }

  // A if C else B: C decides which of the others has a value.
  Value ternary() {
    if (++depth_ > kDeepest) {
      fail("too many parentheses inside of each other");
    }
    space();
    const std::size_t begin = at_;
    skip([&] { disjunction(); });
    Value value;
    if (word("if")) {
      const bool yes = holds(disjunction());
      const std::size_t middle = at_;
      if (yes && skips_ == 0) {
        at_ = begin;
        value = disjunction();
        at_ = middle;
      }
      if (word("else")) {
        if (yes) {
          skip([&] { ternary(); });
        } else {
          value = ternary();
        }
      }
    } else if (skips_ == 0) {
      at_ = begin;
      value = disjunction();
    }
    --depth_;
    return value;
  }

  Value disjunction() {
    Value left = conjunction();
    while (word("or")) {
      if (holds(left)) {
        skip([&] { conjunction(); });
      } else {
        left = conjunction();
      }
    }
    return left;
  }

  Value conjunction() {
    Value left = negation();
    while (word("and")) {
      if (holds(left)) {
        left = negation();
      } else {
        skip([&] { negation(); });
      }
    }
    return left;
  }

  Value negation() {
    if (word("not")) {
      return boolean_value(!holds(negation()));
    }
    return comparison();
  }

  // a < b < c is a < b and b < c.
  Value comparison() {
    Value left = sum();
    std::optional<bool> all;
    for (;;) {
      const std::size_t before = at_;
      std::string_view sign;
      for (const std::string_view each : {"==", "!=", "<=", ">=", "<", ">"}) {
        sign = sign.empty() && symbol(each) ? each : sign;
      }
      const bool negated = sign.empty() && word("not");
      if (sign.empty() && !word("in")) {
        at_ = before;
        return all ? boolean_value(*all) : left;
      }
      const Value right = sum();
      if (skips_ == 0) {
        const bool one = sign.empty() ? is_member(defined(left), defined(right), at_) != negated
                                      : compares(defined(left), sign, defined(right), at_);
        all = all.value_or(true) && one;
      }
      left = right;
    }
  }

  // is [not] defined, none ...
  Value test(const Value& value) {
    const bool negated = word("not");
    space();
    const std::string name = name_here();
    if (name != "defined" && name != "undefined" && name != "none" && name != "None") {
      fail(fmt::format("a test 'is {}' is not known here", name));
    }
    const bool yes = name == "defined"     ? value.defined()
                     : name == "undefined" ? !value.defined()
                                           : value.kind == Kind::kNone;
    return boolean_value(yes != negated);
  }

  Value joined_texts() {
    Value left = product();
    while (symbol("~")) {
      const Value right = product();
      left = skips_ > 0 ? Value{} : text_value(to_text(defined(left)) + to_text(defined(right)));
    }
    return left;
  }

  Value sum() {
    Value left = joined_texts();
    for (;;) {
      space();
      const char sign = at_ < text_.size() ? text_[at_] : '\0';
      if (sign != '+' && sign != '-') {
        return left;
      }
      ++at_;
      const Value right = joined_texts();
      left = combined(left, std::string_view{sign == '+' ? "+" : "-"}, right);
    }
  }

  Value product() {
    Value left = power();
    for (;;) {
      std::string_view found;
      for (const std::string_view sign : {"//", "/", "%", "*"}) {
        space();
        if (text_.substr(at_, 2) == "%}" || (sign == "*" && text_.substr(at_, 2) == "**")) {
          continue;
        }
        if (symbol(sign)) {
          found = sign;
          break;
        }
      }
      if (found.empty()) {
        return left;
      }
      const Value right = power();
      left = combined(left, found, right);
    }
  }

  // Python and Jinja differ on -2 ** 2 and on 2 ** 3 ** 2.
  Value power() {
    space();
    const bool has_sign = text_.substr(at_, 1) == "-";
    const Value base = filtered();
    if (!symbol("**")) {
      return base;
    }
    const Value exponent = filtered();
    if (has_sign || symbol("**")) {
      fail("'**' after another or after a sign needs parentheses");
    }
    return combined(base, "**", exponent);
  }

  Value combined(const Value& a, std::string_view sign, const Value& b) const {
    return skips_ > 0 ? Value{} : combine(defined(a), sign, defined(b), at_);
  }

  // x | default(8) | ceil, x is defined
  Value filtered() {
    Value value = negative();
    for (;;) {
      if (word("is")) {
        value = test(value);
        continue;
      }
      if (!symbol("|")) {
        return value;
      }
      space();
      const std::string name = name_here();
      std::vector<Value> arguments{value};
      if (symbol("(")) {
        list_until(")", arguments);
      }
      const bool may_lack = name == "default" || name == "d";
      if (may_lack && value.defined() && arguments.size() > 2) {
        defined(arguments[2]);  // default(b, true) also replaces what is false
      }
      value = skips_ > 0 ? Value{}
                         : apply_filter(name, may_lack ? arguments : all_defined(arguments), at_);
    }
  }

  Value negative() {
    if (symbol("-")) {
      const Value value = negative();
      return skips_ > 0 ? Value{} : number_value(-number_of(defined(value), at_), value.whole);
    }
    return symbol("+") ? negative() : postfix();
  }

  Value postfix() {
    Value value = primary();
    for (;;) {
      if (symbol("[")) {
        const Value index = ternary();
        close("]");
        value = skips_ > 0 ? Value{} : element(value, index);
      } else if (text_.substr(at_, 1) == "." && at_ + 1 < text_.size() && is_word(text_[at_ + 1])) {
        ++at_;
        const std::string name = name_here();
        std::vector<Value> arguments;
        if (symbol("(")) {
          list_until(")", arguments);
          value = skips_ > 0 ? Value{}
                             : apply_method(defined(value), name, all_defined(arguments), at_);
        } else {
          value = skips_ > 0 ? Value{} : element(value, text_value(name));
        }
      } else {
        return value;
      }
    }
  }

  Value element(const Value& value, const Value& index) const {
    defined(value);
    defined(index);
    if (value.kind == Kind::kMap && index.kind == Kind::kText) {
      const auto key = std::find(value.keys.begin(), value.keys.end(), index.text);
      return key == value.keys.end()
                 ? Value{}
                 : value.items[static_cast<std::size_t>(key - value.keys.begin())];
    }
    if (value.kind == Kind::kList && index.kind == Kind::kNumber && index.whole) {
      const double size = static_cast<double>(value.items.size());
      const double place = index.number < 0 ? index.number + size : index.number;
      if (place >= 0 && place < size) {
        return value.items[static_cast<std::size_t>(place)];
      }
    }
    fail(fmt::format("nothing is called {} there", to_text(index)));
  }

  void close(std::string_view sign) {
    if (!symbol(sign)) {
      fail(fmt::format("expected '{}'", sign));
    }
  }

  const std::vector<Value>& all_defined(const std::vector<Value>& values) const {
    std::for_each(values.begin(), values.end(), [this](const Value& each) { defined(each); });
    return values;
  }

  void list_until(std::string_view sign, std::vector<Value>& values) {
    if (symbol(sign)) {
      return;
    }
    do {
      space();
      if (text_.substr(at_, sign.size()) == sign) {
        break;
      }
      values.push_back(ternary());
    } while (symbol(","));
    close(sign);
  }

  std::string name_here() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) {
      ++at_;
    }
    if (begin == at_) {
      fail("expected a name");
    }
    return std::string{text_.substr(begin, at_ - begin)};
  }

  Value primary() {
    space();
    if (at_ == text_.size()) {
      fail("the expression ends too early");
    }
    const char c = text_[at_];
    if (c == '(') {
      return in_parentheses();
    }
    if (c == '[') {
      ++at_;
      std::vector<Value> items;
      list_until("]", items);
      return list_value(all_defined(items));
    }
    if (c == '\'' || c == '"') {
      return quoted_text(c);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      return literal();
    }
    return named();
  }

  // (a) is a, (a, b) a list.
  Value in_parentheses() {
    ++at_;
    std::vector<Value> items;
    const std::size_t begin = at_;
    list_until(")", items);
    const bool tuple = text_.substr(begin, at_ - begin).find(',') != std::string_view::npos;
    return items.size() == 1 && (!tuple || text_[at_ - 2] != ',') ? items.front()
                                                                  : list_value(all_defined(items));
  }

  Value quoted_text(char quote) {
    std::string text;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 1 : 0;
      text += text_[at_];
    }
    if (at_ == text_.size()) {
      fail("a text without its end");
    }
    ++at_;
    return text_value(text);
  }

  Value literal() {
    const std::size_t begin = at_;
    bool whole = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent = (c == 'e' || c == 'E') && at_ > begin;
      const bool sign =
          (c == '+' || c == '-') && at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && !exponent && !sign) {
        break;
      }
      whole = whole && !exponent && c != '.';
      ++at_;
    }
    const std::string digits{text_.substr(begin, at_ - begin)};
    char* end = nullptr;
    const double number = std::strtod(digits.c_str(), &end);
    if (*end != '\0' || (at_ < text_.size() && is_word(text_[at_]))) {
      at_ = begin;
      fail("not a number");
    }
    return number_value(number, whole);
  }

  Value named() {
    const std::size_t begin = at_;
    const std::string name = name_here();
    if (symbol("(")) {
      std::vector<Value> arguments;
      list_until(")", arguments);
      if (skips_ > 0) {
        return {};
      }
      Value value = call_function(name, all_defined(arguments), begin);
      value = value.defined() || !names_.call ? value : names_.call(name, arguments);
      if (!value.defined()) {
        throw ExpressionError{begin, fmt::format("no function '{}' is known here", name)};
      }
      return value;
    }
    for (const char* yes : {"True", "true"}) {
      if (name == yes) {
        return boolean_value(true);
      }
    }
    for (const char* no : {"False", "false"}) {
      if (name == no) {
        return boolean_value(false);
      }
    }
    if (name == "None" || name == "none") {
      Value none;
      none.kind = Kind::kNone;
      return none;
    }
    Value value = skips_ > 0 || !names_.find ? Value{} : names_.find(name);
    if (!value.defined() && value.text.empty()) {
      value.text = name;  // for whoever needs its value
    }
    if (skips_ == 0 && !value.defined()) {
      places_.insert_or_assign(value.text, begin);
    }
    return value;
  }

  std::string_view text_;
  const ExpressionNames& names_;
  std::map<std::string, std::size_t> places_;  // where names without a value stand
  std::size_t at_ = 0;
  int skips_ = 0;
  int depth_ = 0;
};

}  // namespace

ExpressionValue evaluate_expression(std::string_view text, const ExpressionNames& names,
                                    Undefined undefined) {
  return Evaluator{text, names}.run(undefined);
}

}  // namespace mapsim
