// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interop/wire.hpp"

namespace mapsim {

// What a file in the Open Neural Network Exchange format says, as far as layers and shapes depend
// on it. The messages and their numbers: onnx.proto of the ONNX project (onnx.ai), IR version 13.

// TensorProto.DataType, those that have a meaning here.
enum OnnxType : int {
  kOnnxUndefined = 0,
  kOnnxFloat = 1,
  kOnnxUint8 = 2,
  kOnnxInt8 = 3,
  kOnnxUint16 = 4,
  kOnnxInt16 = 5,
  kOnnxInt32 = 6,
  kOnnxInt64 = 7,
  kOnnxString = 8,
  kOnnxBool = 9,
  kOnnxFloat16 = 10,
  kOnnxDouble = 11,
  kOnnxUint32 = 12,
  kOnnxUint64 = 13,
  kOnnxComplex64 = 14,
  kOnnxComplex128 = 15,
  kOnnxBfloat16 = 16
};

// AttributeProto.AttributeType, those that have a meaning here.
enum OnnxAttributeType : int {
  kOnnxRealAttribute = 1,
  kOnnxIntegerAttribute = 2,
  kOnnxTextAttribute = 3,
  kOnnxTensorAttribute = 4,
  kOnnxGraphAttribute = 5,
  kOnnxRealsAttribute = 6,
  kOnnxIntegersAttribute = 7,
  kOnnxTextsAttribute = 8,
  kOnnxGraphsAttribute = 10
};

// Values of which more than this many are not looked at: shapes, axes and scales are short.
inline constexpr std::size_t kMostOnnxNumbers = 4096;

// A constant. Its values are views of the file, read where a shape depends on them.
struct ModelTensor {
  std::string name;
  int type = 0;
  std::vector<std::int64_t> dims;
  std::vector<WireField> data;  // raw_data, int64_data, ...; one more than kMostOnnxNumbers at most
  bool outside = false;         // in another file
};

struct ModelGraph;

struct ModelAttribute {
  std::string name;
  std::string reference;  // an attribute of the function's call that it stands for
  int type = 0;
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<ModelTensor> tensors;
  std::vector<ModelGraph> graphs;
};

struct ModelNode {
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<ModelAttribute> attributes;
  std::size_t parts = 1;  // messages that it is made of, and longer values: what a copy costs
  const ModelAttribute* find(std::string_view attribute) const;
  bool is_own() const { return domain.empty() || domain == "ai.onnx"; }
};

struct ModelDim {
  std::int64_t extent = -1;  // -1: none is given
  std::string symbol;
};

struct ModelValue {
  std::string name;
  int type = 0;                                // of an element
  bool sequence = false;                       // of such tensors
  std::optional<std::vector<ModelDim>> shape;  // absent: not even the number of axes
};

struct ModelGraph {
  std::string name;
  std::vector<ModelNode> nodes;
  std::vector<ModelTensor> constants;
  std::vector<ModelValue> inputs, outputs, values;
};

struct ModelFunction {
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<ModelAttribute> defaults;
  std::vector<ModelNode> nodes;
  std::map<std::string, std::int64_t> opsets;
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // by domain; ONNX's own is ""
  ModelGraph graph;
  std::vector<ModelFunction> functions;
  std::deque<std::string> made{};  // bytes of constants that are not the file's
};

// Limits of one model, with its functions inlined: messages, and how deep they are nested.
inline constexpr std::size_t kMostOnnxParts = 4'000'000;
inline constexpr int kDeepestOnnxPart = 100;

// Throws WireError where the bytes are no model, are cut short, or exceed the limits. The model
// holds views of them.
Model parse_model(std::string_view bytes);

// "INTS": as ONNX calls a type of attributes.
std::string_view onnx_attribute_type(int type);

}  // namespace mapsim
