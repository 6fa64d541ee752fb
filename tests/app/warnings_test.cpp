// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/build_paths.hpp"
#include "tests/support/command_line.hpp"

namespace mapsim::warnings_test {
namespace {

using ::testing::HasSubstr;
using Warnings = CommandLine;

TEST_F(Warnings, WarnsOfRulesWhoseDimsALayerLacks) {
  const std::string rules = kRoot + "/configs/constraints/row_stationary.yaml";
  const std::string warning = rules +
                              ":7:13: mapspace.dataflow: small_gemm has no column_out, "
                              "row_kernel, column_kernel: the rest of row_stationary is another "
                              "dataflow";
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

// The rules of a network's searches are those of a search, and so is its space.
TEST_F(Warnings, SearchesANetworkWithImperfectFactorsAsALayer) {
  write("layer.yaml", "name: seven\ngemm: {m: 7, n: 10, k: 11}\n");
  write("net.yaml", "name: net\nlayers: [{workload: layer.yaml}]\n");
  const auto energy = [this](const std::string& words) {
    return Json::parse(run(fmt::format("{} --json", words)).out);
  };
  const Json whole = energy(fmt::format("network {} net.yaml --imperfect", kTeaching));
  const Json alone = energy(fmt::format("search {} layer.yaml --imperfect", kTeaching));
  const Json perfect = energy(fmt::format("network {} net.yaml", kTeaching));
  EXPECT_EQ(whole["layers"][0]["energy_pj"], alone["cost"]["energy_pj"]);
  EXPECT_EQ(whole["layers"][0]["status"], "optimal");
  EXPECT_LT(whole["layers"][0]["energy_pj"], perfect["layers"][0]["energy_pj"]);
  EXPECT_THAT(run(fmt::format("network {} net.yaml --imperfect --fuse", kTeaching)).err,
              HasSubstr("--imperfect is not for --fuse, so far"));
}

// As search and network say it: once, however many designs and questions there are.
TEST_F(Warnings, WarnsOfWhatACampaignAsks) {
  write("campaign.yaml",
        fmt::format("name: c\narchitectures:\n  - {{file: {0}/configs/arch/eyeriss.yaml, grid: "
                    "{{clock: [100 MHz, 200 MHz]}}}}\n"
                    "workloads: [{1}/small_gemm.yaml]\n"
                    "networks: [{2}/models/opset_99.onnx]\n"
                    "objectives: [energy, latency]\n"
                    "constraints: [none, {0}/configs/constraints/row_stationary.yaml]\n",
                    kRoot, kData, kBuild));
  const Outcome swept = run("sweep campaign.yaml --db c.sqlite");
  for (const std::string part :
       {"mapspace.dataflow: small_gemm has no column_out, row_kernel, column_kernel",
        "opset 99 is newer than", "operands of 32 b are wider than the words of 16 b in eyeriss"}) {
    for (const std::string& text : {swept.out, swept.err}) {
      const std::size_t at = text.find(part);
      ASSERT_NE(at, std::string::npos) << part << "\n" << text;
      EXPECT_EQ(text.find(part, at + 1), std::string::npos) << text;
    }
  }
  EXPECT_THAT(run("results c.sqlite").out,
              HasSubstr("operands 8 b, outputs 32 b, sums 32 b (1 layer)"));
}

}  // namespace
}  // namespace mapsim::warnings_test
