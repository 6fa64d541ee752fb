// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/diagnostic.hpp"
#include "interop/timeloop_import.hpp"
#include "tests/interop/timeloop_design.hpp"

// Designs of version 0.4, which Timeloop's front end rewrites before Timeloop reads them.
namespace mapsim::timeloop_v4_test {
namespace {

using ::testing::HasSubstr;
using timeloop_design::kMapping;
using timeloop_design::kNodes;
using timeloop_design::kProblem;

std::string with(std::string text, const std::string& old, const std::string& now) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), now);
}

std::string error_of(const std::string& design) {
  try {
    parse_timeloop(design, "d.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was read";
}

// Each row: a text of the design, and the same as arithmetic of numbers alone.
struct Arithmetic {
  const char* name;
  const char* number;
  const char* expression;
};
void PrintTo(const Arithmetic& each, std::ostream* out) { *out << each.name; }

class TimeloopArithmetic : public ::testing::TestWithParam<Arithmetic> {};

TEST_P(TimeloopArithmetic, OfNumbersAloneIsEvaluated) {
  const std::string design =
      "variables: {version: 0.4, global_cycle_seconds: 2e-9}\n"
      "sparse_optimizations: {targets: [{name: mac, compute_optimization: [{type: gating}]}]}\n" +
      kNodes + with(kProblem, "densities: {}", "densities: {Weights: 0.5}") + kMapping;
  const auto [name, number, expression] = GetParam();
  const TimeloopImport one = parse_timeloop(design, "d.yaml");
  const TimeloopImport other = parse_timeloop(with(design, number, expression), "d.yaml");
  EXPECT_EQ(one.design.machine, other.design.machine);
  EXPECT_EQ(one.design.workload, other.design.workload);
  EXPECT_EQ(one.design.blocks, other.design.blocks);
  EXPECT_EQ(one.notes, other.notes);
}

INSTANTIATE_TEST_SUITE_P(
    Designs, TimeloopArithmetic,
    ::testing::Values(Arithmetic{"attribute", "depth: 512", "depth: 2 ** 9"},
                      Arithmetic{"call", "depth: 512", "depth: int(512.0)"},
                      Arithmetic{"condition", "depth: 512", "depth: 512 if True else 2"},
                      Arithmetic{"mesh", "meshX: 4", "meshX: 2 * 2"},
                      Arithmetic{"size", "P: 10", "P: 2 * 5"},
                      Arithmetic{"coefficient", "Stride, default: 1", "Stride, default: 3 - 2"},
                      Arithmetic{"density", "Weights: 0.5", "Weights: 1 / 2"},
                      Arithmetic{"factor", "[K=4,", "[K=2 * 2,"},
                      Arithmetic{"factors", "R3 K2", "R=1+2 K=2*1"},
                      Arithmetic{"split", "split: 1", "split: 2 - 1"},
                      Arithmetic{"variable", "seconds: 2e-9", "seconds: 2*1e-9"}),
    [](const auto& row) { return std::string{row.param.name}; });

TEST(TimeloopArithmetic, OfTheWidthOfAMacCounts) {
  const auto energy = [](const std::string& width) {
    return parse_timeloop(
               with(kNodes, "class: intmac\n      attributes: {",
                    "class: intmac\n      attributes: {multiplier_width: " + width + ", ") +
                   kProblem,
               "d.yaml")
        .design.machine.compute_energy;
  };
  EXPECT_EQ(energy("2*4"), energy("8"));
  EXPECT_NE(energy("2*4"), energy("2"));
}

// No number is read from the beginning of a text.
TEST(TimeloopArithmetic, DoesNotReadTheFirstNumberOfAText) {
  EXPECT_THAT(error_of(with(kNodes, "class: intmac\n      attributes: {",
                            "class: intmac\n      attributes: {multiplier_width: 8b, ")),
              HasSubstr("'8b' is not a number"));
  EXPECT_THAT(error_of(with(kNodes, "{depth: 24,", "{metadata_storage_depth: 4 rows, depth: 24,")),
              HasSubstr("'4 rows' is not a number"));
}

}  // namespace
}  // namespace mapsim::timeloop_v4_test
