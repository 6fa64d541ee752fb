// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "costmodel/objective_function.hpp"

namespace mapsim {

// What is wrong with a formula, and where: an index into it, its size where the end comes too soon.
struct FormulaFault {
  std::string what;
  std::size_t at = 0;
};

// What parse_objective_function() reads.
std::variant<ObjectiveFunction, FormulaFault> read_formula(std::string_view text);

// `message`; below it the formula, and a caret at `at`.
std::string with_caret(const std::string& message, std::string_view formula, std::size_t at);

}  // namespace mapsim
