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

// A value of Python, as templates and attributes of other tools' designs compute with it.
struct ExpressionValue {
  enum class Kind : std::uint8_t { kUndefined, kNone, kBoolean, kNumber, kText, kList, kMap };
  Kind kind = Kind::kUndefined;
  bool truth = false;
  double number = 0;
  bool whole = true;                   // of a number: Python's int
  std::string text;                    // of an undefined value: the name that has none
  std::vector<ExpressionValue> items;  // of a list; of a map its values
  std::vector<std::string> keys;       // of a map
  bool defined() const { return kind != Kind::kUndefined; }
  friend bool operator==(const ExpressionValue&, const ExpressionValue&) = default;
};
ExpressionValue number_value(double number, bool whole);
ExpressionValue text_value(std::string text);
ExpressionValue boolean_value(bool truth);
ExpressionValue list_value(std::vector<ExpressionValue> items);

// As Python's str() writes it; a list and a map as YAML in one line.
std::string to_text(const ExpressionValue& value);
bool is_true(const ExpressionValue& value);

// What is wrong with an expression, and at which byte of it.
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t offset, const std::string& message)
      : std::runtime_error{message}, offset_{offset} {}
  std::size_t offset() const { return offset_; }

 private:
  std::size_t offset_;
};

// What an expression may refer to.
struct ExpressionNames {
  std::function<ExpressionValue(const std::string&)> find;  // kUndefined: no such name
  // A function that is not one of those below; kUndefined: there is none.
  std::function<ExpressionValue(const std::string&, const std::vector<ExpressionValue>&)> call;
};

// The value of the part of Python (and of Jinja's filters and tests) that designs use: numbers,
// texts, lists, arithmetic, comparisons, `a if b else c`, `x | default(8)`, `x is defined`, and
// max, min, ceil, floor, log2, sqrt, len, range and the like. Throws ExpressionError: not such an
// expression, or without a value.
ExpressionValue evaluate_expression(std::string_view text, const ExpressionNames& names);

}  // namespace mapsim
