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

// What an operator is to us. The operators of ONNX, opset 27 (onnx.ai/onnx/operators).
enum class OnnxKind : std::uint8_t {
  kConv,
  kConvTranspose,
  kGemm,
  kMatMul,
  kEinsum,
  kStream,  // moves data and computes next to nothing
  kView,    // moves nothing: another name for the same data, or known when the model is compiled
  kOther
};
struct OnnxOp {
  OnnxKind kind = OnnxKind::kOther;
  std::size_t data = 0, weight = 1;  // operands of a layer, by position
};
OnnxOp find_onnx_op(const std::string& op);

// Convolutions of one or two axes; more are not known here.
bool has_too_many_axes(const OnnxNode& node, const OnnxOp& op);

// The same model where what is quantised crosses memory in its own width: who reads a tensor that
// DequantizeLinear makes reads what is under it, and who makes a tensor that QuantizeLinear alone
// reads writes what it becomes. These operators then move nothing (views).
OnnxGraph with_fused_quantisation(OnnxGraph graph);

// What a node with operands of known shapes computes, without names. One workload; of a
// ConvTranspose one for each shape that its phases have (docs/formats.md, ONNX); of an Einsum that
// is no product of two matrices none. Throws std::invalid_argument with what is wrong with the
// node.
std::vector<Workload> onnx_layers(const OnnxNode& node, const OnnxOp& op, const Precision& widths);

// The shape of an Einsum's result; nullopt: not known. Throws std::invalid_argument where operands
// contradict each other or the equation.
std::optional<std::vector<std::int64_t>> einsum_shape(const OnnxNode& node);

// Parts of it. The rows, columns and shared axis of an Einsum of two operands; nullopt: it is more
// than that (an ellipsis, a diagonal, a sum over one operand alone).
std::optional<GemmShape> einsum_gemm(const OnnxNode& node);
// A shape of at least this many axes, none of them empty.
std::vector<std::int64_t> known_shape(const OnnxTensor& tensor, std::size_t least_axes);
// An attribute that is a single number.
std::int64_t attribute(const OnnxNode& node, const std::string& key, std::int64_t otherwise);
std::vector<Workload> onnx_convolutions(const OnnxNode& node, const OnnxOp& op,
                                        const Precision& widths);

}  // namespace mapsim
