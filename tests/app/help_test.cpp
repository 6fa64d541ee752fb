// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/command_line.hpp"

namespace mapsim::help_test {
namespace {

using ::testing::HasSubstr;

TEST_F(CommandLine, HelpsWithTheFormatThatIsNamed) {
  const std::string scalesim = run("import scalesim --help").out;
  EXPECT_THAT(scalesim, HasSubstr("Configuration and topology"));
  for (const char* other : {"--ert", "--dim", "--problem", "--set", "zigzag:", "T4 JSON"}) {
    EXPECT_THAT(scalesim, ::testing::Not(HasSubstr(other)));
  }
  EXPECT_THAT(scalesim, HasSubstr("  mapsim import scalesim array.cfg"));
  EXPECT_THAT(scalesim, ::testing::Not(HasSubstr("mapsim import onnx")));
  EXPECT_THAT(run("import onnx --help").out, HasSubstr("--dim"));
  EXPECT_THAT(run("import --help").out, HasSubstr("--ert"));
  const std::string cuda = run("export cuda --help").out;
  EXPECT_THAT(cuda, HasSubstr("A kernel as search"));
  EXPECT_THAT(cuda, HasSubstr("--relu"));
  EXPECT_THAT(run("export timeloop --help").out, ::testing::Not(HasSubstr("--relu")));
  EXPECT_THAT(run("compare --help").out, ::testing::Not(HasSubstr("accelforge")));
}

// Options stand under headings, and no line is wider than a window of a hundred columns.
TEST_F(CommandLine, HelpIsGroupedAndWrapped) {
  const std::string help = run("search --help").out;
  for (const char* heading : {"Objective and limits:", "Time and memory:", "GPUs:"}) {
    EXPECT_THAT(help, HasSubstr(fmt::format("\n\n{}\n", heading)));
  }
  EXPECT_THAT(help, ::testing::Not(HasSubstr("Excludes:")));
  EXPECT_THAT(run("import scalesim --help").out, HasSubstr("-o,--out PATH (required)"));
  for (const char* command : {"search", "eval", "validate", "import"}) {
    std::istringstream lines{run(fmt::format("{} --help", command)).out};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

}  // namespace
}  // namespace mapsim::help_test
