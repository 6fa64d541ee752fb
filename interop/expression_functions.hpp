// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "interop/expression.hpp"

namespace mapsim {

// The operations of expressions. `at`: the byte of the expression that an error names. They throw
// ExpressionError if there is no value.

// The error of using an undefined value, which names it.
std::string without_value(const ExpressionValue& undefined);
double number_of(const ExpressionValue& value, std::size_t at);
// 1, 1.0 and True are equal.
bool is_equal(const ExpressionValue& a, const ExpressionValue& b);
// a < b and so on.
bool compares(const ExpressionValue& a, std::string_view sign, const ExpressionValue& b,
              std::size_t at);
bool is_member(const ExpressionValue& value, const ExpressionValue& among, std::size_t at);
// a + b and so on; + joins texts and lists.
ExpressionValue combine(const ExpressionValue& a, std::string_view sign, const ExpressionValue& b,
                        std::size_t at);
// max(a, b), ceil(a) ...; kUndefined: no such function.
ExpressionValue call_function(const std::string& name,
                              const std::vector<ExpressionValue>& arguments, std::size_t at);
// a | default(b): the filtered value is the first argument.
ExpressionValue apply_filter(const std::string& name, const std::vector<ExpressionValue>& arguments,
                             std::size_t at);
// a.items() and so on.
ExpressionValue apply_method(const ExpressionValue& value, const std::string& name,
                             const std::vector<ExpressionValue>& arguments, std::size_t at);

}  // namespace mapsim
