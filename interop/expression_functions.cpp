// SPDX-License-Identifier: Apache-2.0
#include "interop/expression_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace mapsim {

namespace {

using Value = ExpressionValue;
using Kind = Value::Kind;

constexpr double kLongestRange = 1 << 16;  // of a range

struct NumberFunction {
  std::string_view name;
  double (*apply)(double);
  bool whole;  // of whatever it is applied to
};
constexpr std::array kNumberFunctions{
    NumberFunction{"ceil", [](double x) { return std::ceil(x); }, true},
    NumberFunction{"floor", [](double x) { return std::floor(x); }, true},
    NumberFunction{"round", [](double x) { return std::nearbyint(x); }, true},
    NumberFunction{"int", [](double x) { return std::trunc(x); }, true},
    NumberFunction{"float", [](double x) { return x; }, false},
    NumberFunction{"log2", [](double x) { return std::log2(x); }, false},
    NumberFunction{"log10", [](double x) { return std::log10(x); }, false},
    NumberFunction{"sqrt", [](double x) { return std::sqrt(x); }, false},
    NumberFunction{"exp", [](double x) { return std::exp(x); }, false}};

Value checked(double number, bool whole, std::size_t at) {
  if (!std::isfinite(number)) {
    throw ExpressionError{at, "the result is no finite number"};
  }
  return number_value(number, whole);
}

const Value& argument(const std::vector<Value>& arguments, std::size_t i, std::size_t at) {
  if (i >= arguments.size()) {
    throw ExpressionError{at, "too few arguments"};
  }
  return arguments[i];
}

Value extreme(const std::vector<Value>& arguments, bool largest, std::size_t at) {
  const std::vector<Value>& among = arguments.size() == 1 && arguments.front().kind == Kind::kList
                                        ? arguments.front().items
                                        : arguments;
  argument(among, 0, at);
  Value best = among.front();
  for (const Value& each : among) {
    const double x = number_of(each, at);
    best = (largest ? x > number_of(best, at) : x < number_of(best, at)) ? each : best;
  }
  number_of(best, at);
  return best;
}

Value number_range(const std::vector<Value>& arguments, std::size_t at) {
  const double first = arguments.size() > 1 ? number_of(arguments[0], at) : 0;
  const double end = number_of(argument(arguments, arguments.size() > 1 ? 1 : 0, at), at);
  const double step = arguments.size() > 2 ? number_of(arguments[2], at) : 1;
  if (step == 0 || std::abs((end - first) / step) > kLongestRange) {
    throw ExpressionError{at, "a range without an end"};
  }
  std::vector<Value> items;
  for (double x = first; step > 0 ? x < end : x > end; x += step) {
    items.push_back(number_value(x, true));
  }
  return list_value(std::move(items));
}

Value length_of(const Value& value, std::size_t at) {
  if (value.kind == Kind::kText) {
    return number_value(static_cast<double>(value.text.size()), true);
  }
  if (value.kind != Kind::kList && value.kind != Kind::kMap) {
    throw ExpressionError{at, "a length needs a text, a list or a map"};
  }
  return number_value(static_cast<double>(value.items.size()), true);
}

Value changed_case(const Value& value, bool upper) {
  std::string text = to_text(value);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    c = static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
  }
  return text_value(text);
}

Value joined_items(const std::vector<Value>& arguments, std::size_t at) {
  const Value& list = argument(arguments, 0, at);
  std::string text;
  for (const Value& each : list.items) {
    text += (text.empty() || arguments.size() < 2 ? "" : to_text(arguments[1])) + to_text(each);
  }
  return text_value(text);
}

}  // namespace

ExpressionValue number_value(double number, bool whole) {
  Value value;
  value.kind = Kind::kNumber;
  value.number = number;
  value.whole = whole;
  return value;
}

ExpressionValue text_value(std::string text) {
  Value value;
  value.kind = Kind::kText;
  value.text = std::move(text);
  return value;
}

ExpressionValue boolean_value(bool truth) {
  Value value;
  value.kind = Kind::kBoolean;
  value.truth = truth;
  return value;
}

ExpressionValue list_value(std::vector<ExpressionValue> items) {
  Value value;
  value.kind = Kind::kList;
  value.items = std::move(items);
  return value;
}

namespace {

// Inside of a list a text has quotes, so that '1' is no number.
std::string text_inside(const Value& value) {
  return value.kind == Kind::kText ? "'" + value.text + "'" : to_text(value);
}

}  // namespace

std::string to_text(const ExpressionValue& value) {
  switch (value.kind) {
    case Kind::kUndefined:
      return "";
    case Kind::kNone:
      return "None";
    case Kind::kBoolean:
      return value.truth ? "True" : "False";
    case Kind::kNumber:
      return value.whole ? fmt::format("{:.0f}", value.number)
             : value.number == std::floor(value.number) && std::abs(value.number) < 1e15
                 ? fmt::format("{:.1f}", value.number)
                 : fmt::format("{}", value.number);
    case Kind::kText:
      return value.text;
    case Kind::kList:
    case Kind::kMap: {
      const bool map = value.kind == Kind::kMap;
      std::string text;
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        text += (i > 0 ? ", " : "") +
                (map ? text_inside(text_value(value.keys[i])) + ": " : std::string{}) +
                text_inside(value.items[i]);
      }
      return map ? "{" + text + "}" : "[" + text + "]";
    }
  }
  return "";
}

bool is_true(const ExpressionValue& value) {
  switch (value.kind) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBoolean:
      return value.truth;
    case Kind::kNumber:
      return value.number != 0;
    case Kind::kText:
      return !value.text.empty();
    case Kind::kList:
    case Kind::kMap:
      return !value.items.empty();
  }
  return false;
}

std::string without_value(const ExpressionValue& undefined) {
  return undefined.text.empty()
             ? "a name without a value"
             : fmt::format("'{0}' has no value; --set {0}=VALUE gives it one", undefined.text);
}

double number_of(const ExpressionValue& value, std::size_t at) {
  if (value.kind == Kind::kBoolean) {
    return value.truth ? 1 : 0;
  }
  if (value.kind != Kind::kNumber) {
    throw ExpressionError{at, value.defined() ? fmt::format("'{}' is not a number", to_text(value))
                                              : without_value(value)};
  }
  return value.number;
}

bool is_equal(const ExpressionValue& a, const ExpressionValue& b) {
  const auto is_number = [](const Value& value) {
    return value.kind == Kind::kNumber || value.kind == Kind::kBoolean;
  };
  if (!a.defined() || !b.defined()) {
    return a.defined() == b.defined();
  }
  return is_number(a) && is_number(b) ? number_of(a, 0) == number_of(b, 0) : a == b;
}

bool compares(const ExpressionValue& a, std::string_view sign, const ExpressionValue& b,
              std::size_t at) {
  if (sign == "==" || sign == "!=") {
    return is_equal(a, b) == (sign == "==");
  }
  if (a.kind == Kind::kText && b.kind == Kind::kText) {
    return sign == "<"    ? a.text < b.text
           : sign == ">"  ? a.text > b.text
           : sign == "<=" ? a.text <= b.text
                          : a.text >= b.text;
  }
  const double x = number_of(a, at), y = number_of(b, at);
  return sign == "<" ? x < y : sign == ">" ? x > y : sign == "<=" ? x <= y : x >= y;
}

bool is_member(const ExpressionValue& value, const ExpressionValue& among, std::size_t at) {
  if (among.kind == Kind::kText && value.kind == Kind::kText) {
    return among.text.find(value.text) != std::string::npos;
  }
  if (among.kind == Kind::kMap) {
    return std::find(among.keys.begin(), among.keys.end(), value.text) != among.keys.end();
  }
  if (among.kind != Kind::kList) {
    throw ExpressionError{at, "'in' needs a list"};
  }
  return std::any_of(among.items.begin(), among.items.end(),
                     [&](const Value& each) { return is_equal(each, value); });
}

ExpressionValue combine(const ExpressionValue& a, std::string_view sign, const ExpressionValue& b,
                        std::size_t at) {
  if (sign == "+" && a.kind == Kind::kText && b.kind == Kind::kText) {
    return text_value(a.text + b.text);
  }
  if (sign == "+" && a.kind == Kind::kList && b.kind == Kind::kList) {
    Value sum = a;
    sum.items.insert(sum.items.end(), b.items.begin(), b.items.end());
    return sum;
  }
  const double x = number_of(a, at), y = number_of(b, at);
  const bool whole = a.whole && b.whole;
  if ((sign == "/" || sign == "//" || sign == "%") && y == 0) {
    throw ExpressionError{at, "a division by zero"};
  }
  if (sign == "**") {
    return checked(std::pow(x, y), whole && y >= 0, at);
  }
  return sign == "+"    ? checked(x + y, whole, at)
         : sign == "-"  ? checked(x - y, whole, at)
         : sign == "*"  ? checked(x * y, whole, at)
         : sign == "/"  ? checked(x / y, false, at)
         : sign == "//" ? checked(std::floor(x / y), whole, at)
                        : checked(x - y * std::floor(x / y), whole, at);
}

ExpressionValue call_function(const std::string& name,
                              const std::vector<ExpressionValue>& arguments, std::size_t at) {
  for (const NumberFunction& each : kNumberFunctions) {
    if (name == each.name && arguments.size() == 1) {
      return checked(each.apply(number_of(arguments[0], at)), each.whole, at);
    }
  }
  if (name == "max" || name == "min") {
    return extreme(arguments, name == "max", at);
  }
  if (name == "log") {
    const double base = arguments.size() > 1 ? std::log(number_of(arguments[1], at)) : 1;
    return checked(std::log(number_of(argument(arguments, 0, at), at)) / base, false, at);
  }
  if (name == "pow") {
    return combine(argument(arguments, 0, at), "**", argument(arguments, 1, at), at);
  }
  if (name == "abs") {
    const Value& value = argument(arguments, 0, at);
    return number_value(std::abs(number_of(value, at)), value.whole);
  }
  if (name == "sum") {
    Value total = number_value(0, true);
    for (const Value& each : argument(arguments, 0, at).items) {
      total = combine(total, "+", each, at);
    }
    return total;
  }
  if (name == "len") {
    return length_of(argument(arguments, 0, at), at);
  }
  if (name == "str") {
    return text_value(to_text(argument(arguments, 0, at)));
  }
  if (name == "dict" && arguments.empty()) {
    Value map;
    map.kind = Kind::kMap;
    return map;
  }
  return name == "range" ? number_range(arguments, at) : Value{};
}

ExpressionValue apply_filter(const std::string& name, const std::vector<ExpressionValue>& arguments,
                             std::size_t at) {
  const Value& value = arguments.front();
  if (name == "default" || name == "d") {
    const bool also_false = arguments.size() > 2 && is_true(arguments[2]);
    return value.defined() && (!also_false || is_true(value)) ? value : argument(arguments, 1, at);
  }
  if (name == "length" || name == "count") {
    return length_of(value, at);
  }
  if (name == "string") {
    return text_value(to_text(value));
  }
  if (name == "upper" || name == "lower") {
    return changed_case(value, name == "upper");
  }
  if (name == "join") {
    return joined_items(arguments, at);
  }
  if (name == "list" || (name == "indent" && !is_true(value))) {
    return value;  // lists are lists, and an empty text has no lines to indent
  }
  const Value result = call_function(name, arguments, at);
  if (!result.defined()) {
    throw ExpressionError{at, fmt::format("no filter '{}' is known here", name)};
  }
  return result;
}

ExpressionValue apply_method(const ExpressionValue& value, const std::string& name,
                             const std::vector<ExpressionValue>& arguments, std::size_t at) {
  if (value.kind == Kind::kMap && arguments.empty()) {
    std::vector<Value> found;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Value key = text_value(value.keys[i]);
      found.push_back(name == "items"    ? list_value({key, value.items[i]})
                      : name == "values" ? value.items[i]
                                         : key);
    }
    if (name == "items" || name == "keys" || name == "values") {
      return list_value(std::move(found));
    }
  }
  throw ExpressionError{at, fmt::format("no method '{}' is known here", name)};
}

}  // namespace mapsim
