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
#include "interop/onnx_check.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"
#include "workloads/print.hpp"

namespace mapsim::onnx_test {
namespace {

// Made by tools/make_onnx_models.py when the tests are built.
const std::string kModels = std::string{kBuild} + "/models/";

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

TEST(Onnx, ReadsResNet50AsTheShippedLayers) {
  OnnxOptions options;
  options.operand_bits = Bits{8};
  const Network model = read("resnet50.onnx", options);
  const Network shipped = load_network(source_path("configs/networks/resnet50.yaml"));
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
  EXPECT_EQ(stream_kinds(model),
            (std::map<std::string, std::int64_t>{
                {"Add", 16}, {"GlobalAveragePool", 1}, {"MaxPool", 1}, {"Relu", 49}}));
  const auto pool = std::find_if(model.streams.begin(), model.streams.end(),
                                 [](const Stream& stream) { return stream.name == "pool1"; });
  ASSERT_NE(pool, model.streams.end());
  EXPECT_EQ(pool->in, Bits{8 * 64 * 112 * 112});
  EXPECT_EQ(pool->out, Bits{8 * 64 * 56 * 56});
  EXPECT_TRUE(model.unpriced.empty());
}

// As the shipped graph has it: every edge of a residual block, batch normalisation in the layers.
TEST(Onnx, KeepsTheEdgesOfResNet50) {
  OnnxOptions options;
  options.operand_bits = Bits{8};
  const NetworkGraph model = read("resnet50.onnx", options).graph.value();
  const NetworkGraph shipped =
      load_network(source_path("configs/networks/graphs/resnet50.yaml")).graph.value();
  EXPECT_EQ(model.macs(), shipped.macs());
  const GraphLinks links = links_of(model);
  const auto readers = [&](const NetworkGraph& graph, const GraphLinks& of) {
    std::int64_t several = 0;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      several += of.readers[t].size() > 1 ? 1 : 0;
    }
    return several;
  };
  EXPECT_EQ(readers(model, links), readers(shipped, links_of(shipped)));
  const std::size_t sum = model.find_node("conv3_2_add").value();
  ASSERT_EQ(model.nodes[sum].in.size(), 2U);
  const GraphNode& last = model.nodes[links.producer[model.nodes[sum].in[1].tensor].value()];
  EXPECT_EQ(last.name, "conv3_2_c");
  EXPECT_EQ(last.epilogue, std::vector<std::string>{"bias"});
  EXPECT_EQ(last.in.at(0).of, TensorId{0});
  EXPECT_EQ(model.tensors[model.nodes[sum].out[0]].shape, (Extents{1, 512, 28, 28}));
  EXPECT_EQ(model.inputs.size(), 1U);
  ASSERT_EQ(model.outputs.size(), 1U);
  EXPECT_EQ(links.producer[model.outputs[0]], model.nodes.size() - 1);
}

TEST(Onnx, TakesTheBranchThatAGivenInputChooses) {
  EXPECT_EQ(read("bodies.onnx").unpriced.count("MaxPool_in_If"), 1U);
  OnnxOptions options;
  for (const auto& [yes, taken] : {std::pair{1, "MaxPool"}, std::pair{0, "AveragePool"}}) {
    options.inputs = {{"yes", yes}};
    const Network model = read("bodies.onnx", options);
    EXPECT_EQ(stream_kinds(model).count(taken), 1U) << taken;
    EXPECT_EQ(model.unpriced.count("MaxPool_in_If"), 0U);
  }
  options.inputs = {{"maybe", 1}};
  EXPECT_EQ(error_of(kModels + "bodies.onnx", options),
            kModels + "bodies.onnx: --input maybe: the model has no such input");
}

TEST(Onnx, FillsSymbolicDimsAndBatchesAttention) {
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

TEST(Onnx, AsksForDimsWithoutAValue) {
  EXPECT_EQ(error_of(kModels + "attention.onnx"),
            kModels +
                "attention.onnx: dims without a value: seq; give each with --dim NAME=N, in "
                "a campaign with dims: {NAME: N}");
}

TEST(Onnx, ReadsEveryFormOfALayer) {
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
                                                       {"row", 64 * 10},
                                                       {"three_axes", 4 * 2 * 27 * 216}}));
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
  EXPECT_EQ(model.unpriced, (std::map<std::string, std::int64_t>{{"NonMaxSuppression", 1},
                                                                 {"com.example.Fancy", 1}}));
  EXPECT_EQ(stream_kinds(model), (std::map<std::string, std::int64_t>{{"Gather", 1}}));
}

// What the file says of an operator's result counts where inference finds nothing; what nobody
// knows is counted.
TEST(Onnx, ListsWhatItCannotPrice) {
  OnnxOptions options;
  options.batch = 2;
  const Network model = read("strange.onnx", options);
  EXPECT_EQ(model.batch, 2);
  ASSERT_EQ(model.layers.size(), 1);
  EXPECT_EQ(model.layers[0].count, 2);
  EXPECT_EQ(model.macs(), 2 * 2 * 8 * 32 * 32 * 8 * 9);
  EXPECT_EQ(stream_kinds(model),
            (std::map<std::string, std::int64_t>{{"Relu", 1}, {"Upsample", 1}}));
  EXPECT_EQ(model.streams.back().in, Bits{32 * 2 * 8 * 32 * 32});
  EXPECT_EQ(model.unpriced, (std::map<std::string, std::int64_t>{{"Cast_of_unknown_size", 1},
                                                                 {"Conv_of_unknown_shape", 1},
                                                                 {"NonZero", 1},
                                                                 {"Sqrt_of_unknown_size", 1},
                                                                 {"com.example.Magic", 2},
                                                                 {"com.example.R___wb___tes", 1}}));
}

TEST(Onnx, TakesModelsWithoutLayers) {
  EXPECT_EQ(stream_kinds(read("pooling.onnx")),
            (std::map<std::string, std::int64_t>{{"MaxPool", 1}}));
  EXPECT_EQ(read("nothing.onnx").unpriced, (std::map<std::string, std::int64_t>{{"NonZero", 1}}));
  EXPECT_EQ(read("recurrent.onnx").macs(), 10 * 128 * (64 + 32));
}

// Shapes that models compute of shapes, one behind the other; and a dim without a name goes by its
// place.
TEST(Onnx, ComputesShapesOfShapes) {
  const std::string views = kModels + "views.onnx";
  EXPECT_EQ(error_of(views),
            views +
                ": dims without a value: tokens[1]; give each with --dim NAME=N, in a campaign "
                "with dims: {NAME: N}");
  OnnxOptions options;
  options.dims = {{"tokens[1]", 128}};
  const Network model = read("views.onnx", options);
  EXPECT_EQ(model.unpriced, (std::map<std::string, std::int64_t>{}));
  const std::int64_t attention = 128 * 768 * 768 + 2 * 12 * 128 * 128 * 64;
  EXPECT_EQ(model.macs(), 2 * attention + 20 * 30 * 8 * 8 * 9 + 5 * 32 * 16);
}

using Counts = std::map<std::string, std::int64_t>;

Counts macs_by_name(const Network& network) {
  Counts macs;
  for (const NetworkLayer& layer : network.layers) {
    macs[layer.name] = layer.workload.macs();
  }
  return macs;
}

// 12 heads of 16 x 64; then a function that multiplies twice, inside another.
TEST(Onnx, ReadsEinsumsFunctionsAndBodies) {
  const Network model = read("products.onnx");
  EXPECT_EQ(macs_by_name(model), (Counts{{"scores", 12 * 16 * 16 * 64},
                                         {"context", 12 * 16 * 64 * 16},
                                         {"call_Twice_first", 16 * 12 * 64 * 10},
                                         {"call_Twice_second", 16 * 12 * 10 * 64},
                                         {"last", 16 * 12 * 64 * 5}}));
  EXPECT_EQ(stream_kinds(model), (Counts{{"Softmax", 1}, {"Relu", 1}}));
  EXPECT_EQ(model.unpriced, (Counts{{"Einsum", 1},
                                    {"MatMul_in_If", 2},
                                    {"MatMul_of_no_numbers", 1},
                                    {"MatMul_of_unknown_shape", 1},
                                    {"local.Source", 1},
                                    {"Tile_of_unknown_size", 1}}));
}

TEST(Onnx, TakesTheBranchThatRuns) {
  OnnxOptions options;
  for (const std::int64_t n : {1, 5}) {
    options.dims = {{"n", n}};
    const Network model = read("branches.onnx", options);
    EXPECT_EQ(macs_by_name(model), (Counts{{n == 1 ? "then_branch" : "else_branch", n * 32 * 16},
                                           {"after", n * 16 * 8}}));
    EXPECT_EQ(model.unpriced, Counts{});
  }
}

// What a custom operator makes has an unknown shape, so all that depends on it is listed; the rest
// is priced.
TEST(Onnx, PricesWhatIsBesideACustomOperator) {
  const Network model = read("custom.onnx");
  EXPECT_EQ(macs_by_name(model), (Counts{{"product", 4 * 8 * 16}}));
  EXPECT_EQ(model.unpriced, (Counts{{"com.example.Fancy", 1}, {"MatMul_of_unknown_shape", 1}}));
  EXPECT_TRUE(model.warnings.empty());
}

TEST(Onnx, InfersInBodies) {
  const Network model = read("bodies.onnx");
  EXPECT_EQ(macs_by_name(model), (Counts{{"after_if", 4 * 4 * 4 * 8},
                                         {"after_loop", 3 * 16 * 4},
                                         {"after_scan", 3 * 16 * 5}}));
  EXPECT_EQ(model.unpriced.at("MatMul_of_unknown_shape"), 1) << "what grows has no shape";
}

// A name of a layer is that of a file, too: 255 bytes at most.
TEST(Onnx, ShortensLongNames) {
  const Network model = read("long_names.onnx");
  ASSERT_EQ(model.layers.size(), 3);
  for (const NetworkLayer& layer : model.layers) {
    EXPECT_LE(layer.name.size(), 220) << layer.name;
    EXPECT_THAT(layer.name,
                testing::AllOf(testing::StartsWith("layer_layer_"), testing::HasSubstr("_layer_")));
  }
  EXPECT_THAT(model.layers[0].name, testing::EndsWith("_layer_0"));
  EXPECT_THAT(model.layers[1].name, testing::EndsWith("_layer_1"));
  EXPECT_THAT(model.layers[2].name, testing::EndsWith("_layer_0_2"));
}

TEST(Onnx, CallsLayersWithoutNamesByOperatorAndIndex) {
  const Network model = read("unnamed.onnx");
  EXPECT_EQ(macs_by_name(model),
            (Counts{{"Conv_0", 10 * 10 * 4 * 3 * 9}, {"Conv_3", 7 * 7 * 7 * 4 * 9}}));
  EXPECT_EQ(model.streams.at(0).name, "Relu_1");
}

// Of opset 26 no operator that was there before changed; what comes after 27 may have.
TEST(Onnx, WarnsOfOpsetsThatAreNewerThanItKnows) {
  const Network known = read("opset_26.onnx");
  EXPECT_EQ(known.macs(), 4 * 4 * 4 * 4 * 9);
  EXPECT_TRUE(known.warnings.empty());
  const Network newer = read("opset_99.onnx");
  EXPECT_EQ(newer.macs(), known.macs());
  EXPECT_THAT(
      newer.warnings,
      testing::ElementsAre(
          "opset 99 is newer than 27, the newest known here: an operator that changed since "
          "is read in its older form; the model has Conv"));
}

TEST(Onnx, ReadsTheFormsOfNewerOpsets) {
  OnnxOptions options;
  options.batch = 2;
  const Network model = read("newer.onnx", options);
  EXPECT_EQ(
      macs_by_name(model),
      (Counts{{"conv", 2 * 8 * 36 * 4 * 9}, {"head", 2 * 10 * 8}, {"point", 2 * 8 * 36 * 8}}));
  EXPECT_EQ(model.unpriced, Counts{});
  EXPECT_EQ(model.streams.back().out, Bits{32 * 2 * 8 * 6 * 8});
}

// Where every input has a first dim of 1 it can be more, unless the model has it built in.
TEST(Onnx, TakesMoreInputsThanTheOneThatAModelIsMadeFor) {
  OnnxOptions options;
  options.batch = 8;
  const Network model = read("one_input.onnx", options);
  EXPECT_EQ(model.batch, 8);
  EXPECT_EQ(model.macs(), 8 * 16 * 32 * 32);
  EXPECT_EQ(model.streams.back().in, Bits{32 * 8 * 16 * 32});
  EXPECT_EQ(read("one_input.onnx").macs(), 16 * 32 * 32);
  EXPECT_EQ(error_of(kModels + "built_in.onnx", options),
            kModels +
                "built_in.onnx: Reshape 'split': 4096 elements cannot have a shape of 512; "
                "the model is made for one input at a time: export it with a symbolic batch");
}

TEST(Onnx, RefusesBrokenModels) {
  EXPECT_EQ(error_of(kModels + "opset_0.onnx"),
            kModels + "opset_0.onnx: opset 0: the first one is 1");
  EXPECT_EQ(error_of(kModels + "word.onnx"),
            kModels + "word.onnx: Conv 'conv': 'strides' is of type STRING, not INTS");
  for (const char* model : {"endless.onnx", "doubling.onnx"}) {
    EXPECT_EQ(
        error_of(kModels + model),
        kModels + model + ": the model's functions call themselves, or far too many operators");
  }
  EXPECT_EQ(error_of(kModels + "twice.onnx"),
            kModels + "twice.onnx: Relu 'same' makes 'same_out', which is there already");
}

TEST(Onnx, CallsOperatorsWithoutNamesByWhatTheyMake) {
  Model model;
  model.opsets[""] = 13;
  model.graph.nodes.push_back({"", "Gemm", "", "", {"x"}, {"y"}, {}});
  try {
    check_onnx(model, "m.onnx");
    ADD_FAILURE() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "m.onnx: Gemm that makes 'y' reads 'x', which nothing before it makes");
  }
}

// A typing error would leave the default of an attribute.
TEST(Onnx, WarnsOfAttributesThatAnOperatorDoesNotHave) {
  Model model;
  model.opsets[""] = 13;
  ModelAttribute right, wrong;
  right.name = "strides";
  right.type = kOnnxIntegersAttribute;
  wrong.name = "stride";
  model.graph.nodes.push_back({"first", "Conv", "", "", {}, {"x"}, {right, wrong}});
  model.graph.nodes.push_back({"second", "Conv", "", "", {}, {"y"}, {wrong}});
  model.graph.nodes.push_back({"third", "Softmax", "", "", {}, {"z"}, {wrong}});
  model.graph.nodes.push_back({"fourth", "Conv", "com.example", "", {}, {"w"}, {wrong}});
  EXPECT_EQ(
      check_onnx(model, "m.onnx"),
      std::vector<std::string>{"Conv 'first': Conv has no attribute 'stride'; it is not read"});
}

// --dim of the batch is a batch; tokens are not.
TEST(Onnx, KnowsTheBatchByItsName) {
  OnnxOptions options;
  options.dims = {{"N", 3}};
  EXPECT_EQ(read("strange.onnx", options).batch, 3);
  const std::string tokens = kModels + "tokens_first.onnx";
  options.dims = {{"b", 4}};
  EXPECT_EQ(error_of(tokens, options),
            tokens +
                ": dims without a value: seq; give each with --dim NAME=N, in a campaign with "
                "dims: {NAME: N}");
  options.dims["seq"] = 16;
  EXPECT_EQ(read("tokens_first.onnx", options).batch, 1);
  EXPECT_EQ(read("tokens_first.onnx", options).macs(), 16 * 4 * 64 * 64);
  options.dims["nope"] = 4;
  EXPECT_EQ(error_of(tokens, options),
            tokens + ": --dim nope: no input has such a dim; symbolic dims: b, seq");
}

TEST(Onnx, TakesTheWidthsOfQuantisedModels) {
  const Network model = read("quantised.onnx");
  ASSERT_EQ(model.layers.size(), 1);
  const Workload& conv = model.layers[0].workload;
  EXPECT_EQ(conv.tensors[TensorId{0}].bits, Bits{8});
  EXPECT_EQ(conv.tensors[TensorId{1}].bits, Bits{8});
  EXPECT_EQ(conv.tensors[conv.output()].bits, Bits{8});
  EXPECT_EQ(conv.tensors[conv.output()].partial_bits, Bits{32});
  EXPECT_EQ(conv.macs(), 16 * 14 * 14 * 8 * 9);
}

TEST(Onnx, SaysWhatIsWrongWithAModel) {
  EXPECT_EQ(error_of(kModels + "nowhere.onnx"),
            kModels + "nowhere.onnx: cannot be read: No such file or directory");
  EXPECT_EQ(error_of(source_path("README.md")),
            source_path("README.md") + ": not an ONNX model, or cut short");
  EXPECT_THAT(error_of(kModels + "contradiction.onnx"),
              testing::HasSubstr("contradiction.onnx: MatMul 'product': "));
  EXPECT_EQ(error_of(kModels + "from_nowhere.onnx"),
            kModels + "from_nowhere.onnx: MatMul 'mm' reads 'q', which nothing before it makes");
}

TEST(Onnx, SurvivesDamagedModels) {
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

TEST(Onnx, PrintsANetworkThatReadsBack) {
  const Network model = read("corners.onnx");
  const std::filesystem::path folder = testing::TempDir() + "onnx_network";
  std::filesystem::create_directories(folder);
  for (const NetworkLayer& layer : model.layers) {
    const std::string text = print_layer(layer.workload);
    EXPECT_EQ(parse_workload(text, layer.name), layer.workload) << text;
    EXPECT_THAT(text, testing::AnyOf(testing::HasSubstr("\nconv2d:"), testing::HasSubstr("\ngemm:"),
                                     testing::HasSubstr("\neinsum:")));
    std::ofstream{folder / (layer.name + ".yaml")} << text;
  }
  const Network back = parse_network(print_network(model, "."), folder / "network.yaml");
  EXPECT_EQ(back.streams, model.streams);
  EXPECT_EQ(back.unpriced, model.unpriced);
  EXPECT_EQ(back.macs(), model.macs());
}

}  // namespace
}  // namespace mapsim::onnx_test
