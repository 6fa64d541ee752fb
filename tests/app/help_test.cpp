// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/command_line.hpp"

namespace mapsim {
namespace {

using ::testing::HasSubstr;

TEST_F(CommandLine, HelpsWithTheFormatThatIsNamed) {
  const std::string scalesim = run("import scalesim --help").out;
  EXPECT_THAT(scalesim, HasSubstr("configuration and topology"));
  for (const char* other : {"--ert", "--dim", "--problem", "--set", "zigzag:", "T4 JSON"}) {
    EXPECT_THAT(scalesim, ::testing::Not(HasSubstr(other)));
  }
  EXPECT_THAT(run("import onnx --help").out, HasSubstr("--dim"));
  EXPECT_THAT(run("import --help").out, HasSubstr("--ert"));
  const std::string cuda = run("export cuda --help").out;
  EXPECT_THAT(cuda, HasSubstr("a kernel as `search"));
  EXPECT_THAT(cuda, HasSubstr("--relu"));
  EXPECT_THAT(run("export timeloop --help").out, ::testing::Not(HasSubstr("--relu")));
}

}  // namespace
}  // namespace mapsim
