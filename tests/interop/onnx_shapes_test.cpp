// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "interop/onnx.hpp"
#include "interop/onnx_rules.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::onnx_shapes_test {
namespace {

// Made by make_shape_cases.py when the tests are built: random operators, and what ONNX's own
// inference finds.
const std::filesystem::path kCases = std::string{kBuild} + "/models/shapes";

std::string described(const OnnxTensor& tensor) {
  std::string text = tensor.name + ":";
  for (const std::int64_t extent : tensor.shape.value_or(std::vector<std::int64_t>{-1})) {
    text += ' ' + std::to_string(extent);
  }
  return text;
}

TEST(OnnxShapes, AreThoseOfOnnx) {
  std::size_t tensors = 0;
  for (const auto& file : std::filesystem::directory_iterator{kCases}) {
    if (file.path().extension() != ".onnx") {
      continue;
    }
    const OnnxGraph graph = read_onnx(file.path().string(), {});
    std::map<std::string, OnnxTensor> made;
    for (const OnnxNode& node : graph.nodes) {
      for (const OnnxTensor& tensor : node.outputs) {
        made[tensor.name] = tensor;
      }
    }
    std::ifstream wanted{std::filesystem::path{file.path()}.replace_extension(".txt")};
    std::string line;
    while (std::getline(wanted, line)) {
      std::istringstream words{line};
      OnnxTensor tensor;
      int type = 0;
      words >> tensor.name >> type;
      tensor.shape.emplace();
      for (std::int64_t extent = 0; words >> extent;) {
        tensor.shape->push_back(extent);
      }
      ASSERT_EQ(described(made[tensor.name]), described(tensor)) << file.path();
      const std::map<int, int> bits{{1, 32}, {2, 8},   {3, 8},   {6, 32}, {7, 64},
                                    {9, 8},  {10, 16}, {11, 64}, {5, 16}};
      ASSERT_EQ(made[tensor.name].bits.count(), bits.at(type)) << file.path() << line;
      ++tensors;
    }
  }
  EXPECT_GT(tensors, 1000);
}

// A node with operands, as rules see it.
struct Asked {
  std::string op;
  std::int64_t opset = 27;
  Facts operands{};
  std::map<std::string, OnnxShape> lists{};
  std::map<std::string, std::int64_t> integers{};
  std::map<std::string, std::string> texts{};
  std::size_t results = 1;
};

TensorFacts real(OnnxShape shape) { return {kOnnxFloat, std::move(shape)}; }
TensorFacts values(OnnxNumbers numbers, int type = kOnnxInt64) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  return {type, OnnxShape{count}, std::move(numbers)};
}
const TensorFacts kLeftOut{};

Facts answer(const Asked& asked) {
  ModelNode node;
  node.op = asked.op;
  node.outputs.resize(asked.results, "y");
  std::vector<const TensorFacts*> operands;
  for (const TensorFacts& facts : asked.operands) {
    node.inputs.push_back(facts.type == 0 ? "" : "x");
    operands.push_back(&facts);
  }
  for (const auto& [name, list] : asked.lists) {
    node.attributes.push_back({name, "", kOnnxIntegersAttribute, 0, 0, "", list, {}, {}, {}});
  }
  for (const auto& [name, number] : asked.integers) {
    node.attributes.push_back({name, "", kOnnxIntegerAttribute, number, 0, "", {}, {}, {}, {}});
  }
  for (const auto& [name, text] : asked.texts) {
    node.attributes.push_back({name, "", kOnnxTextAttribute, 0, 0, text, {}, {}, {}, {}});
  }
  std::size_t budget = 1'000'000;
  return infer_results(OnnxOperator{node, asked.opset, operands}, budget);
}

OnnxShape shape_of(const Asked& asked) {
  return answer(asked)[0].shape.value_or(OnnxShape{-99});  // none at all
}

using Shape = OnnxShape;

// Forms that ONNX 1.12, which the random cases come from, does not have.
TEST(OnnxShapes, KnowTheFormsOfNewerOpsets) {
  const TensorFacts image = real({2, 8, 7, 9});
  const Facts parts = answer({"Split", 18, {real({10, 3})}, {}, {{"num_outputs", 4}}, {}, 4});
  EXPECT_EQ(parts[0].shape, (Shape{3, 3}));
  EXPECT_EQ(parts[3].shape, (Shape{1, 3}));
  EXPECT_EQ(shape_of({"ReduceMean", 18, {image, values({2, 3})}, {}, {{"keepdims", 0}}}),
            (Shape{2, 8}));
  EXPECT_EQ(shape_of({"ReduceMax", 18, {image, kLeftOut}, {}, {{"noop_with_empty_axes", 1}}}),
            (Shape{2, 8, 7, 9}));
  EXPECT_EQ(shape_of({"Pad", 18, {image, values({1, 2}), kLeftOut, values({-1})}}),
            (Shape{2, 8, 7, 12}));
  EXPECT_EQ(shape_of({"Resize",
                      18,
                      {image, kLeftOut, kLeftOut, values({14, 14})},
                      {{"axes", {2, 3}}},
                      {},
                      {{"keep_aspect_ratio_policy", "not_larger"}}}),
            (Shape{2, 8, 11, 14}));
  EXPECT_EQ(shape_of({"Col2Im", 18, {real({1, 18, 25}), values({6, 6}), values({3, 3})}}),
            (Shape{1, 2, 6, 6}));
  EXPECT_EQ(shape_of({"CenterCropPad", 18, {image, values({5, 20})}, {{"axes", {2, 3}}}}),
            (Shape{2, 8, 5, 20}));
  EXPECT_EQ(shape_of({"DFT", 20, {real({1, 16, 1}), kLeftOut, values({1})}, {}, {{"onesided", 1}}}),
            (Shape{1, 9, 2}));
  EXPECT_EQ(shape_of({"AffineGrid", 20, {real({2, 2, 3}), values({2, 3, 5, 6})}}),
            (Shape{2, 5, 6, 2}));
  EXPECT_EQ(shape_of({"Attention",
                      23,
                      {real({1, 5, 64}), real({1, 9, 32}), real({1, 9, 48})},
                      {},
                      {{"q_num_heads", 8}, {"kv_num_heads", 4}}}),
            (Shape{1, 5, 96}));
  EXPECT_EQ(answer({"QuantizeLinear", 21, {image, real({})}, {}, {{"output_dtype", 22}}})[0].type,
            22);
  EXPECT_EQ(answer({"QuantizeLinear", 21, {image, real({})}, {}, {{"output_dtype", 0}}})[0].type,
            kOnnxUint8);
  for (const char* op : {"RMSNormalization", "Swish", "CumProd", "GroupNormalization", "Gelu"}) {
    EXPECT_EQ(shape_of({op, 26, {image}}), (Shape{2, 8, 7, 9})) << op;
  }
  // A window that begins in the padding behind the data does not count: (3 + 2 - 2) / 3 rounded up
  // would be a second one.
  EXPECT_EQ(shape_of({"MaxPool",
                      22,
                      {real({1, 1, 2})},
                      {{"kernel_shape", {2}}, {"strides", {3}}, {"pads", {1, 1}}},
                      {{"ceil_mode", 1}}}),
            (Shape{1, 1, 1}));
}

// What is known of a shape in part is not lost.
TEST(OnnxShapes, KeepWhatIsKnownInPart) {
  const TensorFacts part = real({2, kUnknownExtent, 5});
  EXPECT_EQ(shape_of({"Add", 14, {part, real({7, 1})}}), (Shape{2, 7, 5}));
  EXPECT_EQ(shape_of({"Transpose", 13, {part}}), (Shape{5, kUnknownExtent, 2}));
  EXPECT_EQ(shape_of({"GlobalMaxPool", 1, {real({1, 8, kUnknownExtent, kUnknownExtent})}}),
            (Shape{1, 8, 1, 1}));
  const TensorFacts shape = answer({"Shape", 15, {part}})[0];
  EXPECT_EQ(shape.shape, Shape{3});
  EXPECT_TRUE(std::isnan((*shape.values)[1]));
  EXPECT_EQ((*shape.values)[2], 5);
  EXPECT_FALSE(shape.is_constant());
  EXPECT_EQ(
      shape_of({"Reshape", 14, {real({2, 3, 4}), {kOnnxInt64, Shape{2}, OnnxNumbers{6, NAN}}}}),
      (Shape{6, 4}))
      << "the only one that is not known is what is left over";
  EXPECT_EQ(shape_of({"Reshape", 14, {part, {kOnnxInt64, Shape{4}}}}), Shape(4, kUnknownExtent));
  EXPECT_EQ(shape_of({"NonZero", 13, {part}}), (Shape{3, kUnknownExtent}));
}

TEST(OnnxShapes, AreNotKnownWhereOperandsContradictEachOther) {
  const Shape none{-99};
  EXPECT_EQ(shape_of({"Add", 14, {real({2, 3}), real({4})}}), none);
  EXPECT_EQ(shape_of({"MatMul", 13, {real({2, 3}), real({4, 5})}}), none);
  EXPECT_EQ(shape_of({"Concat", 13, {real({2, 3}), real({2, 4})}, {}, {{"axis", 0}}}), none);
  EXPECT_EQ(shape_of({"Transpose", 13, {real({2, 3})}, {{"perm", {0, 2}}}}), none);
  EXPECT_EQ(shape_of({"Gather", 13, {real({2, 3}), values({0})}, {}, {{"axis", 2}}}), none);
  EXPECT_EQ(shape_of({"Conv", 22, {real({1, 3, 9}), real({4, 3, 3})}, {{"strides", {0}}}}), none);
  EXPECT_EQ(shape_of({"Relu", 14}), none) << "without an operand";
  EXPECT_EQ(shape_of({"Tile", 13, {real({4}), values({0x1p62L})}}), Shape{kUnknownExtent})
      << "too large";
  EXPECT_EQ(shape_of({"Nonsense", 14, {real({4})}}), none);
}

OnnxNumbers folded(const Asked& asked) {
  return answer(asked)[0].values.value_or(OnnxNumbers{-99});
}

// As models compute sizes: in the type of the tensors.
TEST(OnnxShapes, AreComputedAsTensorsHoldThem) {
  const auto reals = [](OnnxNumbers numbers) { return values(std::move(numbers), kOnnxFloat); };
  using N = OnnxNumbers;
  EXPECT_EQ(folded({"Div", 14, {values({7, -7}), values({2})}}), (N{3, -3}));
  EXPECT_EQ(folded({"Div", 14, {reals({7}), reals({2})}}), N{3.5});
  EXPECT_EQ(folded({"Mul", 14, {reals({0.7F}), reals({10})}}), N{7}) << "rounded as a float is";
  EXPECT_EQ(folded({"Mod", 13, {values({7, -7}), values({-3})}}), (N{-2, -1}));
  EXPECT_EQ(folded({"Mod", 13, {values({7, -7}), values({-3})}, {}, {{"fmod", 1}}}), (N{1, -1}));
  EXPECT_EQ(folded({"Cast", 13, {reals({2.9F, -2.9F})}, {}, {{"to", kOnnxInt32}}}), (N{2, -2}));
  EXPECT_EQ(folded({"Max", 13, {values({1, 5}), values({3}), values({2, 9})}}), (N{3, 9}));
  EXPECT_EQ(folded({"Round", 11, {reals({0.5F, 1.5F})}}), (N{0, 2}));
  EXPECT_EQ(folded({"Where", 16, {values({1, 0}, kOnnxBool), values({4}), values({5, 6})}}),
            (N{4, 6}));
  EXPECT_EQ(folded({"ReduceProd", 13, {values({2, 3, 4})}, {}, {{"keepdims", 0}}}), N{24});
  EXPECT_EQ(folded({"Range", 11, {values({5}), values({0}), values({-2})}}), (N{5, 3, 1}));
  EXPECT_EQ(folded({"NonZero", 13, {values({1, 1, 0, 1})}}), (N{0, 1, 3}));
  // PyTorch's padding: pairs, last axis first, turned round.
  const TensorFacts pairs{kOnnxInt64, Shape{2, 2}, N{1, 2, 3, 4}};
  EXPECT_EQ(
      folded({"Slice", 13, {pairs, values({-1}), values({-0x1p63L}), values({0}), values({-1})}}),
      (N{3, 4, 1, 2}));
  EXPECT_EQ(folded({"Transpose", 13, {pairs}}), (N{1, 3, 2, 4}));
  EXPECT_EQ(folded({"Concat", 13, {pairs, {kOnnxInt64, Shape{2, 1}, N{8, 9}}}, {}, {{"axis", 1}}}),
            (N{1, 2, 8, 3, 4, 9}));
  EXPECT_EQ(folded({"Gather", 13, {pairs, values({1, -1})}, {}, {{"axis", 1}}}), (N{2, 2, 4, 4}));
  EXPECT_EQ(folded({"Tile", 13, {pairs, values({1, 2})}}), (N{1, 2, 1, 2, 3, 4, 3, 4}));
  const Facts halves = answer({"Split", 13, {values({6, 7, 8})}, {{"split", {1, 2}}}, {}, {}, 2});
  EXPECT_EQ(halves[1].values, (N{7, 8}));
  EXPECT_TRUE(std::isnan(folded({"Add", 14, {values({NAN}), values({1})}})[0]));
  EXPECT_TRUE(std::isnan(folded({"Equal", 14, {values({NAN}), values({1})}})[0]));
  EXPECT_TRUE(std::isnan(folded({"Mul", 14, {values({0x1p62L}), values({8})}})[0])) << "65 bits";
}

}  // namespace
}  // namespace mapsim::onnx_shapes_test
