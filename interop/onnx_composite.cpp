// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_composite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "interop/onnx_ops.hpp"
#include "workloads/composite.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {

namespace {

using Layers = std::optional<std::vector<NodeLayer>>;

// The shape of an operand of so many axes, all known and with elements; empty: it is not.
Extents shape_in(const OnnxNode& node, std::size_t i, std::size_t axes) {
  if (i >= node.inputs.size() || !node.inputs[i].shape || node.inputs[i].shape->size() != axes ||
      std::any_of(node.inputs[i].shape->begin(), node.inputs[i].shape->end(),
                  [](std::int64_t extent) { return extent < 1; })) {
    return {};
  }
  return *node.inputs[i].shape;
}

bool is_given(const OnnxNode& node, std::size_t i) {
  return i < node.inputs.size() && !node.inputs[i].name.empty();
}

Layers recurrent(const OnnxNode& node, const std::string& name, const Precision& widths) {
  const Extents data = shape_in(node, 0, 3), states = shape_in(node, 2, 3);
  if (data.empty() || states.empty()) {
    return std::nullopt;
  }
  const bool batch_first = attribute(node, "layout", 0) != 0;
  RecurrentShape shape;
  shape.gates = gates_of(node.op);
  shape.steps = data[batch_first ? 1 : 0];
  shape.batch = data[batch_first ? 0 : 1];
  shape.inputs = data[2];
  shape.hidden = states[2];
  shape.directions = states[0];
  return recurrent_layers(name, shape, widths);
}

// Heads as an axis of their own, N H L E, or in the last one, N L (H E).
Layers attention(const OnnxNode& node, const std::string& name, const Precision& widths,
                 const char* heads, const char* key_heads, std::size_t past) {
  AttentionShape shape;
  if (const Extents q = shape_in(node, 0, 4), k = shape_in(node, 1, 4), v = shape_in(node, 2, 4);
      !q.empty() && !k.empty() && !v.empty()) {
    shape = {q[0], q[1], k[1], q[2], k[2], q[3], v[3]};
  } else if (const Extents flat = shape_in(node, 0, 3); !flat.empty()) {
    shape.batch = flat[0];
    shape.queries = flat[1];
    shape.heads = attribute(node, heads, 0);
    shape.key_heads = attribute(node, key_heads, shape.heads);
    if (shape.heads < 1 || shape.key_heads < 1) {
      return std::nullopt;
    }
    const Extents keys = shape_in(node, 1, 3), values = shape_in(node, 2, 3);
    const bool packed = !is_given(node, 1);  // queries, keys and values in one operand
    if (!packed && (keys.empty() || values.empty())) {
      return std::nullopt;
    }
    shape.keys = packed ? flat[1] : keys[1];
    shape.width = flat[2] / (packed ? shape.heads + 2 * shape.key_heads : shape.heads);
    shape.value_width = packed ? shape.width : values[2] / shape.key_heads;
  } else {
    return std::nullopt;
  }
  if (is_given(node, past)) {  // N H L E: keys of tokens before
    const Extents before = shape_in(node, past, 4);
    if (before.empty()) {
      return std::nullopt;
    }
    shape.keys += before[2];
  }
  if (shape.heads % shape.key_heads != 0 || shape.width < 1 || shape.value_width < 1) {
    return std::nullopt;
  }
  return attention_layers(name, shape, widths);
}

// ONNX Runtime's first one: the projections of queries, keys and values, too.
Layers projected_attention(const OnnxNode& node, const std::string& name, const Precision& widths) {
  const Extents data = shape_in(node, 0, 3), weights = shape_in(node, 1, 2);
  const std::int64_t heads = attribute(node, "num_heads", 0);
  if (data.empty() || weights.empty() || heads < 1 || weights[1] % (3 * heads) != 0) {
    return std::nullopt;
  }
  const std::int64_t width = weights[1] / 3 / heads;
  std::vector<NodeLayer> layers =
      attention_layers(name, {data[0], heads, heads, data[1], data[1], width, width}, widths);
  const std::string own = name + "_projections";
  layers.insert(
      layers.begin(),
      {own, gemm(own, {data[0] * data[1], weights[1], data[2], {}, true}, widths), 1, ""});
  return layers;
}

// Weights of a few bits; what unpacks them costs nothing.
Layers narrow_product(const OnnxNode& node, const std::string& name, Precision widths) {
  const std::int64_t n = attribute(node, "N", 0), k = attribute(node, "K", 0);
  if (node.inputs.empty() || !node.inputs[0].shape || node.inputs[0].shape->empty() ||
      node.inputs[0].shape->back() != k || n < 1 || k < 1) {
    return std::nullopt;
  }
  std::int64_t rows = 1;
  for (const std::int64_t extent : known_shape(node.inputs[0], 1)) {
    rows *= extent;
  }
  widths.roles[Role::kWeight] = Bits{attribute(node, "bits", 4)};
  return std::vector<NodeLayer>{{name, gemm(name, {rows / k, n, k, {}}, widths), 1, ""}};
}

constexpr std::array<std::string_view, 8> kComposites{"LSTM",
                                                      "GRU",
                                                      "RNN",
                                                      "Attention",
                                                      "com.microsoft.Attention",
                                                      "com.microsoft.MultiHeadAttention",
                                                      "com.microsoft.GroupQueryAttention",
                                                      "com.microsoft.MatMulNBits"};

// Of each axis; `otherwise` where the attribute is not given.
Extents per_axis(const OnnxNode& node, const char* key, std::int64_t otherwise) {
  const auto given = node.integers.find(key);
  return given != node.integers.end() && given->second.size() == 3 ? given->second
                                                                   : Extents(3, otherwise);
}

}  // namespace

bool is_composite(const std::string& op) {
  return std::find(kComposites.begin(), kComposites.end(), op) != kComposites.end();
}

Layers composite_layers(const OnnxNode& node, const std::string& name, const Precision& widths) {
  if (gates_of(node.op) > 0) {
    return recurrent(node, name, widths);
  }
  if (node.op == "com.microsoft.MatMulNBits") {
    return narrow_product(node, name, widths);
  }
  if (node.op == "com.microsoft.Attention") {
    return projected_attention(node, name, widths);
  }
  if (node.op == "Attention") {
    return attention(node, name, widths, "q_num_heads", "kv_num_heads", 4);
  }
  const bool grouped = node.op == "com.microsoft.GroupQueryAttention";
  return attention(node, name, widths, "num_heads", grouped ? "kv_num_heads" : "num_heads",
                   grouped ? 3 : 6);
}

std::optional<Workload> onnx_conv3d(const OnnxNode& node, const Precision& widths) {
  const Extents data = shape_in(node, 0, 5), weights = shape_in(node, 1, 5);
  if (data.empty() || weights.empty() || node.outputs.empty() || !node.outputs[0].shape ||
      node.outputs[0].shape->size() != 5 || attribute(node, "group", 1) != 1) {
    return std::nullopt;
  }
  const Extents out = known_shape(node.outputs[0], 5);
  const Extents stride = per_axis(node, "strides", 1), dilation = per_axis(node, "dilations", 1);
  const std::string equation =
      fmt::format("Y[N][K][D][P][Q] += X[N][C][{}*D+{}*T][{}*P+{}*R][{}*Q+{}*S] * F[K][C][T][R][S]",
                  stride[0], dilation[0], stride[1], dilation[1], stride[2], dilation[2]);
  Workload made = einsum("", equation,
                         {{"N", out[0]},
                          {"K", out[1]},
                          {"C", weights[1]},
                          {"D", out[2]},
                          {"P", out[3]},
                          {"Q", out[4]},
                          {"T", weights[2]},
                          {"R", weights[3]},
                          {"S", weights[4]}},
                         widths);
  if (count_elements(data) != count_elements(shape_of(made, TensorId{0}))) {
    made.tensors[TensorId{0}].stored_elements = count_elements(data);
  }
  return made;
}

}  // namespace mapsim
