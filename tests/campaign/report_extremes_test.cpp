// SPDX-License-Identifier: Apache-2.0
// Reports of names and figures as nobody expects them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "core/diagnostic.hpp"
#include "tests/campaign/made_up.hpp"
#include "tests/support/svg_reader.hpp"

namespace mapsim::report_extremes_test {
namespace {

using ::testing::HasSubstr;

// A long name of a level in one figure once left no room for bars, and ticks without end.
TEST(Report, DrawsLongNamesOfLevelsShort) {
  const std::string name = "DRAM" + std::string(60, 'x');
  Study study = made_up(3, 4);
  study.network = std::string(300, 'n');
  for (DesignResult& design : study.designs) {
    for (LayerResult& layer : design.layers) {
      layer.bottleneck = name;
      layer.energy[0].node = name;
      layer.layer += std::string(300, 'l');
    }
  }
  const Page page = page_of({study});
  for (const PageFigure* figure : figures_of(page)) {
    const SvgFile file = read_svg(figure->svg);
    ASSERT_EQ(file.problem, "") << figure->name;
    EXPECT_LE(figure->name.size(), 130U);  // names a file
    const double wide = file.elements[0].number("width");
    EXPECT_LE(wide, kFigureWidth + 90) << figure->name;
    for (const SvgElement& element : file.elements) {
      if (element.name == "text" && element.text.ends_with("\u2026") &&
          !element.attributes.contains("aria-hidden")) {
        EXPECT_GT(element.title.size(), 60U) << figure->name << ": " << element.text;
      }
    }
  }
}

// Of networks in databases alone: layers by themselves have no joint choice, and what `network`
// prints is one.
TEST(Report, SaysThatMappingsWereNotChosenJointly) {
  const auto says = [](const char* objective, const char* network, const char* campaign) {
    Study study = made_up(2, 3);
    study.objective = objective;
    study.network = network;
    study.campaign = campaign;
    const std::vector<std::string> text = page_of({study}).sections.front().paragraphs;
    return std::any_of(text.begin(), text.end(), [](const std::string& paragraph) {
      return paragraph.starts_with(
          "Each layer has the mapping with the least EDP of that layer alone.");
    });
  };
  EXPECT_TRUE(says("edp", "net", "made_up"));
  EXPECT_TRUE(says("energy*latency", "net", "made_up"));
  EXPECT_FALSE(says("energy", "net", "made_up"));
  EXPECT_FALSE(says("edp", "", "made_up"));
  EXPECT_FALSE(says("edp", "net", ""));
}

TEST(Report, StandsExtremeFigures) {
  for (const double value : {0.0, 5e-324, 1e100, 1.7e308, 1.0 * INFINITY, 1.0 * NAN}) {
    for (const std::int64_t cycles : {std::int64_t{0}, std::int64_t{1} << 40}) {
      Study study = made_up(3, 4);
      for (DesignResult& design : study.designs) {
        design.area_mm2 = value;
        LayerResult& layer = design.layers[design.number];
        layer.energy_pj = layer.energy[0].pj = layer.ops = layer.bytes = value;
        layer.peak_ops = layer.peak_bytes = value;
        layer.cycles = cycles;
      }
      const Page page = page_of({study});
      for (const PageFigure* figure : figures_of(page)) {
        EXPECT_EQ(read_svg(figure->svg).problem, "") << figure->name << " " << value;
        EXPECT_LT(figure->svg.size(), 100'000U);
      }
    }
  }
}

// What `network --json` prints, in small, with some entries another way.
nlohmann::json network_json(const std::string& pointer = "", const nlohmann::json& value = {}) {
  auto json = nlohmann::json::parse(R"({"schema": 1, "tool": {"name": "mapsim"},
    "command": "network", "arch": "teaching", "network": "net", "clock_hz": 1e9, "mac_units": 64,
    "area_mm2": 0.4, "objective": "energy", "latency_mode": "steady", "strategy": "exact",
    "layers": [{"name": "a", "count": 2, "macs": 5184, "status": "optimal", "energy_pj": 100.0,
      "latency_cycles": 272, "latency_cycles_ramped": 416, "utilization": 0.5, "bottleneck": "DRAM",
      "breakdown": {"DRAM": {"I": 60.0, "W": 20.0}, "MAC": 20.0}, "mapping": "",
      "roofline": {"ops": 10368, "bytes": 2176.0, "peak_ops_per_second": 1e11,
        "peak_bytes_per_second": 8e9}}],
    "streams": [{"name": "p", "count": 1, "kind": "MaxPool", "energy_pj": 5.0,
      "latency_cycles": 8}]})");
  if (!pointer.empty()) {
    json[nlohmann::json::json_pointer{pointer}] = value;
  }
  return json;
}

TEST(JsonResults, RefusesFiguresThatNoMachineHas) {
  const auto error_of = [](const std::string& pointer, const nlohmann::json& value) -> std::string {
    JsonResults results;
    try {
      read_json_results(network_json(pointer, value).dump(), "r.json", results);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("", {}), "");
  EXPECT_EQ(error_of("/layers/0/energy_pj", 1.7e308),
            "r.json: energy_pj is 1.7e+308; it must be from 0 to 1e+100");
  EXPECT_EQ(error_of("/layers/0/energy_pj", -1),
            "r.json: energy_pj is -1; it must be from 0 to 1e+100");
  EXPECT_EQ(error_of("/layers/0/breakdown/DRAM/I", 1e200),
            "r.json: the energy of DRAM is 1e+200; it must be from 0 to 1e+100");
  EXPECT_EQ(error_of("/clock_hz", 0), "r.json: clock_hz is 0; it must be at least 1");
  EXPECT_THAT(error_of("/layers/0/latency_cycles", 1e300), HasSubstr("latency_cycles is 1e+300"));
  EXPECT_THAT(
      error_of("/layers/0/count", std::int64_t{1} << 50),
      HasSubstr("1125899906842624 times the 272 cycles of a are more than can be added up"));
  EXPECT_THAT(error_of("/streams/0/energy_pj", 1e101), HasSubstr("energy_pj is 1e+101"));
  EXPECT_THAT(error_of("/arch", "</script><script>"),
              HasSubstr("arch is '</script><script>', which is no name of a machine"));
  // A number that no double holds.
  std::string text = network_json().dump();
  text.replace(text.find("100.0"), 5, "1.8e308");
  JsonResults results;
  try {
    read_json_results(text, "r.json", results);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "r.json: holds a number that is beyond all figures: at most 1e+100");
  }
}

}  // namespace
}  // namespace mapsim::report_extremes_test
