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
// order, every tensor with the shape that inference found.
struct OnnxTensor {
  std::string name;  // empty: an optional input that is left out
  std::optional<std::vector<std::int64_t>> shape;
  Bits bits{0};           // of an element; 0: unknown
  bool constant = false;  // a weight of the model
  bool number = true;     // false: text, complex numbers
  friend bool operator==(const OnnxTensor&, const OnnxTensor&) = default;
};
struct OnnxNode {
  std::string name;
  std::string op;  // with its domain, unless that is ONNX's own: com.microsoft.Gelu
  std::vector<OnnxTensor> inputs, outputs;
  std::map<std::string, std::vector<std::int64_t>> integers;  // attributes; a single one as a list
  std::map<std::string, std::string> words;
  std::map<std::string, std::int64_t> inside{};  // operators in bodies of If, Loop, ...: how many
  friend bool operator==(const OnnxNode&, const OnnxNode&) = default;
};
struct OnnxGraph {
  std::string name;
  std::string file;
  std::vector<OnnxNode> nodes;
  std::int64_t batch = 1;  // the symbolic first dim of the inputs, if they have one
  bool stretched = false;  // the first dims were 1 and not symbolic, and are `batch` now
  std::vector<std::string> warnings{};  // what may have been misread
  std::vector<std::string> outputs{};   // tensors
  friend bool operator==(const OnnxGraph&, const OnnxGraph&) = default;
};

struct OnnxOptions {
  std::map<std::string, std::int64_t> dims;      // symbolic dims of the model's inputs
  std::map<std::string, std::int64_t> inputs{};  // values of inputs that shapes and branches ask
  // A symbolic first dim that `dims` does not name; or one that is 1 in every input.
  std::int64_t batch = 1;
  // Width of operands, whatever the model says; sums then have 32 b. Absent: as in the model.
  std::optional<Bits> operand_bits;
};

// Reads a model and infers shapes; where an operator tells inference nothing, the shapes that the
// file itself gives. A symbolic first dim is the batch unless its name says that it counts tokens
// or steps. An unnamed dim is called INPUT[AXIS]. The model's own functions are inlined. Throws
// ConfigError: not readable, not ONNX, an opset below 1, symbolic dims without a value,
// `dims` that no input has, a tensor that nothing makes or that is made twice, an attribute of a
// wrong type. Operators that are not known make tensors of unknown shape.
OnnxGraph read_onnx(const std::string& path, const OnnxOptions& options);

// Conv, ConvTranspose, Gemm, MatMul and Einsum as layers, each shape once; operators that only move
// data as streams; views (Reshape, Flatten, ...) as nothing; all others, and those of unknown
// shape, counted. Recurrent operators, attention and convolutions of three axes are layers, too; a
// BatchNormalization of a layer's result is part of that. The edges stay, as `graph`. Possibly
// without a layer. The rules: docs/formats.md, ONNX. Throws ConfigError for a layer whose shapes
// contradict each other, and beyond 2^62 MACs or 2^56 bits moved.
Network to_network(const OnnxGraph& graph, const OnnxOptions& options);

// What a model says of itself may be any bytes: those that are not text become U+FFFD.
std::string as_text(std::string bytes);

}  // namespace mapsim
