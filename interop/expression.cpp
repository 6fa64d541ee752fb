// SPDX-License-Identifier: Apache-2.0
#include "interop/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
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

  Value run() {
    Value value = ternary();
    space();
    if (at_ != text_.size()) {
      fail(fmt::format("unexpected '{}'", text_.substr(at_, 12)));
    }
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw ExpressionError{at_, message}; }

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
      const bool yes = is_true(disjunction());
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
      if (is_true(left)) {
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
      if (is_true(left)) {
        left = negation();
      } else {
        skip([&] { negation(); });
      }
    }
    return left;
  }

  Value negation() {
    if (word("not")) {
      return boolean_value(!is_true(negation()));
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
        const bool one =
            sign.empty() ? is_member(left, right) != negated : holds(left, sign, right);
        all = all.value_or(true) && one;
      }
      left = right;
    }
  }

  bool holds(const Value& a, std::string_view sign, const Value& b) const {
    if (sign == "==" || sign == "!=") {
      return is_equal(a, b) == (sign == "==");
    }
    if (a.kind == Kind::kText && b.kind == Kind::kText) {
      return sign == "<"    ? a.text < b.text
             : sign == ">"  ? a.text > b.text
             : sign == "<=" ? a.text <= b.text
                            : a.text >= b.text;
    }
    const double x = number_of(a, at_), y = number_of(b, at_);
    return sign == "<" ? x < y : sign == ">" ? x > y : sign == "<=" ? x <= y : x >= y;
  }

  bool is_member(const Value& value, const Value& among) const {
    if (among.kind == Kind::kText && value.kind == Kind::kText) {
      return among.text.find(value.text) != std::string::npos;
    }
    if (among.kind == Kind::kMap) {
      return value.defined() &&
             std::find(among.keys.begin(), among.keys.end(), value.text) != among.keys.end();
    }
    if (among.kind != Kind::kList) {
      fail("'in' needs a list");
    }
    return std::any_of(among.items.begin(), among.items.end(),
                       [&](const Value& each) { return is_equal(each, value); });
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
      if (skips_ == 0 && !(left.defined() && right.defined())) {
        fail(without_value(left.defined() ? right : left));
      }
      left = skips_ > 0 ? Value{} : text_value(to_text(left) + to_text(right));
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
      left = skips_ > 0 ? Value{}
                        : combine(left, std::string_view{sign == '+' ? "+" : "-"}, right, at_);
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
      left = skips_ > 0 ? Value{} : combine(left, found, right, at_);
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
    return skips_ > 0 ? Value{} : combine(base, "**", exponent, at_);
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
      value = skips_ > 0 ? Value{} : apply_filter(name, arguments, at_);
    }
  }

  Value negative() {
    if (symbol("-")) {
      const Value value = negative();
      return skips_ > 0 ? Value{} : number_value(-number_of(value, at_), value.whole);
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
          value = skips_ > 0 ? Value{} : apply_method(value, name, arguments, at_);
        } else {
          value = skips_ > 0 ? Value{} : element(value, text_value(name));
        }
      } else {
        return value;
      }
    }
  }

  Value element(const Value& value, const Value& index) const {
    if (!value.defined()) {
      fail(without_value(value));
    }
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
      return list_value(std::move(items));
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
                                                                  : list_value(std::move(items));
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
      Value value = call_function(name, arguments, begin);
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
    return value;
  }

  std::string_view text_;
  const ExpressionNames& names_;
  std::size_t at_ = 0;
  int skips_ = 0;
  int depth_ = 0;
};

}  // namespace

ExpressionValue evaluate_expression(std::string_view text, const ExpressionNames& names) {
  return Evaluator{text, names}.run();
}

}  // namespace mapsim
