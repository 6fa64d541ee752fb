// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/in_folder.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

const std::string kRoot = MAPSIM_SOURCE_DIR;
const std::string kData = kRoot + "/tests/app/data";
const std::string kTeaching = kRoot + "/configs/arch/teaching.yaml";
const std::string kLayer = kRoot + "/configs/workloads/teaching/conv.yaml";

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class Warnings : public InFolder {
 protected:
  Outcome run(const std::string& arguments) const {
    const int code = shell(fmt::format("'{}' {}", MAPSIM_PROGRAM, arguments));
    return {code, file("stdout"), file("stderr")};
  }
};

TEST_F(Warnings, WarnsOfRulesWhoseDimsALayerLacks) {
  const std::string rules = kRoot + "/configs/constraints/row_stationary.yaml";
  const std::string warning = rules +
                              ":7:13: mapspace.dataflow: small_gemm has no column_out, "
                              "row_kernel, column_kernel: what is left of row_stationary is "
                              "another dataflow";
  const std::string search =
      fmt::format("search {}/configs/arch/eyeriss.yaml {}/small_gemm.yaml --constraints {}", kRoot,
                  kData, rules);
  const Outcome text = run(search);
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "mapsim: warning: " + warning + "\n");
  EXPECT_TRUE(text.out.starts_with("warning: " + warning + "\n")) << text.out;
  const Outcome json = run(search + " --json");
  EXPECT_EQ(json.err, text.err);
  EXPECT_EQ(Json::parse(json.out)["warnings"], Json::array({warning}));
  const Outcome fits =
      run(fmt::format("search {} {} --constraints {} --json", kTeaching, kLayer, rules));
  EXPECT_EQ(fits.err, "");
  EXPECT_FALSE(Json::parse(fits.out).contains("warnings"));
}

// Once a rule, not once a layer.
TEST_F(Warnings, WarnsOfARuleOfANetworkOnce) {
  const Outcome network = run(fmt::format(
      "network {0}/configs/arch/eyeriss.yaml {0}/configs/networks/alexnet.yaml --constraints "
      "{0}/configs/constraints/row_stationary.yaml --json",
      kRoot));
  EXPECT_THAT(network.err, HasSubstr("fc6, alexnet_fc7, alexnet_fc8 have no column_out"));
  const Json warnings = Json::parse(network.out)["warnings"];
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(network.err, "mapsim: warning: " + warnings[0].get<std::string>() + "\n");
}

}  // namespace
}  // namespace mapsim
