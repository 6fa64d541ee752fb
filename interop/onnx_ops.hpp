// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interop/onnx.hpp"
#include "workloads/gemm.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

// What becomes of an operator of ONNX, opset 27 (onnx.ai/onnx/operators).
enum class OnnxKind : std::uint8_t {
  kConv,
  kConvTranspose,
  kGemm,
  kMatMul,
  kEinsum,
  kStream,  // memory-bound: it moves data and computes next to nothing
  kView,    // moves nothing: the same data by another name, or known at compile time
  kOther
};
struct OnnxOp {
  OnnxKind kind = OnnxKind::kOther;
  std::size_t data = 0, weight = 1;  // operands of a layer, by position
};
OnnxOp find_onnx_op(const std::string& op);

// Is it a convolution of more than two axes?
bool has_too_many_axes(const OnnxNode& node, const OnnxOp& op);

// The same model with quantised tensors moved in their own width. A node that reads the result of
// DequantizeLinear reads its operand instead; a node whose result only QuantizeLinear reads writes
// the quantised tensor. These two operators become views.
OnnxGraph with_fused_quantisation(OnnxGraph graph);

// The layers of a node with operands of known shapes, without names: one for each distinct shape of
// the phases of a ConvTranspose (docs/formats.md, ONNX), none for an Einsum that is no product of
// two matrices, and one for other nodes. Throws std::invalid_argument with the error of the node.
std::vector<Workload> onnx_layers(const OnnxNode& node, const OnnxOp& op, const Precision& widths);

// The shape of an Einsum's result; nullopt: unknown. Throws std::invalid_argument if operands
// contradict each other or the equation.
std::optional<std::vector<std::int64_t>> einsum_shape(const OnnxNode& node);

// Rows, columns and shared axis of an Einsum of two operands; nullopt: it is no GEMM (an ellipsis,
// a diagonal, a sum over one operand alone).
std::optional<GemmShape> einsum_gemm(const OnnxNode& node);
// The shape of a tensor. Throws std::invalid_argument if it is unknown, has fewer axes than this,
// or an empty one.
std::vector<std::int64_t> known_shape(const OnnxTensor& tensor, std::size_t least_axes);
// The value of an attribute of one number; `otherwise`: it is absent.
std::int64_t attribute(const OnnxNode& node, const std::string& key, std::int64_t otherwise);
// The layers of a Conv or ConvTranspose, as onnx_layers().
std::vector<Workload> onnx_convolutions(const OnnxNode& node, const OnnxOp& op,
                                        const Precision& widths);

}  // namespace mapsim
