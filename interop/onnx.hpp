// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A model in the Open Neural Network Exchange format as plain values: operators in topological
// order, every tensor with its inferred shape.
struct OnnxTensor {
  std::string name;  // empty: an optional input that is left out
  std::optional<std::vector<std::int64_t>> shape;
  Bits bits{0};           // of an element; 0: unknown
  bool constant = false;  // a weight of the model
  bool number = true;     // false: text, complex numbers
  friend bool operator==(const OnnxTensor&, const OnnxTensor&) = default;
};
struct OnnxNode {  // an operator
  std::string name;
  std::string op;  // with its domain, unless that is ONNX's own: com.microsoft.Gelu
  std::vector<OnnxTensor> inputs, outputs;
  std::map<std::string, std::vector<std::int64_t>> integers;  // attributes; a single one as a list
  std::map<std::string, std::string> words;
  std::map<std::string, std::int64_t> inside{};  // numbers of operators in bodies of If, Loop ...
  friend bool operator==(const OnnxNode&, const OnnxNode&) = default;
};
struct OnnxGraph {
  std::string name;
  std::string file;
  std::vector<OnnxNode> nodes;
  std::int64_t batch = 1;  // the symbolic first dim of the inputs, if they have one
  bool stretched = false;  // the first dims were 1 and not symbolic, and are `batch` now
  std::vector<std::string> warnings{};  // about what may be misread
  std::vector<std::string> outputs{};   // tensors
  friend bool operator==(const OnnxGraph&, const OnnxGraph&) = default;
};

// How a model is read.
struct OnnxOptions {
  std::map<std::string, std::int64_t> dims;      // symbolic dims of the model's inputs
  std::map<std::string, std::int64_t> inputs{};  // of inputs on which shapes or branches depend
  // Value of a symbolic first dim that `dims` does not name, or of a first dim that is 1 in every
  // input.
  std::int64_t batch = 1;
  // Width of all operands, with sums of 32 b. Absent: the widths of the model.
  std::optional<Bits> operand_bits;
};

// Reads a model and infers shapes. Where inference fails, the shapes in the file are taken. A
// symbolic first dim is the batch, unless its name shows that it counts tokens or steps. An unnamed
// dim is called INPUT[AXIS]. The model's own functions are inlined. Unknown operators have results
// of unknown shape. Throws ConfigError if the file cannot be read or is no ONNX model, for an opset
// below 1, symbolic dims without a value, `dims` that no input has, a tensor without a producer or
// with two, or an attribute of a wrong type.
OnnxGraph read_onnx(const std::string& path, const OnnxOptions& options);

// A model as a network (docs/formats.md, ONNX):
// - Conv, ConvTranspose, Gemm, MatMul, Einsum, recurrent operators, attention and convolutions of
//   three axes become layers, each shape once; a BatchNormalization of a layer's result is a part
//   of that layer;
// - memory-bound operators become streams; views (Reshape, Flatten, ...) vanish;
// - other operators, and those of unknown shape, are counted.
// `graph` has the edges. The network may have no layer. Throws ConfigError for a layer whose shapes
// contradict each other, and beyond 2^62 MACs or 2^56 bits moved.
Network to_network(const OnnxGraph& graph, const OnnxOptions& options);

// A text of a model, which may be any bytes: those that are not UTF-8 become U+FFFD.
std::string as_text(std::string bytes);

}  // namespace mapsim
