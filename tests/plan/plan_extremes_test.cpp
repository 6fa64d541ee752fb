// SPDX-License-Identifier: Apache-2.0
// Plans of networks whose nodes and tensors have names as nobody expects them, as an ONNX model may
// give them (its reader sees to it that they are text), and of figures that are 0 or beyond all
// measure.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/utf8.hpp"
#include "plan/plan.hpp"
#include "tests/support/build_paths.hpp"
#include "tests/support/svg_reader.hpp"

namespace mapsim::plan_extremes_test {
namespace {

Soc one_engine() {
  return read_soc(parse_yaml("name: chip\nsoc:\n"
                             "  memory: {bandwidth: 16 GB/s, capacity: 1 GB, energy: {read: 100 "
                             "pJ/B, write: 100 pJ/B}}\n"
                             "  engines: [{name: e, arch: nv_small, overhead: 1 us}]\n",
                             "chip.yaml"),
                  {source_path("configs")});
}

Network small_network() {
  return parse_network(
      "name: n\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}\n"
      "inputs: {x: {shape: [1, 8, 6, 6]}}\ngraph:\n"
      "  - {name: a, conv2d: {out_channels: 8, kernel: 3, padding: 1}, in: x, epilogue: [relu]}\n"
      "  - {name: b, op: Add, in: [a, x], epilogue: [relu]}\n",
      "n.yaml");
}

TEST(PlanPage, StandsExtremeNames) {
  const std::vector<std::string> names{"",
                                       std::string(10'000, 'W'),
                                       "</script><script>alert(7)</script>",
                                       "\"'&amp;<>]]>&",
                                       "a\tb\nc",
                                       "\u05e9\u05dc\u05d5\u05dd \u202e a\u0301\u0301\u0301",
                                       "{} {0} %s"};
  const Soc soc = one_engine();
  for (const std::string& name : names) {
    Network of = small_network();
    of.name = name;
    for (GraphNode& node : of.graph->nodes) {
      node.name = name;
    }
    for (GraphTensor& tensor : of.graph->tensors) {
      tensor.name = name;
    }
    PlanOptions options;
    options.front = true;
    const PlanAnswer answer = make_plan(soc, of, options, "chip.yaml", "n.yaml");
    const std::string page = plan_page(soc, of, options, answer);
    EXPECT_EQ(first_non_text_byte(page), std::nullopt) << name.substr(0, 40);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) {
      const std::string svg = page.substr(at, page.find("</svg>", at) + 6 - at);
      EXPECT_EQ(read_svg(svg).problem, "") << name.substr(0, 40);
    }
    EXPECT_LT(page.size(), 200'000 + 100 * name.size());
    EXPECT_LT(plan_text(soc, of, options, answer).size(), 20'000 + 100 * name.size());
    const std::string trace = plan_trace(soc, of, answer);
    EXPECT_TRUE(nlohmann::json::accept(trace)) << name.substr(0, 40);
  }
}

TEST(PlanPage, StandsExtremeFigures) {
  const Soc soc = one_engine();
  const Network of = small_network();
  PlanAnswer answer = make_plan(soc, of, {}, "chip.yaml", "n.yaml");
  for (const double figure : {0.0, 5e-324, 1e-300, 1e300}) {
    answer.plan.total = {figure, figure, figure, {}, 0};
    for (PlannedGroup& group : answer.plan.groups) {
      group.start = 0;
      group.price.load.latency = group.price.load.energy = group.price.load.bytes = figure;
    }
    const std::string page = plan_page(soc, of, {}, answer);
    for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) {
      const std::string svg = page.substr(at, page.find("</svg>", at) + 6 - at);
      EXPECT_EQ(read_svg(svg).problem, "") << figure;
      EXPECT_EQ(svg.find("\"nan"), std::string::npos) << figure;
      EXPECT_EQ(svg.find("\"inf"), std::string::npos) << figure;
    }
    EXPECT_LT(page.size(), 200'000U);
    EXPECT_LT(plan_text(soc, of, {}, answer).size(), 20'000U) << figure;
  }
}

}  // namespace
}  // namespace mapsim::plan_extremes_test
