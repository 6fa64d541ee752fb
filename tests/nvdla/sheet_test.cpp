// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nvdla/sheet.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/nvdla/sheet_layer.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/network.hpp"

namespace mapsim::sheet_test {
namespace {

using Json = nlohmann::json;

// The workbook's values, systolic/nvdla_perf.json of the collection that MAPSIM_GOLDENS names.
std::optional<Json> workbook() {
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  std::ifstream file{folder == nullptr ? "" : std::string{folder} + "/systolic/nvdla_perf.json"};
  return file ? std::optional<Json>{Json::parse(file)} : std::nullopt;
}
constexpr const char* kNoWorkbook =
    "MAPSIM_GOLDENS names no folder with systolic/nvdla_perf.json; 0 rows compared";

SheetLayer layer_of(const Json& json, bool first) {
  SheetLayer layer;
  const std::string type = json.at("type");
  layer.kind = type == "fc"                               ? SheetKind::kFullyConnected
               : type.find("elwise") != std::string::npos ? SheetKind::kElementwise
                                                          : SheetKind::kConvolution;
  layer.channels = json.at("C");
  layer.kernels = json.at("K");
  layer.input = {json.at("H"), json.at("W")};
  layer.kernel = {json.at("R"), json.at("S")};
  layer.stride = json.at("stride");
  layer.output = json.at("pool_out");
  layer.padded = json.at("pad") != 0;
  layer.extra_lines = first ? 1 : 0;
  return layer;
}

// Networks by the workbook's sheets: whose rows have what the columns of ResNet-50 have.
struct SheetRowCase {
  std::string name;
  SheetLayer layer;
  Json json;
};
std::vector<SheetRowCase> rows_of(const Json& book, const std::string& network) {
  std::vector<SheetRowCase> rows;
  for (const Json& json : book.at("networks").at(network).at("layers")) {
    rows.push_back({json.at("name"), layer_of(json, rows.empty()), json});
  }
  return rows;
}

SheetEngine engine_of(const Json& config) {
  SheetEngine engine;
  engine.macs = config.at("macs");
  engine.buffer_kb = config.at("cbuf_kb");
  engine.clock_mhz = config.at("freq_mhz");
  engine.dram_gbps = config.at("dbb_gbps");
  engine.feature_bytes = config.at("feature_bytes");
  engine.weight_bytes = config.at("weight_bytes");
  engine.batch = config.at("fc_batch");
  return engine;
}

TEST(NvdlaSheet, IsTheWorkbookRowByRow) {
  const std::optional<Json> book = workbook();
  if (!book) {
    GTEST_SKIP() << kNoWorkbook;
  }
  const SheetEngine engine = engine_of(book->at("config"));
  double cycles = 0;
  double busy = 0;
  const std::vector<SheetRowCase> rows = rows_of(*book, "resnet50");
  for (const auto& [name, layer, json] : rows) {
    const SheetRow row = sheet_row(engine, layer);
    const Json& dram = json.at("dram_only");
    EXPECT_EQ(row.input_kb, json.at("in_kb").get<double>()) << name;
    EXPECT_EQ(row.least_input_kb, json.at("min_in_kb").get<double>()) << name;
    EXPECT_EQ(row.output_kb, json.at("out_kb").get<double>()) << name;
    EXPECT_EQ(row.weight_kb, json.at("w_kb").get<double>()) << name;
    EXPECT_EQ(row.least_weight_kb, json.at("min_w_kb").get<double>()) << name;
    EXPECT_EQ(row.winograd, json.at("winograd").get<bool>()) << name;
    EXPECT_EQ(row.keeps_feature, json.at("kept") == "feature") << name;
    EXPECT_EQ(row.traffic_kb, dram.at("traffic_kb").get<double>()) << name;
    EXPECT_EQ(row.least_traffic_kb, dram.at("min_traffic_kb").get<double>()) << name;
    EXPECT_EQ(row.dram_cycles, dram.at("dram_cycles").get<double>()) << name;
    EXPECT_EQ(row.mac_cycles, dram.at("mac_cycles").get<double>()) << name;
    EXPECT_EQ(row.cycles(), dram.at("cycles").get<double>()) << name;
    EXPECT_EQ(row.mac_cycles >= row.dram_cycles, dram.at("bound") == "MAC") << name;
    cycles += row.cycles();
    busy += row.mac_cycles;
  }
  const Json& totals = book->at("networks").at("resnet50").at("totals");
  EXPECT_EQ(cycles, totals.at("dram_only_cycles").get<double>());
  EXPECT_NEAR(1e9 / cycles, totals.at("dram_only_fps").get<double>(), 5e-4);
  EXPECT_NEAR(busy / cycles, totals.at("hw_mac_util").get<double>(), 5e-8);
  std::cout << rows.size() << " rows\n";
}

// Which tensors a row of ResNet-50 has where: the workbook says so row by row (its formulas differ
// there), so this is data, not a rule.
SheetPlaces places_of(std::size_t row, std::size_t rows) {
  constexpr std::size_t kFirstSpill = 6;
  SheetPlaces places;
  places.reads_input = row > 0;
  places.dram_input = row == 0 || row + 1 == rows;
  places.dram_output = row >= kFirstSpill && row + 1 < rows;
  return places;
}

TEST(NvdlaSheet, IsTheWorkbookWithASecondMemory) {
  const std::optional<Json> book = workbook();
  if (!book) {
    GTEST_SKIP() << kNoWorkbook;
  }
  const Json& config = book->at("config");
  SheetEngine engine = engine_of(config);
  engine.kernel_padding = 16;  // the column AJ
  const SheetMemory memory{config.at("sram_rd_gbps"), config.at("sram_wr_gbps")};
  const std::vector<SheetRowCase> rows = rows_of(*book, "resnet50");
  double cycles = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, layer, json] = rows[i];
    const Json& want = json.at("with_sram");
    const SheetMemoryRow row = sheet_memory_row(engine, memory, layer, places_of(i, rows.size()));
    EXPECT_EQ(row.dram_kb, want.at("dram_kb").get<double>()) << name;
    EXPECT_EQ(row.dram_cycles, want.at("dram_cycles").get<double>()) << name;
    EXPECT_EQ(row.read_kb, want.at("sram_rd_kb").get<double>()) << name;
    EXPECT_EQ(row.read_cycles, want.at("sram_rd_cycles").get<double>()) << name;
    EXPECT_EQ(row.write_kb, want.at("sram_wr_kb").get<double>()) << name;
    EXPECT_EQ(row.write_cycles, want.at("sram_wr_cycles").get<double>()) << name;
    EXPECT_EQ(row.mac_cycles, want.at("mac_cycles").get<double>()) << name;
    EXPECT_EQ(row.cycles(), want.at("cycles").get<double>()) << name;
    cycles += row.cycles();
  }
  const Json& totals = book->at("networks").at("resnet50").at("totals");
  EXPECT_EQ(cycles, totals.at("with_sram_cycles").get<double>());
  EXPECT_NEAR(1e9 / cycles, totals.at("with_sram_fps").get<double>(), 5e-3);
}

// nvdla.org/primer.html, table of configurations at 1 GHz: MACs, KB, GB/s, frames/s, as printed.
struct Published {
  double macs, kb, gbps, fps, step;
};
constexpr Published kPublished[] = {
    {2048, 512, 20, 269, 1}, {1024, 256, 15, 153, 1}, {512, 256, 10, 93, 1},   {256, 256, 5, 46, 1},
    {128, 256, 2, 20, 1},    {64, 128, 1, 7.3, 0.1},  {32, 128, 0.5, 3.6, 0.1}};

TEST(NvdlaSheet, GivesThePublishedFramesPerSecond) {
  const std::optional<Json> book = workbook();
  if (!book) {
    GTEST_SKIP() << kNoWorkbook;
  }
  const std::vector<SheetRowCase> rows = rows_of(*book, "resnet50");
  const Json& modelled = book->at("published_table_reproduction").at("rows");
  for (std::size_t i = 0; i < std::size(kPublished); ++i) {
    const Published& published = kPublished[i];
    SheetEngine engine = engine_of(book->at("config"));
    engine.macs = published.macs;
    engine.buffer_kb = published.kb;
    engine.dram_gbps = published.gbps;
    double cycles = 0;
    for (const SheetRowCase& row : rows) {
      cycles += sheet_row(engine, row.layer).cycles();
    }
    // As printed: rounded, and 3.65 cut off.
    EXPECT_NEAR(1e9 / cycles, published.fps, published.step / 2) << published.macs;
    EXPECT_NEAR(1e9 / cycles, modelled[i].at("model_fps").get<double>(), 5e-3) << published.macs;
  }
}

// The shipped network on the shipped machines, as `mapsim network` has them.
const std::string kShipped = source_path("configs/");
struct ShippedRows {
  double cycles = 0;
  std::vector<std::pair<std::string, SheetTimes>> rows;
};
ShippedRows shipped_rows(const Network& network, const std::string& machine) {
  const Arch arch = load_arch(kShipped + "arch/workbook/" + machine + ".yaml");
  ShippedRows found;
  for (const NetworkLayer& layer : network.layers) {
    const auto times = sheet_times(Problem{arch, layer.workload}, layer.workbook);
    EXPECT_TRUE(times) << layer.name;
    found.rows.emplace_back(layer.name, times.value_or(SheetTimes{}));
    found.cycles += static_cast<double>(found.rows.back().second.total().count());
  }
  return found;
}

TEST(NvdlaSheet, ShippedNetworkIsTheWorkbookRowByRow) {
  const Network network = load_network(kShipped + "networks/resnet50_workbook.yaml");
  EXPECT_EQ(shipped_rows(network, "nvdla").cycles, 7113691);  // docs/validation_nvdla.md
  EXPECT_EQ(shipped_rows(network, "nvdla_memory").cycles, 5161544);
  for (const Published& published : kPublished) {
    const double cycles = shipped_rows(network, fmt::format("nvdla_{}", published.macs)).cycles;
    EXPECT_NEAR(1e9 / cycles, published.fps, published.step / 2) << published.macs;
  }
  const std::optional<Json> book = workbook();
  if (!book) {
    GTEST_SKIP() << kNoWorkbook;
  }
  const Json& layers = book->at("networks").at("resnet50").at("layers");
  for (const auto& [machine, column] :
       {std::pair{"nvdla", "dram_only"}, std::pair{"nvdla_memory", "with_sram"}}) {
    const ShippedRows found = shipped_rows(network, machine);
    ASSERT_EQ(found.rows.size(), layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& [name, times] = found.rows[i];
      const Json& want = layers[i].at(column);
      EXPECT_EQ(layers[i].at("name").get<std::string>().find(name), 0U) << name;
      EXPECT_EQ(static_cast<double>(times.mac.count()),
                std::ceil(want.at("mac_cycles").get<double>()))
          << name;
      EXPECT_EQ(static_cast<double>(times.dram.count()), want.at("dram_cycles").get<double>())
          << name;
      EXPECT_EQ(static_cast<double>(times.total().count()),
                std::ceil(want.at("cycles").get<double>()))
          << name;
    }
  }
}

std::string grouped(std::int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

// docs/validation_nvdla.md keeps the rows of the two networks; the command prints the same cycles
// (tests/app/workbook_test.cpp).
TEST(NvdlaSheet, RowsOfAlexNetAndGoogLeNetStandInTheDocument) {
  std::ifstream file{source_path("docs/validation_nvdla.md")};
  const std::string kept{std::istreambuf_iterator<char>{file}, {}};
  for (const std::string name : {"alexnet", "googlenet"}) {
    const Network network = load_network(kShipped + "networks/" + name + "_workbook.yaml");
    const ShippedRows alone = shipped_rows(network, "nvdla_" + name);
    const ShippedRows memory = shipped_rows(network, "nvdla_memory");
    std::string table;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      const auto& [row, one] = alone.rows[i];
      const SheetTimes& two = memory.rows[i].second;
      table += fmt::format(
          "| {} | {} | {} | {} | {} | {} | {} | {} |\n", row, grouped(one.mac.count()),
          grouped(one.dram.count()), grouped(one.total().count()), grouped(two.dram.count()),
          grouped(two.read.count()), grouped(two.write.count()), grouped(two.total().count()));
    }
    std::cout << table;
    EXPECT_NE(kept.find(table), std::string::npos)
        << "docs/validation_nvdla.md keeps another table";
  }
}

// Each rule of a sheet changes a row of the shipped networks; without it they have other sums.
TEST(NvdlaSheet, RulesOfAnotherNetworkGiveOtherCycles) {
  const Network alexnet = load_network(kShipped + "networks/alexnet_workbook.yaml");
  const Network googlenet = load_network(kShipped + "networks/googlenet_workbook.yaml");
  EXPECT_EQ(shipped_rows(alexnet, "nvdla_alexnet").cycles, 895444);
  EXPECT_EQ(shipped_rows(alexnet, "nvdla_googlenet").cycles, 6262444);  // weights once a frame
  EXPECT_EQ(shipped_rows(googlenet, "nvdla_googlenet").cycles, 1222071);
  Network plain = googlenet;
  for (NetworkLayer& layer : plain.layers) {
    layer.workbook.winograd_weights = true;
  }
  EXPECT_EQ(shipped_rows(plain, "nvdla_googlenet").cycles, 1440821);
}

// Half of the weights' bytes saved, 2,000 KB of a fully connected layer instead of 4,000.
TEST(NvdlaSheet, CompressesWeights) {
  const SheetLayer layer{
      SheetKind::kFullyConnected, 4096, 1000, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, 0};
  SheetEngine engine;
  EXPECT_EQ(sheet_row(engine, layer).weight_kb, 4000);
  engine.weight_compression = 0.5;
  EXPECT_EQ(sheet_row(engine, layer).weight_kb, 2000);
}

}  // namespace
}  // namespace mapsim::sheet_test
