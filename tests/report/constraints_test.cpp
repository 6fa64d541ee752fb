// SPDX-License-Identifier: Apache-2.0
#include "report/constraints.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mapper/mapspace/constraints.hpp"
#include "small_problem.hpp"

namespace mapsim::constraints_test {
namespace {

std::string printed(const Problem& problem, const std::string& text) {
  return constraints_text(
      Mapspace{problem, parse_constraints("mapspace:\n" + text, "space.yaml", problem)});
}

// What is printed reads back to the same rules.
void expect_same(const std::string& text) {
  const Problem problem = testing::small_problem();
  const std::string once = printed(problem, text);
  EXPECT_EQ(parse_constraints(once, "printed.yaml", problem),
            parse_constraints("mapspace:\n" + text, "space.yaml", problem))
      << once;
}

TEST(ConstraintsText, SaysThatATileIsDone) {
  const Problem problem = testing::small_problem();
  const std::string text = printed(problem, "  extents: {GLB: {input: {K: done}}}\n");
  EXPECT_NE(text.find("{K: done}"), std::string::npos) << text;
}

TEST(ConstraintsText, ReadsBackToTheSameRules) {
  const std::string at = "  extents: {GLB: ";
  expect_same(at + "{input: {K: done}}}\n");
  expect_same(at + "{input: {K: done}, K: {max: 2}}}\n");
  expect_same(at + "{input: {K: done}, K: [1, 2]}}\n");
  expect_same(at + "{input: {K: {min: 2}}}}\n");
  expect_same("  tiling: even\n  factors: imperfect\n  pieces: 3\n  tiles: {K: [3]}\n");
}

}  // namespace
}  // namespace mapsim::constraints_test
