// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim {
namespace {

// Made by tools/make_onnx_models.py when the tests are built.
const std::string kModels = MAPSIM_BINARY_DIR "/models/";

class Onnx : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_onnx()) {
      GTEST_SKIP() << "built without ONNX";
    }
  }
};

Network read(const std::string& model, const OnnxOptions& options = {}) {
  return to_network(read_onnx(kModels + model, options), options);
}

std::string error_of(const std::string& path, const OnnxOptions& options = {}) {
  try {
    to_network(read_onnx(path, options), options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

// What a mapper sees of a workload.
Workload bare(Workload workload) {
  workload.name = "";
  workload.note = "";
  workload.bias = false;
  return workload;
}

const NetworkLayer* find(const Network& network, const std::string& name) {
  const auto at = std::find_if(network.layers.begin(), network.layers.end(),
                               [&](const NetworkLayer& layer) { return layer.name == name; });
  return at == network.layers.end() ? nullptr : &*at;
}

std::map<std::string, std::int64_t> stream_kinds(const Network& network) {
  std::map<std::string, std::int64_t> kinds;
  for (const Stream& stream : network.streams) {
    kinds[stream.kind] += stream.count;
  }
  return kinds;
}

TEST_F(Onnx, ReadsResNet50AsTheShippedLayers) {
  OnnxOptions options;
  options.operand_bits = Bits{8};
  const Network model = read("resnet50.onnx", options);
  const Network shipped = load_network(MAPSIM_SOURCE_DIR "/configs/networks/resnet50.yaml");
  EXPECT_EQ(model.macs(), 4'089'184'256);
  EXPECT_EQ(model.layers.size(), shipped.layers.size());
  for (const NetworkLayer& layer : shipped.layers) {
    const auto at =
        std::find_if(model.layers.begin(), model.layers.end(), [&](const NetworkLayer& candidate) {
          return bare(candidate.workload) == bare(layer.workload);
        });
    ASSERT_NE(at, model.layers.end()) << layer.name;
    EXPECT_EQ(at->count, layer.count) << layer.name;
  }
  EXPECT_EQ(stream_kinds(model), (std::map<std::string, std::int64_t>{{"Add", 16},
                                                                      {"BatchNormalization", 53},
                                                                      {"GlobalAveragePool", 1},
                                                                      {"MaxPool", 1},
                                                                      {"Relu", 49}}));
  const auto pool = std::find_if(model.streams.begin(), model.streams.end(),
                                 [](const Stream& stream) { return stream.name == "pool1"; });
  ASSERT_NE(pool, model.streams.end());
  EXPECT_EQ(pool->in, Bits{8 * 64 * 112 * 112});
  EXPECT_EQ(pool->out, Bits{8 * 64 * 56 * 56});
  EXPECT_TRUE(model.unpriced.empty());
}

TEST_F(Onnx, FillsSymbolicDimsAndBatchesAttention) {
  OnnxOptions options;
  options.dims = {{"batch", 2}, {"seq", 128}};
  const Network model = read("attention.onnx", options);
  const auto single =
      Precision{{{Role::kInput, Bits{32}}, {Role::kWeight, Bits{32}}, {Role::kOutput, Bits{32}}},
                {},
                Bits{32}};
  ASSERT_EQ(model.layers.size(), 3);
  EXPECT_EQ(model.layers[0].workload, gemm("q", {256, 768, 768, std::nullopt}, single));
  EXPECT_EQ(model.layers[0].count, 4);
  EXPECT_EQ(model.layers[1].workload, gemm("scores", {128, 128, 64, 24}, single));
  EXPECT_EQ(model.layers[2].workload, gemm("context", {128, 64, 128, 24}, single));
  EXPECT_EQ(stream_kinds(model),
            (std::map<std::string, std::int64_t>{{"Add", 4}, {"Softmax", 1}, {"Transpose", 4}}));
}

TEST_F(Onnx, AsksForDimsWithoutAValue) {
  EXPECT_EQ(error_of(kModels + "attention.onnx"),
            kModels + "attention.onnx: dims without a value: seq; give each with --dim NAME=N");
}

TEST_F(Onnx, ReadsEveryFormOfALayer) {
  const Network model = read("corners.onnx");
  std::map<std::string, std::int64_t> macs;
  for (const NetworkLayer& layer : model.layers) {
    macs[layer.name] = layer.workload.macs();
  }
  EXPECT_EQ(macs, (std::map<std::string, std::int64_t>{{"same_upper", 8 * 8 * 8 * 3 * 3 * 3},
                                                       {"depthwise", 8 * 7 * 7 * 3 * 3},
                                                       {"grouped", 4 * 7 * 3 * 4 * 1 * 3},
                                                       {"up", 16 * 5 * 7 * 8 * 4 * 4},
                                                       {"one_axis", 32 * 50 * 16 * 5},
                                                       {"row", 64 * 10}}));
  // 8 outputs of stride 2 under a kernel of 3: 17 of input and padding, 15 of them stored.
  const Workload& same = find(model, "same_upper")->workload;
  EXPECT_EQ(same.tensors[TensorId{0}].stored_elements, 3 * 15 * 15);
  ConvShape wide;
  wide.in_channels = 3;
  wide.out_channels = 8;
  wide.input = {17, 17};
  wide.kernel = {3, 3};
  wide.stride = {2, 2};
  EXPECT_EQ(same.dims, conv2d("", wide).dims);
  EXPECT_EQ(model.unpriced,
            (std::map<std::string, std::int64_t>{
                {"Conv_3D", 1}, {"NonMaxSuppression", 1}, {"com.example.Fancy", 1}}));
  EXPECT_EQ(stream_kinds(model), (std::map<std::string, std::int64_t>{{"Gather", 1}}));
}

TEST_F(Onnx, TakesTheWidthsOfQuantisedModels) {
  const Network model = read("quantised.onnx");
  ASSERT_EQ(model.layers.size(), 1);
  const Workload& conv = model.layers[0].workload;
  EXPECT_EQ(conv.tensors[TensorId{0}].bits, Bits{8});
  EXPECT_EQ(conv.tensors[TensorId{1}].bits, Bits{8});
  EXPECT_EQ(conv.tensors[conv.output()].bits, Bits{8});
  EXPECT_EQ(conv.tensors[conv.output()].partial_bits, Bits{32});
  EXPECT_EQ(conv.macs(), 16 * 14 * 14 * 8 * 9);
}

TEST_F(Onnx, SaysWhatIsWrongWithAModel) {
  EXPECT_EQ(error_of(kModels + "nowhere.onnx"),
            kModels + "nowhere.onnx: cannot be read: No such file or directory");
  EXPECT_EQ(error_of(MAPSIM_SOURCE_DIR "/README.md"),
            MAPSIM_SOURCE_DIR "/README.md: not an ONNX model, or cut short");
  EXPECT_THAT(error_of(kModels + "contradiction.onnx"),
              testing::HasSubstr("contradiction.onnx: MatMul 'product': "));
}

TEST_F(Onnx, SurvivesDamagedModels) {
  std::ifstream stream{kModels + "corners.onnx", std::ios::binary};
  const std::string whole{std::istreambuf_iterator<char>{stream}, {}};
  ASSERT_FALSE(whole.empty());
  const std::string damaged = testing::TempDir() + "damaged.onnx";
  Rng rng{7};
  int read_all_the_same = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text = whole.substr(0, i % 4 == 0 ? rng.below(whole.size()) : whole.size());
    for (int flips = 0; flips < 3 && !text.empty(); ++flips) {
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    }
    std::ofstream{damaged, std::ios::binary} << text;
    read_all_the_same += error_of(damaged) == "no error" ? 1 : 0;
  }
  EXPECT_LT(read_all_the_same, 400);
}

TEST_F(Onnx, PrintsANetworkThatReadsBack) {
  const Network model = read("corners.onnx");
  const std::filesystem::path folder = testing::TempDir() + "onnx_network";
  std::filesystem::create_directories(folder);
  for (const NetworkLayer& layer : model.layers) {
    std::ofstream{folder / (layer.name + ".yaml")} << print_workload(layer.workload);
  }
  const Network back = parse_network(print_network(model, "."), folder / "network.yaml");
  EXPECT_EQ(back.streams, model.streams);
  EXPECT_EQ(back.unpriced, model.unpriced);
  EXPECT_EQ(back.macs(), model.macs());
}

}  // namespace
}  // namespace mapsim
