// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/onnx.hpp"
#include "workloads/graph.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

// Operators that are several einsums, or one with weights of its own width: LSTM, GRU, RNN,
// Attention, and of ONNX Runtime (com.microsoft) Attention, MultiHeadAttention, GroupQueryAttention
// and MatMulNBits.
bool is_composite(const std::string& op);

// Their layers; nullopt: shapes or attributes do not tell. Throws std::invalid_argument beyond the
// limits of a workload.
std::optional<std::vector<NodeLayer>> composite_layers(const OnnxNode& node,
                                                       const std::string& name,
                                                       const Precision& widths);

// A convolution of three axes without groups, as an einsum; nullopt: its result's shape is not
// known, or it has groups.
std::optional<Workload> onnx_conv3d(const OnnxNode& node, const Precision& widths);

}  // namespace mapsim
