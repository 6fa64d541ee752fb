// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "interop/expression.hpp"

namespace mapsim {

// What an expression computes with. `at`: the byte of the expression to complain about; all throw
// ExpressionError where there is no value.

// What to say of a value that is wanted and not there: which name has none.
std::string without_value(const ExpressionValue& undefined);
double number_of(const ExpressionValue& value, std::size_t at);
// 1, 1.0 and True are equal.
bool is_equal(const ExpressionValue& a, const ExpressionValue& b);
// a + b and so on; texts and lists are joined by +.
ExpressionValue combine(const ExpressionValue& a, std::string_view sign, const ExpressionValue& b,
                        std::size_t at);
// max(a, b), ceil(a) ...; kUndefined: no such function.
ExpressionValue call_function(const std::string& name,
                              const std::vector<ExpressionValue>& arguments, std::size_t at);
// a | default(b): the filtered value is the first argument.
ExpressionValue apply_filter(const std::string& name, const std::vector<ExpressionValue>& arguments,
                             std::size_t at);
// a.items() ...
ExpressionValue apply_method(const ExpressionValue& value, const std::string& name,
                             const std::vector<ExpressionValue>& arguments, std::size_t at);

}  // namespace mapsim
