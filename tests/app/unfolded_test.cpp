// SPDX-License-Identifier: Apache-2.0
// Convolutions on systolic arrays, whose folds may cross lines of the image.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::unfolded_test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

class UnfoldedLayer : public InFolder {
 protected:
  int run(const std::string& command, const std::string& arguments) const {
    return shell(fmt::format("'{}' {} systolic_32x32 layer.yaml {}", kProgram, command, arguments));
  }
};

// 13 x 13 pixels are six folds of 32, and seven of 2 x 13.
TEST_F(UnfoldedLayer, IsReadByEveryCommandWithTheLayersOwnFile) {
  write("layer.yaml",
        "name: layer\nconv2d: {in_channels: 4, out_channels: 32, input: [15, 15], kernel: [3, 3]}\n"
        "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n");
  ASSERT_EQ(run("search",
                "--objective latency --constraints systolic_output --save-mapping m.yaml "
                "--json"),
            0)
      << file("stderr");
  const Json found = Json::parse(file("stdout"));
  EXPECT_EQ(found["form"], "unfolded");
  EXPECT_EQ(found["cost"]["latency_cycles"], 6 * (4 * 3 * 3 + 32 + 32 - 2));
  EXPECT_EQ(found["certificate"]["status"], "optimal");
  EXPECT_GT(found["forms"][0]["value"], found["forms"][1]["value"]);
  EXPECT_THAT(file("m.yaml"), HasSubstr("form: unfolded\n"));
  ASSERT_EQ(run("eval", "m.yaml --json"), 0) << file("stderr");
  EXPECT_EQ(Json::parse(file("stdout"))["cost"], found["cost"]);
  ASSERT_EQ(run("simulate", "m.yaml --json"), 0) << file("stderr");
  EXPECT_EQ(Json::parse(file("stdout"))["simulation"]["agrees"], true);
  EXPECT_EQ(run("show", "m.yaml"), 0) << file("stderr");
}

}  // namespace
}  // namespace mapsim::unfolded_test
