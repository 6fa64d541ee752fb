// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "interop/scalesim.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::scalesim_files_test {
namespace {

TEST(ScaleSimFiles, SurviveCuts) {
  const auto topology = [](const std::string& text) { parse_scalesim_topology(text, "t.csv"); };
  const auto config = [](const std::string& text) { parse_scalesim_config(text, "c.cfg"); };
  for (const std::string text : {"name,M,N,K,\nfc,4,5,6,\nfc2,4,5,6,1:1,\n",
                                 "name,h,w,r,s,c,k,stride,\nconv,8,8,3,3,4,5,1,\n"}) {
    EXPECT_EQ(parse_scalesim_topology(text, "t.csv").front().filters, 5);
    expect_survival_of_cuts(text, topology);
    expect_survival(text, topology);
  }
  EXPECT_EQ(error_text([&] { topology(""); }),
            "t.csv: no layers; the first line is a heading, each further one a layer");
  const std::string text =
      "[general]\nrun_name = a\n[architecture_presets]\nArrayHeight: 8\nArrayWidth: 8\n"
      "IfmapSramSzkB: 4\nFilterSramSzkB: 4\nOfmapSramSzkB: 4\nDataflow: os\n"
      "InterfaceBandwidth: USER\nBandwidth: 4,4,4\n";
  EXPECT_EQ(parse_scalesim_config(text, "c.cfg").rows, 8);
  expect_survival_of_cuts(text, config);
  expect_survival(text, config);
}

// The other sizes are as near to each other as slips.
TEST(ScaleSimFiles, PointAtTheSlipOfAMissingKey) {
  const auto complaint = [](const char* height, const char* ofmap) {
    const std::string text = std::string{"[architecture_presets]\n"} + height +
                             ": 8\nArrayWidth: 8\nIfmapSramSzkB: 4\nFilterSramSzkB: 4\n" + ofmap +
                             "Dataflow: os\n";
    return error_text([&] { parse_scalesim_config(text, "c.cfg"); });
  };
  const char* const ofmap = "OfmapSramSzkB: 4\n";
  EXPECT_EQ(complaint("ArrayHeight", ofmap), "");
  EXPECT_EQ(complaint("ArrayHight", ofmap),
            "c.cfg:2:1: 'ArrayHeight' is missing; this may be a slip of it\nArrayHight: 8\n^");
  EXPECT_EQ(complaint("ArrayHeight", ""), "c.cfg: 'OfmapSramSzkB' is missing");
}

}  // namespace
}  // namespace mapsim::scalesim_files_test
