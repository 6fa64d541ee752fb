// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mapsim {

// A value of Python, with which templates and attributes of other tools' designs compute.
struct ExpressionValue {
  enum class Kind : std::uint8_t { kUndefined, kNone, kBoolean, kNumber, kText, kList, kMap };
  Kind kind = Kind::kUndefined;
  bool truth = false;
  double number = 0;
  bool whole = true;                   // is the number an int of Python?
  std::string text;                    // of an undefined value, the name without a value
  std::vector<ExpressionValue> items;  // of a list; the values of a map
  std::vector<std::string> keys;       // of a map
  bool defined() const { return kind != Kind::kUndefined; }
  friend bool operator==(const ExpressionValue&, const ExpressionValue&) = default;
};
ExpressionValue number_value(double number, bool whole);
ExpressionValue text_value(std::string text);
ExpressionValue boolean_value(bool truth);
ExpressionValue list_value(std::vector<ExpressionValue> items);

// The text that Python's str() gives; lists and maps as YAML in one line.
std::string to_text(const ExpressionValue& value);
bool is_true(const ExpressionValue& value);  // as Python's bool()

// An error of an expression, and the byte of its text where it is.
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t offset, const std::string& message)
      : std::runtime_error{message}, offset_{offset} {}
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

// The value of a name is wanted that has none; the byte is where the name stands.
class UnsetName : public ExpressionError {
 public:
  UnsetName(std::size_t offset, const std::string& message, std::string name)
      : ExpressionError{offset, message}, name_{std::move(name)} {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// The names to which an expression may refer.
struct ExpressionNames {
  std::function<ExpressionValue(const std::string&)> find;  // kUndefined: no such name
  // Calls a function that is not one of those below; kUndefined: there is none.
  std::function<ExpressionValue(const std::string&, const std::vector<ExpressionValue>&)> call;
};

// May an expression as a whole be undefined, as `x` is in `set y = x`?
enum class Undefined : std::uint8_t { kAllowed, kError };

// Evaluates an expression of the part of Python (and of Jinja's filters and tests) that designs
// use: numbers, texts, lists, arithmetic, comparisons, `a if b else c`, `x | default(8)`, `x is
// defined`, and functions such as max, min, ceil, floor, log2, sqrt, len and range. As with Jinja's
// StrictUndefined, no operand, condition or argument may be undefined but those of default() and of
// `is`, and those that are not evaluated. Throws UnsetName then, and ExpressionError if it is no
// such expression, or has no value.
ExpressionValue evaluate_expression(std::string_view text, const ExpressionNames& names,
                                    Undefined undefined = Undefined::kAllowed);

}  // namespace mapsim
