// SPDX-License-Identifier: Apache-2.0
#include "campaign/network.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "campaign/gpu_network.hpp"
#include "campaign/network_widths.hpp"
#include "campaign/point.hpp"
#include "report/json.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/form.hpp"
#include "workloads/load.hpp"

namespace mapsim::network_test {
namespace {

const std::string kConfigs = source_path("configs/");

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

// Operands of 8 b on words of 8 and 16 b, and of 16 b on words of 8 b. Sums in accumulators of 32 b
// are no words of operands (nv_full).
TEST(NetworkWidths, WarnWhereOperandsAreWiderThanWords) {
  Case c;
  EXPECT_EQ(widths_text(c.arch, c.network),
            "operands 8 b, outputs 8 b, sums 32 b; words of 8 b in teaching\n");
  EXPECT_THAT(network_warnings(c.arch, c.network), testing::IsEmpty());
  EXPECT_THAT(network_warnings(load_arch(kConfigs + "arch/eyeriss.yaml"), c.network),
              testing::IsEmpty());
  c.network.layers[1].workload.tensors[TensorId{0}].bits = Bits{16};
  c.network.warnings = {"read with care"};
  EXPECT_THAT(network_warnings(c.arch, c.network),
              testing::ElementsAre("read with care",
                                   "operands of 16 b are wider than the words of 8 b in teaching"));
  const Arch nvdla = load_arch(kConfigs + "arch/nv_full.yaml");
  EXPECT_EQ(network_widths(nvdla, c.network).word, Bits{8});
  for (NetworkLayer& layer : c.network.layers) {
    layer.file = "";
  }
  EXPECT_EQ(network_warnings(c.arch, c.network)[1],
            "operands of 16 b are wider than the words of 8 b in teaching; --operand-bits 8 takes "
            "the model as quantised to them");
}

// For programs: the layers' figures add up to the whole, in seconds as in cycles.
TEST(SearchNetwork, SaysWhatEachLayerTakesOfTimeAndOfEveryResource) {
  for (const LatencyMode mode : {LatencyMode::kSteady, LatencyMode::kRamped}) {
    Case c;
    c.network.layers.resize(3);
    c.network.layers[1].count = 5;
    c.network.streams.push_back({"pool", "MaxPool", Bits{800}, Bits{80}, 2});
    c.options.search.objective.mode = mode;
    const NetworkResult result = search_network(c.arch, c.network, c.options);
    const auto json =
        nlohmann::json::parse(network_json({"network", {}}, c.arch, c.network, c.options, result));
    EXPECT_EQ(json["schema"], kResultSchema);
    double seconds = 2 * json["streams"][0]["latency_seconds"].get<double>();
    EXPECT_EQ(json["streams"][0]["latency_seconds"],
              json["streams"][0]["latency_cycles"].get<double>() / c.arch.clock.count());
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& layer = json["layers"][i];
      seconds += layer["count"].get<double>() * layer["latency_seconds"].get<double>();
      EXPECT_EQ(layer["search_seconds"], result.layers[i].statistics.seconds);
      EXPECT_EQ(layer["operand_bits"].size(), 2);
      EXPECT_EQ(layer["sum_bits"], 32);
      const Latency& latency = result.layers[i].cost->latency;
      EXPECT_EQ(layer["resource_cycles"].size(), latency.resources.size());
      EXPECT_EQ(layer["resource_cycles"][layer["bottleneck"].get<std::string>()],
                latency.resources[latency.bottleneck].time.count());
    }
    EXPECT_NEAR(seconds, json["total"]["latency_seconds"].get<double>(), 1e-12);
    EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
                testing::HasSubstr("layer by layer, least energy\n"
                                   "operands 8 b, outputs 8 b, sums 32 b; words of 8 b in "
                                   "teaching\n\n"));
  }
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
  // The same layer without it is another row.
  c.network.layers.push_back(c.network.layers[0]);
  c.network.layers[1].name = "alone";
  c.network.layers[1].workbook = {};
  EXPECT_EQ(search_network(c.arch, c.network, c.options).layers[1].cost->latency.steady,
            Cycles{99'600});
  c.network.layers[0].workbook = {};
  const Cost alone = cost();
  EXPECT_EQ(alone.latency.steady, Cycles{99'600});
  EXPECT_EQ(alone.energy.total.count(), fused.energy.total.count());
}

// NVDLA-like engines: the form that is best for a layer, and what the workbook fuses with its row,
// in a campaign as in a network.
TEST(SearchNetwork, FindsWhatCampaignsFind) {
  const auto conv = [](std::int64_t channels, bool addition) {
    NetworkLayer layer;
    layer.workload = parse_workload(
        fmt::format("name: conv\nconv2d: {{in_channels: {}, out_channels: 32, input: [8, 8], "
                    "kernel: 3, padding: 1}}\n",
                    channels),
        "conv.yaml");
    layer.name = fmt::format("conv{}{}", channels, addition ? "+" : "");
    layer.workbook.addition = addition;
    return layer;
  };
  const Network network{"net", {conv(32, false), conv(32, true), conv(3, false)}};
  const auto figure = [](const Record& record, std::string_view name) {
    const auto* const column =
        std::find_if(kFigureColumns.begin(), kFigureColumns.end(),
                     [name](const Column& candidate) { return candidate.name == name; });
    return record.at(static_cast<std::size_t>(column - kFigureColumns.begin()));
  };
  const std::atomic<bool> stop{false};
  for (const std::string machine : {"nv_full", "workbook/nvdla"}) {
    const Arch arch = load_arch(kConfigs + "arch/" + machine + ".yaml");
    std::set<std::string> forms;
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency}) {
      NetworkOptions options;
      options.search.objective = objective;
      options.search.partial_folds = true;
      const NetworkResult found = search_network(arch, network, options);
      for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const NetworkLayer& layer = network.layers[i];
        const SearchResult& one = found.layers[i];
        ASSERT_TRUE(one.cost);
        forms.insert(to_string(one.form));
        const Record row =
            *solve({}, {arch, "", {}}, {"", "", 1, layer.workload, {}, layer.workbook},
                   {objective, "", "none", "", ""}, stop);
        EXPECT_EQ(figure(row, "status"), Cell{"optimal"});
        EXPECT_EQ(figure(row, "energy_pj"), Cell{one.cost->energy.total.count()});
        EXPECT_EQ(figure(row, "latency_cycles"), Cell{one.cost->latency.steady.count()});
        EXPECT_EQ(figure(row, "utilization"), Cell{one.cost->utilization});
        EXPECT_EQ(figure(row, "macs"), Cell{layer.workload.macs()});
      }
      EXPECT_EQ(found.layers[1].cost->latency.steady > found.layers[0].cost->latency.steady,
                machine != "nv_full");
    }
    EXPECT_EQ(forms.size() > 1, machine == "nv_full");
  }
  // A campaign knows the rows of a network, and does not take one for another.
  const Campaign campaign = parse_campaign(
      "name: c\narchitectures: [{file: ../arch/nv_full.yaml}]\n"
      "networks: [../networks/resnet50_workbook.yaml]\n",
      kConfigs + "campaigns/c.yaml");
  EXPECT_EQ(campaign.layers[1].workload, campaign.layers[4].workload);
  EXPECT_TRUE(campaign.layers[4].workbook.addition);
  EXPECT_NE(layer_content(campaign.layers[1]).id, layer_content(campaign.layers[4]).id);
}

// A row is known by what its mask holds, wherever and under whichever name it lies.
TEST(LayerContent, DependsOnTheZerosOfAMask) {
  const auto content = [](std::vector<char> nonzero) {
    Workload workload = parse_workload("name: w\ngemm: {m: 2, n: 1, k: 2}\n", "w.yaml");
    Pattern pattern;
    pattern.kind = PatternKind::kData;
    pattern.text = "data /masks/a.txt";
    pattern.box = {2, 2};
    pattern.nonzero = std::move(nonzero);
    workload.tensors[TensorId{0}].density = 0.5;
    workload.tensors[TensorId{0}].pattern = Shared<Pattern>{std::move(pattern)};
    CampaignLayer layer;
    layer.workload = workload;
    return layer_content(layer).id;
  };
  EXPECT_EQ(content({1, 0, 0, 1}), content({1, 0, 0, 1}));
  EXPECT_NE(content({1, 0, 0, 1}), content({1, 1, 0, 0}));
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
  const std::string text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("conv2: nothing fits: latency limit (at least "));
  EXPECT_THAT(text, testing::HasSubstr("\n1 of 2 layers are missing: what follows is of the others "
                                       "only\nPart of the total: "));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("inferences/s")));
  const auto json =
      nlohmann::json::parse(network_json({"network", {}}, c.arch, c.network, c.options, result));
  EXPECT_TRUE(json["total"]["inferences_per_second"].is_null());
  EXPECT_THAT(json["layers"][1]["problem"],
              testing::StartsWith("nothing fits: latency limit (at least "));
}

// AlexNet's fc6 on nv_full: 16 frames share the 37.7 MB of weights, which 20 GB/s take 1.9 M cycles
// for; by the frame that is a sixteenth or less.
TEST(SearchNetwork, CountsBatchesByTheFrame) {
  Case c;
  c.arch = load_arch(kConfigs + "arch/nv_full.yaml");
  c.network.layers = {c.network.layers.at(5)};
  ASSERT_EQ(c.network.layers.front().name, "fc6");
  c.options.search.objective = Objective::kLatency;
  const auto cycles = [&](bool batches) {
    c.options.frames = batches ? Frames::kBatches : Frames::kOne;
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

// Equal layers are one, whatever their names.
TEST(SearchNetwork, SearchesEqualLayersOnce) {
  Case c;
  c.network.layers = {c.network.layers[0], c.network.layers[1], c.network.layers[0]};
  c.network.layers[2].name = c.network.layers[2].workload.name = "again";
  int searched = 0;
  c.options.progress = [&searched](std::size_t) { ++searched; };
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  EXPECT_EQ(searched, 2);
  ASSERT_EQ(result.layers.size(), 3);
  EXPECT_EQ(result.layers[2].best, result.layers[0].best);
  EXPECT_EQ(totals(c.arch, c.network, result, LatencyMode::kSteady).macs, c.network.macs());
  EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
              testing::HasSubstr("; 2 distinct layers of 3 searched"));
}

// A model that is nothing but a pooling has an answer; without a bandwidth in front, no time, and
// the text says so.
TEST(SearchNetwork, PricesNetworksWithoutLayers) {
  Case c;
  c.network.layers.clear();
  c.network.streams = {{"pool", "MaxPool", Bits{64'000}, Bits{16'000}, 1}};
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  std::string text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("\nTotal: "));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("no bandwidth")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("proven")));
  c.arch = load_arch(kConfigs + "arch/tpu_v1.yaml");
  text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("inferences/s")));
  EXPECT_THAT(text,
              testing::HasSubstr("Moving data takes no time here: Memory has no bandwidth\n"));
}

// 16 inputs at a time take one time and count sixteen-fold.
TEST(SearchNetwork, CountsTheBatchOnGpus) {
  const Gpu gpu = read_gpu(read_yaml(kConfigs + "arch/h100_sxm.yaml"));
  Network network = load_network(kConfigs + "networks/alexnet.yaml");
  network.layers.resize(1);
  network = batched(network, 16, "alexnet.yaml");
  GpuNetworkResult result = search_network(gpu, network, GpuNetworkOptions{});
  const auto total = [&] {
    return nlohmann::json::parse(gpu_network_json({"network", {}}, gpu, network, result));
  };
  EXPECT_EQ(total()["batch"], 16);
  EXPECT_EQ(total()["widths"],
            nlohmann::json({{"operands_bits", {8}}, {"outputs_bits", {8}}, {"sums_bits", {32}}}));
  EXPECT_DOUBLE_EQ(total()["total"]["inferences_per_second"], 16 / result.latency.count());
  EXPECT_THAT(gpu_network_text(gpu, network, result),
              testing::HasSubstr("\nTotal of 16 at a time: "));
  result.missing = 1;
  EXPECT_TRUE(total()["total"]["inferences_per_second"].is_null());
}

// Layers of unknown shape are missing; and what has no price leaves a part of the total.
TEST(SearchNetwork, CallsSumsWithoutAllOperatorsAPart) {
  Case c;
  c.network.layers.resize(1);
  const NetworkResult result = search_network(c.arch, c.network, c.options);
  c.network.unpriced = {{"NonMaxSuppression", 1}};
  EXPECT_EQ(unread_layers(c.network), 0);
  std::string text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("\nPart of the total: "));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("inferences/s")));
  c.network.unpriced = {{"Conv_of_unknown_shape", 19}, {"MatMul_of_unknown_shape", 2}, {"Tile", 1}};
  EXPECT_EQ(unread_layers(c.network), 21);
  EXPECT_FALSE(totals(c.arch, c.network, result, LatencyMode::kSteady).proven);
  text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("21 of 22 layers are missing"));
  const auto json =
      nlohmann::json::parse(network_json({"network", {}}, c.arch, c.network, c.options, result));
  EXPECT_EQ(json["total"]["layers_missing"], 21);
  EXPECT_TRUE(json["total"]["inferences_per_second"].is_null());
}

// What only moves data crosses the outermost port once; what has no price is named.
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
  EXPECT_THAT(text, testing::HasSubstr("MaxPool                   3 x"));
  EXPECT_THAT(text, testing::HasSubstr("Not priced: NonMaxSuppression, 2 x\n"));
  c.network.streams[0].count = 1'000'000;
  EXPECT_THAT(network_text(c.arch, c.network, c.options, result),
              testing::ContainsRegex("\nMost time: MaxPool [0-9.]+ %, conv1 [0-9.]+ %\n"
                                     "Most energy: MaxPool [0-9.]+ %, conv1 [0-9.]+ %\n"));
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

// A latency may be proven while a budget kept the search from telling which of equally fast
// mappings needs least energy.
TEST(NetworkText, SaysWhereATieIsOpen) {
  Case c;
  c.network.layers.resize(2);
  NetworkResult result = search_network(c.arch, c.network, c.options);
  Certificate& certificate = result.layers.front().certificate;
  certificate.bound_but_for_free_boundaries = certificate.lower_bound;
  const std::string text = network_text(c.arch, c.network, c.options, result);
  EXPECT_THAT(text, testing::HasSubstr("ties_open"));
  EXPECT_THAT(text, testing::HasSubstr("Not every layer's mapping is proven optimal"));
  const auto json =
      nlohmann::json::parse(network_json({"network", {}}, c.arch, c.network, c.options, result));
  EXPECT_EQ(json["layers"][0]["ties_proven"], false);
  EXPECT_FALSE(json["layers"][1].contains("ties_proven"));
  EXPECT_EQ(json["total"]["proven"], false);
}

}  // namespace
}  // namespace mapsim::network_test
