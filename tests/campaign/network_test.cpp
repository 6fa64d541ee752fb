// SPDX-License-Identifier: Apache-2.0
#include "campaign/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "arch/load.hpp"

namespace mapsim {
namespace {

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

struct Case {
  Arch arch = load_arch(kConfigs + "arch/teaching.yaml");
  Network network = load_network(kConfigs + "networks/alexnet.yaml");
  NetworkOptions options;
};

// The whole is the sum of searches made one by one.
TEST(SearchNetwork, AddsUpItsLayersAsOftenAsTheyOccur) {
  Case c;
  c.network.layers.resize(3);
  c.network.layers[1].count = 5;
  c.options.search.objective = Objective::kEdp;
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  double energy = 0;
  std::int64_t cycles = 0;
  for (const NetworkLayer& layer : c.network.layers) {
    const Problem problem{c.arch, layer.workload};
    const SearchResult alone = search_exact(Mapspace{problem, {}}, c.options.search);
    energy += static_cast<double>(layer.count) * alone.cost->energy.total.count();
    cycles += layer.count * alone.cost->latency.steady.count();
  }
  const NetworkTotals sums = totals(c.arch, c.network, result, LatencyMode::kSteady);
  EXPECT_DOUBLE_EQ(sums.energy.count(), energy);
  EXPECT_EQ(sums.latency.count(), cycles);
  EXPECT_EQ(sums.macs, c.network.macs());
  EXPECT_EQ(sums.missing, 0);
  EXPECT_TRUE(sums.proven);
}

// NVIDIA's workbook: Res2a_branch2c takes 99,600 cycles, and 178,000 with the addition behind it.
TEST(SearchNetwork, CountsWhatTheWorkbookFusesWithARow) {
  Case c;
  c.arch = load_arch(kConfigs + "arch/workbook/nvdla.yaml");
  c.network = load_network(kConfigs + "networks/resnet50_workbook.yaml");
  c.network.layers.erase(c.network.layers.begin(), c.network.layers.begin() + 4);
  c.network.layers.resize(1);
  const auto cost = [&c] { return *search_network(c.arch, c.network, c.options).layers[0].cost; };
  const Cost fused = cost();
  EXPECT_EQ(fused.latency.steady, Cycles{178'000});
  const std::string note = "note: `workbook` of 1 of 1 layers is not counted";
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
              testing::Not(testing::HasSubstr(note)));
  EXPECT_THAT(network_text(load_arch(kConfigs + "arch/nv_full.yaml"), c.network, c.options, result),
              testing::HasSubstr(note));
  EXPECT_NEAR(fused.utilization, 51'380'224 / 178'000. / 2048, 1e-9);
  c.network.layers[0].workbook = {};
  const Cost alone = cost();
  EXPECT_EQ(alone.latency.steady, Cycles{99'600});
  EXPECT_EQ(alone.energy.total.count(), fused.energy.total.count());
}

TEST(SearchNetwork, StopsBetweenLayersAndSaysSo) {
  Case c;
  std::atomic<bool> stop{false};
  c.options.search.stop = &stop;
  c.options.progress = [&](std::size_t layer) { stop = layer == 2; };
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.layers.size(), 3);
  const NetworkTotals sums = totals(c.arch, c.network, result, LatencyMode::kSteady);
  EXPECT_GE(sums.missing, 5);
  EXPECT_FALSE(sums.proven);
  EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
              testing::HasSubstr("conv4: not searched\n"));
}

// What fits nowhere is named and left out of the sums; the other layers stand.
TEST(SearchNetwork, NamesLayersThatDoNotFit) {
  Case c;
  c.network.layers.resize(2);
  c.options.constraints = [&](const Problem& problem) {
    Constraints constraints;
    if (problem.workload() == c.network.layers[0].workload) {
      constraints.even = true;
    }
    return constraints;
  };
  c.options.search.objective.max_latency = Cycles{3'000'000};
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  const NetworkTotals sums = totals(c.arch, c.network, result, LatencyMode::kSteady);
  EXPECT_EQ(sums.missing, 1);
  EXPECT_EQ(sums.macs, c.network.layers[0].workload.macs());
  EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
              testing::HasSubstr("conv2: nothing fits\n"));
}

// What only moves data crosses the outermost port once; what has no price is named.
// AlexNet's fc6 on nv_full: 16 frames share the 37.7 MB of weights, which 20 GB/s take 1.9 M cycles
// for; by the frame that is a sixteenth or less.
TEST(SearchNetwork, CountsBatchesByTheFrame) {
  Case c;
  c.arch = load_arch(kConfigs + "arch/nv_full.yaml");
  c.network.layers = {c.network.layers.at(5)};
  ASSERT_EQ(c.network.layers.front().name, "fc6");
  c.options.search.objective = Objective::kLatency;
  const auto cycles = [&](bool batches) {
    c.options.batches = batches;
    const NetworkResult result = search_network(c.arch, c.network, c.options);
    const SearchResult& layer = result.layers.front();
    const std::int64_t frames = layer.form.kind == FormKind::kBatch ? layer.form.count : 1;
    EXPECT_EQ(frames > 1, batches);
    const NetworkTotals sums = totals(c.arch, c.network, result, LatencyMode::kSteady);
    EXPECT_EQ(sums.latency.count(), (layer.cost->latency.steady.count() + frames - 1) / frames);
    EXPECT_DOUBLE_EQ(sums.energy.count(),
                     layer.cost->energy.total.count() / static_cast<double>(frames));
    return sums.latency;
  };
  EXPECT_LT(cycles(true).count() * 16, cycles(false).count() * 17 / 16);
}

TEST(SearchNetwork, PricesStreamsByTheOutermostLevel) {
  Case c;
  c.network.layers.resize(1);
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  const NetworkTotals without = totals(c.arch, c.network, result, LatencyMode::kSteady);
  c.network.streams = {{"pool1", "MaxPool", Bits{64'000}, Bits{16'000}, 3}};
  c.network.unpriced = {{"NonMaxSuppression", 2}};
  const NetworkTotals with = totals(c.arch, c.network, result, LatencyMode::kSteady);
  const Storage& dram = *c.arch.levels.begin();
  const double energy =
      3 * (64'000 * dram.energy.read.count() + 16'000 * dram.energy.update.count());
  EXPECT_DOUBLE_EQ(with.streams.energy.count(), energy);
  EXPECT_DOUBLE_EQ(with.energy.count(), without.energy.count() + energy);
  EXPECT_EQ(with.latency, without.latency + with.streams.latency);
  EXPECT_EQ(with.streams.latency.count(),
            3 * static_cast<std::int64_t>(std::ceil(80'000 / dram.bandwidth.shared->count())));
  const std::string text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("MaxPool            3 x"));
  EXPECT_THAT(text, testing::HasSubstr("Not priced: NonMaxSuppression, 2 x\n"));
}

TEST(NetworkText, HasTheSlowestLayerFirst) {
  Case c;
  c.network.layers.resize(3);
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  const std::string text = network_text(c.arch, c.network, c.options, result);
  std::size_t last = 0;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (std::size_t i = 0; i < 3; ++i) {
    order.emplace_back(-result.layers[i].cost->latency.steady.count(), c.network.layers[i].name);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [cycles, name] : order) {
    const std::size_t at = text.find("\n  " + name);
    EXPECT_GT(at, last) << name;
    last = at;
  }
}

TEST(NetworkJson, HasTheTotalsOfItsLayers) {
  Case c;
  c.network.layers.resize(3);
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  const auto json =
      nlohmann::json::parse(network_json({"network", {}}, c.arch, c.network, c.options, result));
  double energy = 0;
  for (const auto& layer : json["layers"]) {
    energy += layer["count"].get<double>() * layer["energy_pj"].get<double>();
  }
  EXPECT_DOUBLE_EQ(json["total"]["energy_pj"], energy);
  EXPECT_EQ(json["layers"].size(), 3);
  EXPECT_EQ(json["total"]["proven"], true);
}

}  // namespace
}  // namespace mapsim
