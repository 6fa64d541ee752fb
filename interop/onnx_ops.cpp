// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/diagnostic.hpp"
#include "core/utf8.hpp"
#include "workloads/gemm.hpp"
#include "workloads/operators.hpp"

namespace mapsim {

namespace {

using Shape = std::vector<std::int64_t>;

// Tables are made when the first model is read: most runs read none.
const std::map<std::string, OnnxOp>& layer_ops() {
  static const std::map<std::string, OnnxOp> kAll{{"Conv", {OnnxKind::kConv}},
                                                  {"ConvInteger", {OnnxKind::kConv}},
                                                  {"QLinearConv", {OnnxKind::kConv, 0, 3}},
                                                  {"ConvTranspose", {OnnxKind::kConvTranspose}},
                                                  {"Gemm", {OnnxKind::kGemm}},
                                                  {"MatMul", {OnnxKind::kMatMul}},
                                                  {"MatMulInteger", {OnnxKind::kMatMul}},
                                                  {"QLinearMatMul", {OnnxKind::kMatMul, 0, 3}},
                                                  {"Einsum", {OnnxKind::kEinsum}}};
  return kAll;
}

// Axes that only one operand has are rows or columns of one product; an axis that both have counts
// products.
struct Batches {
  std::int64_t shared = 1, of_data = 1, of_weight = 1;
};
Batches batches(const Shape& a, const Shape& b) {
  Batches found;
  for (std::size_t i = 3; i <= std::max(a.size(), b.size()); ++i) {  // from the innermost
    const std::int64_t of_a = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t of_b = i <= b.size() ? b[b.size() - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      throw std::invalid_argument{"the operands' batches differ"};
    }
    std::int64_t& count =
        of_a == of_b ? found.shared : (of_b == 1 ? found.of_data : found.of_weight);
    const std::int64_t extent = std::max(of_a, of_b);
    if (extent > (std::int64_t{1} << 53) / count) {
      throw std::invalid_argument{"a batch of more than 2^53"};
    }
    count *= extent;
  }
  return found;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  if (a > (std::int64_t{1} << 53) / b) {
    throw std::invalid_argument{"more than 2^53 multiply-accumulates"};
  }
  return a * b;
}

// numpy.matmul: vectors are rows and columns; axes in front of the last two are a batch, each
// repeated where it has extent 1: what is repeated is the same matrix, read once.
GemmShape product(const OnnxTensor& data, const OnnxTensor& weight) {
  Shape a = known_shape(data, 1);
  Shape b = known_shape(weight, 1);
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
  }
  if (a.back() != b[b.size() - 2]) {
    throw std::invalid_argument{"the operands' shared axis differs"};
  }
  const Batches batch = batches(a, b);
  GemmShape gemm;
  gemm.m = times(a[a.size() - 2], batch.of_data);
  gemm.n = times(b.back(), batch.of_weight);
  gemm.k = a.back();
  if (batch.shared > 1) {
    gemm.batch = batch.shared;
  }
  return gemm;
}

GemmShape whole_gemm(const OnnxNode& node) {
  const Shape a = known_shape(node.inputs[0], 2);
  const Shape b = known_shape(node.inputs[1], 2);
  if (a.size() != 2 || b.size() != 2) {
    throw std::invalid_argument{"an operand has more than two axes"};
  }
  const bool ta = attribute(node, "transA", 0) != 0, tb = attribute(node, "transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
    throw std::invalid_argument{"the operands' shared axis differs"};
  }
  return {a[ta ? 1 : 0], b[tb ? 0 : 1], a[ta ? 0 : 1], std::nullopt, node.inputs.size() > 2};
}

}  // namespace

std::string as_text(std::string bytes) {
  while (const auto at = first_non_text_byte(bytes)) {
    bytes.replace(*at, 1, "\uFFFD");
  }
  return bytes;
}

OnnxOp find_onnx_op(const std::string& op) {
  if (const auto layer = layer_ops().find(op); layer != layer_ops().end()) {
    return layer->second;
  }
  const OpKind kind = op_kind(op);
  return {kind == OpKind::kOther   ? OnnxKind::kOther
          : kind == OpKind::kAlias ? OnnxKind::kView
                                   : OnnxKind::kStream};
}

bool has_too_many_axes(const OnnxNode& node, const OnnxOp& op) {
  const bool slides = op.kind == OnnxKind::kConv || op.kind == OnnxKind::kConvTranspose;
  return slides && node.inputs[op.data].shape->size() > 4;
}

std::vector<std::int64_t> known_shape(const OnnxTensor& tensor, std::size_t least_axes) {
  if (tensor.shape->size() < least_axes) {
    throw std::invalid_argument{fmt::format("{} has {} axes, fewer than {}", quoted(tensor.name),
                                            tensor.shape->size(), least_axes)};
  }
  for (const std::int64_t extent : *tensor.shape) {
    if (extent < 1) {
      throw std::invalid_argument{quoted(tensor.name) + " has no elements"};
    }
  }
  return *tensor.shape;
}

std::int64_t attribute(const OnnxNode& node, const std::string& key, std::int64_t otherwise) {
  const auto at = node.integers.find(key);
  if (at == node.integers.end()) {
    return otherwise;
  }
  if (at->second.size() != 1) {
    throw std::invalid_argument{fmt::format("'{}' is not one number", key)};
  }
  return at->second.front();
}

std::vector<Workload> onnx_layers(const OnnxNode& node, const OnnxOp& op, const Precision& widths) {
  switch (op.kind) {
    case OnnxKind::kConv:
    case OnnxKind::kConvTranspose:
      return onnx_convolutions(node, op, widths);
    case OnnxKind::kGemm:
      return {gemm("", whole_gemm(node), widths)};
    case OnnxKind::kMatMul:
      return {gemm("", product(node.inputs[op.data], node.inputs[op.weight]), widths)};
    case OnnxKind::kEinsum: {
      const auto shape = einsum_gemm(node);
      return shape ? std::vector{gemm("", *shape, widths)} : std::vector<Workload>{};
    }
    case OnnxKind::kStream:
    case OnnxKind::kView:
    case OnnxKind::kOther:
      break;
  }
  return {};
}

}  // namespace mapsim
