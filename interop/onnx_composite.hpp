// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "interop/onnx.hpp"
#include "workloads/graph.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

// Is it an operator of several einsums, or with weights of another width? These are LSTM, GRU, RNN,
// Attention, and of ONNX Runtime (com.microsoft) Attention, MultiHeadAttention, GroupQueryAttention
// and MatMulNBits.
bool is_composite(const std::string& op);

// The layers of such an operator; nullopt: its shapes or attributes do not determine them. Throws
// std::invalid_argument beyond the limits of a workload.
std::optional<std::vector<NodeLayer>> composite_layers(const OnnxNode& node,
                                                       const std::string& name,
                                                       const Precision& widths);

// A convolution of three axes without groups, as an einsum; nullopt: it has groups, or the shape of
// its result is unknown.
std::optional<Workload> onnx_conv3d(const OnnxNode& node, const Precision& widths);

}  // namespace mapsim
