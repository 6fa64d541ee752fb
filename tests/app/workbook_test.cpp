// SPDX-License-Identifier: Apache-2.0
// The shipped networks of NVIDIA's workbook, by the command that users have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/build_paths.hpp"
#include "tests/support/in_folder.hpp"

namespace mapsim::workbook_test {
namespace {

using Json = nlohmann::json;

class Workbook : public InFolder {
 protected:
  Json network(const std::string& machine, const std::string& network) const {
    const std::string configs = source_path("configs/");
    const std::string arguments = fmt::format(
        "network {0}arch/workbook/{1}.yaml {0}networks/{2}_workbook.yaml --objective "
        "latency --json",
        configs, machine, network);
    EXPECT_EQ(shell(fmt::format("'{}' {}", kProgram, arguments)), 0) << file("stderr");
    return Json::parse(file("stdout"));
  }
};

// Cycles of a row, rounded up: with DRAM alone, and with a second memory.
struct Row {
  const char* name;
  std::int64_t alone, memory;
};

// nvdla/hw perf/NVDLA_OpenSource_Performance.xlsx, AlexNet!AR11:AR21 and AL11:AL21.
const std::vector<Row> kAlexNet{
    {"conv1", 49618, 49618},  {"conv2_a", 54675, 54675}, {"conv2_b", 54675, 54675},
    {"conv3", 164163, 32448}, {"conv4_a", 63938, 12168}, {"conv4_b", 63938, 12168},
    {"conv5_a", 42019, 8112}, {"conv5_b", 42019, 8112},  {"fc1", 231700, 231300},
    {"fc2", 103200, 102800},  {"fc3", 25499, 25400}};

// GoogLeNet!AS and AL, the 39 rows that have cycles.
const std::vector<Row> kGoogLeNet{{"conv1", 76832, 76832},
                                  {"conv2", 75264, 75264},
                                  {"inception_3a_1x1", 31475, 12936},
                                  {"inception_3a_3x3", 36350, 18816},
                                  {"inception_3a_5x5", 4925, 4900},
                                  {"inception_3a_pool", 17750, 6120},
                                  {"inception_3b_1x1", 48850, 28224},
                                  {"inception_3b_3x3", 46100, 37632},
                                  {"inception_3b_5x5", 29400, 29400},
                                  {"inception_3b_pool", 22425, 8480},
                                  {"inception_4a_1x1", 29257, 13965},
                                  {"inception_4a_3x3", 23369, 7755},
                                  {"inception_4a_5x5", 3100, 1838},
                                  {"inception_4a_pool", 13413, 4875},
                                  {"inception_4b_1x1", 30419, 14896},
                                  {"inception_4b_3x3", 28482, 9678},
                                  {"inception_4b_5x5", 6838, 4900},
                                  {"inception_4b_pool", 14225, 5200},
                                  {"inception_4c_1x1", 29313, 14112},
                                  {"inception_4c_3x3", 36150, 12544},
                                  {"inception_4c_5x5", 6838, 4900},
                                  {"inception_4c_pool", 14225, 5200},
                                  {"inception_4d_1x1", 29713, 14112},
                                  {"inception_4d_3x3", 44719, 15876},
                                  {"inception_4d_5x5", 6838, 4900},
                                  {"inception_4d_pool", 14225, 5200},
                                  {"inception_4e_1x1", 41782, 22638},
                                  {"inception_4e_3x3", 54188, 19600},
                                  {"inception_4e_5x5", 13063, 9800},
                                  {"inception_4e_pool", 17319, 6683},
                                  {"inception_5a_1x1", 42525, 22182},
                                  {"inception_5a_3x3", 47297, 5623},
                                  {"inception_5a_5x5", 10766, 2450},
                                  {"inception_5a_pool", 14994, 2548},
                                  {"inception_5b_1x1", 61649, 29332},
                                  {"inception_5b_3x3", 67557, 7729},
                                  {"inception_5b_5x5", 15843, 3675},
                                  {"inception_5b_pool", 14394, 2548},
                                  {"fc", 100199, 6350}};

struct Column {
  const char* machine;
  const char* network;
  const std::vector<Row>& rows;
  std::int64_t Row::* cycles;
  double frames;  // a second, as the workbook sums up
};

// The workbook's sums are of MAC cycles that it does not round.
TEST_F(Workbook, GivesTheRowsOfAlexNetAndGoogLeNet) {
  for (const Column& column :
       {Column{"nvdla_alexnet", "alexnet", kAlexNet, &Row::alone, 1116.7650},
        Column{"nvdla_memory", "alexnet", kAlexNet, &Row::memory, 1690.6869},
        Column{"nvdla_googlenet", "googlenet", kGoogLeNet, &Row::alone, 818.2831},
        Column{"nvdla_memory", "googlenet", kGoogLeNet, &Row::memory, 1724.9930}}) {
    SCOPED_TRACE(fmt::format("{} on {}", column.network, column.machine));
    const Json found = network(column.machine, column.network);
    ASSERT_EQ(found.at("layers").size(), column.rows.size());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < column.rows.size(); ++i) {
      const Row& row = column.rows[i];
      EXPECT_EQ(found.at("layers")[i].at("name"), row.name);
      EXPECT_EQ(found.at("layers")[i].at("latency_cycles"), row.*column.cycles) << row.name;
      sum += row.*column.cycles;
    }
    const Json& total = found.at("total");
    EXPECT_EQ(total.at("latency_cycles"), sum);
    EXPECT_NEAR(total.at("inferences_per_second").get<double>(), column.frames, 0.005);
  }
}

TEST_F(Workbook, GivesTheCyclesOfResNet50) {
  EXPECT_EQ(network("nvdla", "resnet50").at("total").at("latency_cycles"), 7113691);
  EXPECT_EQ(network("nvdla_memory", "resnet50").at("total").at("latency_cycles"), 5161544);
}

}  // namespace
}  // namespace mapsim::workbook_test
