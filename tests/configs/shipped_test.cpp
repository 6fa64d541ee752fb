// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"
#include "workloads/network.hpp"

namespace mapsim::shipped_test {
namespace {

const std::filesystem::path kConfigs = source_path("configs");

std::set<std::string> yaml_files(const std::filesystem::path& folder) {
  std::set<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    stems.insert(entry.path().stem().string());
  }
  return stems;
}

// The comment at the head of a file, on one line.
std::string head_comment(const std::filesystem::path& path) {
  std::ifstream file{path};
  std::string comment;
  for (std::string line; std::getline(file, line) && line.starts_with('#');) {
    comment += line.substr(std::min<std::size_t>(line.size(), 2)) + ' ';
  }
  return comment;
}

std::string times(std::int64_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

// What a layer does to a token, and attention among so many tokens.
constexpr std::int64_t kBaseLayer = 4LL * 768 * 768 + 2LL * 768 * 3072;
constexpr std::int64_t base_layers(std::int64_t tokens) {
  return 12 * (tokens * kBaseLayer + 2LL * 12 * tokens * tokens * 64);
}
constexpr std::int64_t kLlama3Layer =
    2LL * 4096 * (4096 + 1024) + 3LL * 4096 * 14336 + 2LL * 32 * 8192 * 128;
constexpr std::int64_t kLlamaLayer = 4LL * 4096 * 4096 + 3LL * 4096 * 11008;

// MACs of whole networks, as published or counted by hand.
const std::map<std::string, std::int64_t> kNetworkMacs{
    // 666 M in the convolutions (Eyeriss, JSSC 2017: 2.66 G for four images), 58.6 M behind them.
    {"alexnet", 665'784'864 + 58'621'952},
    // 15.47 G (torchvision's table of models).
    {"vgg16", 15'470'264'320},
    // 4.09 G in version 1.5 (torchvision's table of models); 3.86 G in version 1.
    {"resnet50", 4'089'184'256},
    {"resnet50_workbook", 3'896'508'416},
    // NVIDIA's workbook, its columns of calculations, but 54 x 54 pixels in AlexNet's first row.
    {"alexnet_workbook", 720'608'384},
    {"googlenet_workbook", 1'569'826'816},
    // 300 M (the paper, table 4).
    {"mobilenet_v2", 300'774'272},
    {"bert_base", base_layers(512) + 768 * 768},
    // 17.56 G (torchvision's table of models).
    {"vit_b16", 196LL * 768 * 768 + base_layers(197) + 768 * 1000},
    {"gpt2", base_layers(1024) + 768LL * 50257},
    {"llama3_8b", 32 * kLlama3Layer + 4096LL * 128256},
    {"llama_7b_prefill", 32 * (2048 * kLlamaLayer + 2LL * 32 * 2048 * 2048 * 128)},
    {"llama_7b_decode", 32 * (kLlamaLayer + 2LL * 32 * 2048 * 128) + 4096 * 32000},
};

TEST(ShippedNetworks, AddUpToTheirMacs) {
  std::set<std::string> names;
  for (const auto& [name, macs] : kNetworkMacs) {
    const Network network = load_network(kConfigs / "networks" / (name + ".yaml"));
    EXPECT_EQ(network.name, name);
    EXPECT_EQ(network.macs(), macs) << name;
    names.insert(name);
    if (name.ends_with("_workbook")) {
      continue;  // rows, not shapes
    }
    for (const NetworkLayer& layer : network.layers) {
      EXPECT_THAT(head_comment(layer.file),
                  testing::HasSubstr("Occurs " + times(layer.count) + ". "));
    }
  }
  names.insert("graphs");  // a folder, below
  EXPECT_EQ(yaml_files(kConfigs / "networks"), names);
}

// Of a graph: multiply-accumulates, and parameters as published. `folded`: channels whose batch
// normalisation the file folds: two published parameters are one bias.
struct GraphFigures {
  std::string name;
  std::int64_t macs, parameters, folded;
};
const std::vector<GraphFigures> kGraphs{
    // torchvision's table of models: 25,557,032 and 3,504,872 and 86,567,656 and 1,235,496; 4.09,
    // 0.3,
    // 17.56 and 0.35 G.
    {"resnet50", 4'089'184'256, 25'557'032, 26'560},
    {"mobilenet_v2", 300'774'272, 3'504'872, 17'056},
    {"vit_b16", 196LL * 768 * 768 + base_layers(197) + 768 * 1000, 86'567'656, 0},
    {"squeezenet", 349'151'936, 1'235'496, 0},
    // The weights of BVLC's model without the auxiliary classifiers; the paper: 1.5 G, 6.8 M.
    {"googlenet", 1'582'671'872, 6'998'552, 0},
    // bert-base-uncased with its pooler.
    {"bert_base_128", base_layers(128) + 768 * 768, 109'482'240, 0},
    {"bert_base_384", base_layers(384) + 768 * 768, 109'482'240, 0},
    // torchvision's VGG-19: 19.63 G, 143,667,240.
    {"vgg19", 19'632'062'464, 143'667'240, 0},
    // bert-large-uncased with its pooler: 24 layers of 1,024.
    {"bert_large_128", 24 * (12LL * 1024 * 1024 * 128 + 2LL * 128 * 128 * 1024) + 1024 * 1024,
     335'141'888, 0},
    // Of 8,030,261,248 parameters 32 blocks have all but 128,256 words in, as many out, and a norm.
    {"llama3_8b_decoder", 218'112'000 - 2 * 4096 + 2LL * 32 * 2048 * 128,
     (8'030'261'248 - 2 * 128'256LL * 4096 - 4096) / 32, 0},
    {"llama3_8b", 32 * (218'112'000 - 2 * 4096 + 2LL * 32 * 2048 * 128) + 128'256LL * 4096,
     8'030'261'248, 0},
    // 66 M (the paper); a bias beside each of the two products of a step, as frameworks have it.
    {"lstm_ptb", 700LL * (2 * 6000 * 3000 + 15'000'000), 66'034'000, 0},
};

TEST(ShippedGraphs, HaveThePublishedOperationsAndParameters) {
  std::set<std::string> names;
  for (const GraphFigures& figures : kGraphs) {
    const Network network = load_network(kConfigs / "networks/graphs" / (figures.name + ".yaml"));
    EXPECT_EQ(network.name, figures.name);
    EXPECT_EQ(network.macs(), figures.macs) << network.name;
    EXPECT_EQ(network.graph.value().parameters() + figures.folded, figures.parameters)
        << network.name;
    EXPECT_TRUE(network.unpriced.empty()) << network.name;
    names.insert(figures.name);
  }
  EXPECT_EQ(yaml_files(kConfigs / "networks/graphs"), names);
}

// Of the same network: the same layers, equally often.
TEST(ShippedGraphs, HaveTheLayersOfTheLists) {
  const auto layers = [](const std::string& name) {
    std::map<std::string, std::int64_t> counts;
    for (const NetworkLayer& layer :
         load_network(kConfigs / "networks" / (name + ".yaml")).layers) {
      std::string shape = layer.workload.equation();
      for (const Dim& dim : layer.workload.dims) {
        shape += " " + dim.name + "=" + std::to_string(dim.bound);
      }
      counts[shape] += layer.count;
    }
    return counts;
  };
  for (const char* name : {"resnet50", "mobilenet_v2", "vit_b16"}) {
    EXPECT_EQ(layers(std::string{"graphs/"} + name), layers(name)) << name;
  }
}

// A residual block of ResNet-50 and a module of GoogLeNet: who reads what.
TEST(ShippedGraphs, KeepTheirEdges) {
  const NetworkGraph resnet = *load_network(kConfigs / "networks/graphs/resnet50.yaml").graph;
  const GraphLinks links = links_of(resnet);
  const std::size_t sum = resnet.find_tensor("conv2_1_sum").value();
  ASSERT_EQ(links.readers[sum].size(), 2U);
  EXPECT_EQ(resnet.nodes[links.readers[sum][0]].name, "conv2.1.a");
  EXPECT_EQ(resnet.nodes[links.readers[sum][1]].name, "conv2.1.sum");
  std::int64_t several = 0;
  for (const auto& readers : links.readers) {
    several += readers.size() > 1 ? 1 : 0;
  }
  EXPECT_EQ(several, 16);  // the input of each block
  const NetworkGraph google = *load_network(kConfigs / "networks/graphs/googlenet.yaml").graph;
  EXPECT_EQ(links_of(google).readers[google.find_tensor("pool2").value()].size(), 4U);
}

TEST(ShippedNetworks, HaveEveryLayerOfTheirFolders) {
  std::map<std::filesystem::path, std::set<std::string>> named;
  for (const auto& [name, macs] : kNetworkMacs) {
    for (const NetworkLayer& layer :
         load_network(kConfigs / "networks" / (name + ".yaml")).layers) {
      const std::filesystem::path file{layer.file};
      named[file.parent_path().lexically_normal()].insert(file.stem());
    }
  }
  for (const auto& [folder, layers] : named) {
    EXPECT_EQ(yaml_files(folder), layers) << folder;
  }
}

TEST(ShippedWorkloads, AreNamedAfterFolderAndFileAndDifferInShape) {
  for (const std::string& folder : yaml_files(kConfigs / "workloads")) {
    std::map<std::string, std::string> shapes;
    for (const std::string& file : yaml_files(kConfigs / "workloads" / folder)) {
      Workload workload =
          load_workload((kConfigs / "workloads" / folder / file).string() + ".yaml");
      EXPECT_EQ(workload.name, folder + "_" + file);
      std::string shape = workload.equation();
      for (const Dim& dim : workload.dims) {
        shape += " " + dim.name + "=" + std::to_string(dim.bound);
      }
      const auto [other, is_new] = shapes.emplace(shape, file);
      EXPECT_TRUE(is_new) << folder << ": " << file << " and " << other->second << ": " << shape;
    }
  }
}

TEST(ShippedWorkloads, HaveWellKnownOutputSizes) {
  const auto bound = [](const char* file, const char* dim) {
    const Workload workload = load_workload((kConfigs / "workloads" / file).string());
    return workload.dims[workload.find_dim(dim).value()].bound;
  };
  EXPECT_EQ(bound("alexnet/conv1.yaml", "P"), 55);
  EXPECT_EQ(bound("alexnet/conv2.yaml", "G"), 2);
  EXPECT_EQ(bound("alexnet/conv2.yaml", "C"), 48);
  EXPECT_EQ(bound("resnet50/conv1.yaml", "Q"), 112);
  EXPECT_EQ(bound("resnet50/conv4_3x3_first.yaml", "P"), 14);
  EXPECT_EQ(bound("mobilenet_v2/depthwise_576_14_stride2.yaml", "P"), 7);
  EXPECT_EQ(bound("bert_base/scores.yaml", "H"), 12);
}

struct Machine {
  std::string_view name;
  std::size_t levels;
  std::int64_t mac_units;
  double gmacs_per_second;                         // peak
  std::map<std::string_view, std::int64_t> pools;  // bytes of one instance of a level
};

constexpr std::int64_t kKi = 1024;
const std::vector<Machine> kMachines{
    {"dual_side_tensor_core", 3, 128, 195.84, {{"SMEM", 96 * kKi}, {"Registers", 64 * kKi}}},
    {"edge", 3, 256, 51.2, {{"Buffer", 128 * kKi}, {"Registers", 64}}},
    {"eyeriss", 3, 168, 33.6, {{"GLB", 100 * kKi}}},
    {"eyeriss_chip", 6, 168, 33.6, {{"GLB", 100 * kKi}, {"FilterBuffer", 8 * kKi}}},
    {"eyeriss_v2_pe", 2, 1, 0.2, {{"GLB", 192 * kKi}}},
    // 624 TOPS of int8 (NVIDIA's datasheet of the A100).
    {"gpu_like",
     4,
     221'184,
     624'000 / 2.0,
     {{"L2", 40 * kKi* kKi}, {"SharedMemory", 163 * kKi}, {"Registers", 64 * kKi}}},
    {"nv_full", 4, 2048, 2048, {{"CBUF", 512 * kKi}, {"CACC", 16 * kKi}}},
    {"nv_large", 4, 2048, 2048, {{"CBUF", 512 * kKi}, {"CACC", 16 * kKi}}},
    {"nv_medium_1024", 4, 1024, 1024, {{"CBUF", 512 * kKi}, {"CACC", 16 * kKi}}},
    {"nv_medium_512", 4, 512, 512, {{"CBUF", 512 * kKi}, {"CACC", 8 * kKi}}},
    {"nv_small", 4, 64, 64, {{"CBUF", 128 * kKi}, {"CACC", 4 * kKi}}},
    {"nv_small_256", 4, 256, 256, {{"CBUF", 128 * kKi}, {"CACC", 4 * kKi}}},
    {"nvdla_like_1024", 4, 1024, 1024, {{"CBUF", 256 * kKi}, {"CACC", 16 * kKi}}},
    {"orin_dla", 4, 8192, 13107.2, {{"CBUF", 1024 * kKi}, {"CACC", 32 * kKi}}},
    {"scnn_like", 2, 1024, 1024, {}},
    {"shidiannao_like", 5, 64, 64, {{"NBin", 64 * kKi}, {"NBout", 64 * kKi}, {"SB", 128 * kKi}}},
    {"simba_like",
     6,
     1024,
     4010 / 2.0,
     {{"GlobalBuffer", 64 * kKi},
      {"InputBuffer", 8 * kKi},
      {"WeightBuffer", 32 * kKi},
      {"AccumulationBuffer", 3 * kKi}}},
    // 127.8 TOPS (Zimmer et al., VLSI 2019).
    {"simba_package",
     6,
     36'864,
     127'800 / 2.0,
     {{"GlobalBuffer", 64 * kKi},
      {"InputBuffer", 8 * kKi},
      {"WeightBuffer", 32 * kKi},
      {"AccumulationBuffer", 3 * kKi}}},
    {"systolic_32x32",
     5,
     1024,
     1024,
     {{"IfmapSRAM", 64 * kKi}, {"FilterSRAM", 64 * kKi}, {"OfmapSRAM", 64 * kKi}}},
    {"teaching", 3, 64, 64, {{"Buffer", 32 * kKi}, {"Registers", 64}}},
    {"teaching_flat", 3, 1, 1, {{"Buffer", 32 * kKi}, {"Registers", 4 * kKi}}},
    // 275 TFLOPS a chip (Google's page of TPU v4).
    {"tpu_pod_like",
     5,
     8'388'608,
     64 * 275'000 / 2.0,
     {{"CMEM", 128 * kKi* kKi}, {"VMEM", 4 * kKi* kKi}, {"Accumulators", 256 * kKi}}},
    {"tpu_v1",
     5,
     65536,
     92'000 / 2.0,
     {{"UnifiedBuffer", 24 * kKi* kKi}, {"WeightFIFO", 256 * kKi}, {"Accumulators", 4 * kKi* kKi}}},
    {"tpu_v1_like",
     5,
     65536,
     92'000 / 2.0,
     {{"UnifiedBuffer", 24 * kKi* kKi}, {"WeightFIFO", 256 * kKi}, {"Accumulators", 4 * kKi* kKi}}},
    {"tensor_core_2_4", 2, 64, 90.24, {{"SMEM", 164 * kKi}}},
    {"xavier_dla", 4, 2048, 2856.96, {{"CBUF", 512 * kKi}, {"CACC", 16 * kKi}}},
};

TEST(ShippedMachines, HaveThePublishedSizesAndPeaks) {
  std::set<std::string> names;
  for (const Machine& machine : kMachines) {
    names.emplace(machine.name);
    const Arch arch = load_arch((kConfigs / "arch" / machine.name).string() + ".yaml");
    EXPECT_EQ(arch.name, machine.name);
    EXPECT_EQ(arch.levels.size(), machine.levels) << arch.name;
    EXPECT_EQ(arch.mac_units(), machine.mac_units) << arch.name;
    const double peak = static_cast<double>(arch.mac_units()) * arch.clock.count() / 1e9;
    EXPECT_NEAR(peak, machine.gmacs_per_second, 0.005 * peak) << arch.name;
    for (const auto& [level, bytes] : machine.pools) {
      const std::optional<LevelId> id = arch.find_level(std::string{level});
      ASSERT_TRUE(id.has_value()) << level;
      EXPECT_EQ(arch.levels[*id].capacity.shared, Bits{8 * bytes}) << arch.name << " " << level;
    }
  }
  std::set<std::string> files = yaml_files(kConfigs / "arch");
  files.erase("calibrated");  // a folder: gpu_test.cpp
  files.erase("workbook");    // a folder: tests/nvdla/sheet_test.cpp
  for (const std::string& file : files) {
    if (describes_gpu(read_yaml((kConfigs / "arch" / file).string() + ".yaml"))) {
      names.insert(file);  // gpu_test.cpp
    }
  }
  EXPECT_EQ(files, names);
}

TEST(ShippedMachines, EyerissHasItsArrayAndScratchpads) {
  const Arch arch = load_arch((kConfigs / "arch/eyeriss.yaml").string());
  const Fanout& pes = arch.fanouts[arch.find_fanout("PEs").value()];
  EXPECT_EQ(std::pair(pes.x, pes.y), std::pair(std::int64_t{14}, std::int64_t{12}));
  const std::map<Role, Bits> spads{
      {Role::kInput, Bits{24 * 8}}, {Role::kWeight, Bits{448 * 8}}, {Role::kOutput, Bits{48 * 8}}};
  EXPECT_EQ(arch.levels.begin()[2].capacity.per_role, spads);
  // 64 b x 60 MHz at a clock of 200 MHz.
  EXPECT_DOUBLE_EQ(arch.levels.begin()[0].bandwidth.shared.value().count(), 64 * 0.3);
}

TEST(ShippedMachines, CostMoreThatIsFurtherOut) {
  for (const Machine& machine : kMachines) {
    const Arch arch = load_arch((kConfigs / "arch" / machine.name).string() + ".yaml");
    for (const Storage& level : arch.levels) {
      EXPECT_GT(level.energy.read.count(), 0) << arch.name << " " << level.name;
      EXPECT_EQ(level.energy.update, level.energy.write) << arch.name << " " << level.name;
    }
    const double outermost = arch.levels.begin()->energy.read.count();
    const double innermost = arch.levels[arch.levels.last()].energy.read.count();
    EXPECT_GT(outermost, 10 * innermost) << arch.name;
  }
}

}  // namespace
}  // namespace mapsim::shipped_test
