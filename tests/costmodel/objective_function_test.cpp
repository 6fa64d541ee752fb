// SPDX-License-Identifier: Apache-2.0
#include "costmodel/objective_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

#include "costmodel/objective_formula.hpp"

namespace mapsim::objective_function_test {
namespace {

TEST(ObjectiveFunction, IsReadAsItIsPrinted) {
  for (const ObjectiveFunction& function :
       {ObjectiveFunction::product(1, 0), ObjectiveFunction::product(0, 1),
        ObjectiveFunction::product(1, 1), ObjectiveFunction::product(2, 0.5),
        ObjectiveFunction::product(0, 8), ObjectiveFunction::weighted_sum(12.5)}) {
    const auto read = parse_objective_function(to_string(function));
    ASSERT_TRUE(std::holds_alternative<ObjectiveFunction>(read)) << to_string(function);
    EXPECT_EQ(std::get<ObjectiveFunction>(read), function) << to_string(function);
  }
}

TEST(ObjectiveFunction, SaysWhatIsWrongWithItsText) {
  for (const auto& [text, says] :
       {std::pair{"energy^", "expected a number from 0 to 8, not the end"},
        {"energy^ *latency", "expected a number from 0 to 8, not '*'"},
        {"energy*", "expected energy, latency or edp, not the end"},
        {"energy * * latency", "expected energy, latency or edp, not '*'"},
        {"", "expected energy, latency or edp, not the end"},
        {"energy^two", "'two' is not a number from 0 to 8"},
        {"energy^2x", "'2x' is not a number from 0 to 8"},
        {"energy^inf", "'inf' is not a number from 0 to 8"},
        {"energy*latency^-0.5", "'-0.5' is not a number from 0 to 8"},
        {"energy^8.5", "powers are at most 8"},
        {"energy^4*energy^4.5", "powers are at most 8"},
        {"latency^9", "powers are at most 8"},
        {"energy^0", "it is the same for every mapping"},
        {"energy*area", "there is no figure 'area'"},
        {"enrgy", "there is no figure 'enrgy' (did you mean 'energy'?)"}}) {
    const auto read = parse_objective_function(text);
    ASSERT_TRUE(std::holds_alternative<std::string>(read)) << text;
    EXPECT_EQ(std::get<std::string>(read), says) << text;
  }
}

TEST(ObjectiveFunction, ShowsWithACaretWhereItsTextIsWrong) {
  const auto shown = [](std::string_view text) {
    const auto read = read_formula(text);
    return with_caret("no", text, std::get<FormulaFault>(read).at);
  };
  EXPECT_EQ(shown("energy*"), "no\nenergy*\n       ^");
  EXPECT_EQ(shown("energy * * latency"), "no\nenergy * * latency\n         ^");
  EXPECT_EQ(shown("edp*latncy^2"), "no\nedp*latncy^2\n    ^");
  EXPECT_EQ(shown("energy*latency^ two"), "no\nenergy*latency^ two\n                ^");
  EXPECT_EQ(shown("energy^4*energy^4.5"), "no\nenergy^4*energy^4.5\n         ^");
  EXPECT_EQ(shown(""), "no");
  EXPECT_EQ(shown("energy\n*"), "no\nenergy *\n^");
  EXPECT_EQ(shown("energy + 0*latency"), "no\nenergy + 0*latency\n         ^");
}

}  // namespace
}  // namespace mapsim::objective_function_test
