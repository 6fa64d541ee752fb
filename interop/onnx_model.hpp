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

// The content of a file in the Open Neural Network Exchange format, as far as layers and shapes
// depend on it. Messages and numbers are those of onnx.proto of the ONNX project (onnx.ai), IR
// version 13.

// TensorProto.DataType, as far as mapsim uses it.
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

// AttributeProto.AttributeType, as far as mapsim uses it.
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

// Constants with more values than this are not read: shapes, axes and scales are short.
inline constexpr std::size_t kMostOnnxNumbers = 4096;

// A constant. Its values are views of the file, which are read if a shape depends on them.
struct ModelTensor {
  std::string name;
  int type = 0;
  std::vector<std::int64_t> dims;
  std::vector<WireField> data;  // raw_data, int64_data, ...; one more than kMostOnnxNumbers at most
  bool outside = false;         // in another file
};

struct ModelGraph;

struct ModelAttribute {  // AttributeProto
  std::string name;
  std::string reference;  // the attribute of a function's call that it stands for
  int type = 0;
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<ModelTensor> tensors;
  std::vector<ModelGraph> graphs;
};

struct ModelNode {  // NodeProto: an operator
  std::string name, op, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<ModelAttribute> attributes;
  std::size_t parts = 1;  // cost of a copy: the number of its messages and of long values
  const ModelAttribute* find(std::string_view attribute) const;  // or nullptr
  bool is_own() const { return domain.empty() || domain == "ai.onnx"; }
};

struct ModelDim {            // of a shape; an extent or the name of a symbol
  std::int64_t extent = -1;  // -1: none is given
  std::string symbol;
};

struct ModelValue {  // ValueInfoProto: type and shape of a tensor
  std::string name;
  int type = 0;                                // of an element
  bool sequence = false;                       // it is a sequence of such tensors
  std::optional<std::vector<ModelDim>> shape;  // absent: even the number of axes is unknown
};

struct ModelGraph {  // GraphProto
  std::string name;
  std::vector<ModelNode> nodes;
  std::vector<ModelTensor> constants;
  std::vector<ModelValue> inputs, outputs, values;
};

struct ModelFunction {  // FunctionProto
  std::string name, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<ModelAttribute> defaults;
  std::vector<ModelNode> nodes;
  std::map<std::string, std::int64_t> opsets;
};

struct Model {  // ModelProto
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  // by domain; ONNX's own is ""
  ModelGraph graph;
  std::vector<ModelFunction> functions;
  std::deque<std::string> made{};  // bytes of constants that are not in the file
};

// Limits of one model, with its functions inlined: messages, and how deep they are nested.
inline constexpr std::size_t kMostOnnxParts = 4'000'000;
inline constexpr int kDeepestOnnxPart = 100;

// Reads a model, which has views of `bytes`. Throws WireError if the bytes are no model, are cut
// short, or exceed the limits.
Model parse_model(std::string_view bytes);

// ONNX's name of a type of attributes: "INTS".
std::string_view onnx_attribute_type(int type);

}  // namespace mapsim
