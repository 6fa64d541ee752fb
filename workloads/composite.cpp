// SPDX-License-Identifier: Apache-2.0
#include "workloads/composite.hpp"

#include "workloads/gemm.hpp"

namespace mapsim {

namespace {

NodeLayer product(const std::string& name, const GemmShape& shape, const Precision& precision,
                  std::int64_t count) {
  return {name, gemm(name, shape, precision), count, ""};
}

}  // namespace

std::int64_t gates_of(const std::string& op) {
  return op == "LSTM" ? 4 : op == "GRU" ? 3 : op == "RNN" ? 1 : 0;
}

std::vector<NodeLayer> recurrent_layers(const std::string& name, const RecurrentShape& shape,
                                        const Precision& precision) {
  const std::int64_t rows = shape.gates * shape.hidden;
  return {product(name + "_inputs",
                  {shape.steps * shape.batch, shape.directions * rows, shape.inputs, {}, true},
                  precision, 1),
          product(name + "_states", {shape.batch, rows, shape.hidden, {}, true}, precision,
                  shape.steps * shape.directions)};
}

std::int64_t recurrent_parameters(const RecurrentShape& shape) {
  return shape.directions * shape.gates * shape.hidden * (shape.inputs + shape.hidden + 2);
}

std::vector<NodeLayer> attention_layers(const std::string& name, const AttentionShape& shape,
                                        const Precision& precision) {
  const std::int64_t products = shape.batch * shape.key_heads;
  const std::int64_t rows = shape.queries * (shape.heads / shape.key_heads);
  return {
      product(name + "_scores", {rows, shape.keys, shape.width, products}, precision, 1),
      product(name + "_context", {rows, shape.value_width, shape.keys, products}, precision, 1)};
}

}  // namespace mapsim
