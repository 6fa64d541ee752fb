// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <stdexcept>

#include "interop/onnx_ops.hpp"
#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Products, recurrent layers, and what sums over an axis for a loss.

// numpy.matmul: a vector is a row in front and a column behind, and its axis goes.
std::optional<OnnxShape> product(const std::optional<OnnxShape>& left,
                                 const std::optional<OnnxShape>& right) {
  if (!left || !right || left->empty() || right->empty()) {
    return std::nullopt;
  }
  OnnxShape a = *left, b = *right;
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
  }
  const std::int64_t inner = a.back(), other = b[b.size() - 2];
  auto shape = broadcast(OnnxShape{a.begin(), a.end() - 2}, OnnxShape{b.begin(), b.end() - 2});
  if (!shape || (inner != other && inner != kUnknownExtent && other != kUnknownExtent)) {
    return std::nullopt;
  }
  if (left->size() > 1) {
    shape->push_back(a[a.size() - 2]);
  }
  if (right->size() > 1) {
    shape->push_back(b.back());
  }
  return shape;
}

Facts matmul(const OnnxOperator& operation) {
  return results({operation.type(0), product(operation.shape(0), operation.shape(1))});
}
Facts matmul_integer(const OnnxOperator& operation) {
  return results({kOnnxInt32, product(operation.shape(0), operation.shape(1))});
}
Facts qlinear_matmul(const OnnxOperator& operation) {
  return results({operation.type(7), product(operation.shape(0), operation.shape(3))});
}

Facts whole_gemm(const OnnxOperator& operation) {
  const auto& a = operation.shape(0);
  const auto& b = operation.shape(1);
  Facts facts = results({operation.type(0)});
  if (a && b && a->size() == 2 && b->size() == 2) {
    facts[0].shape = {(*a)[operation.integer("transA", 0) != 0 ? 1 : 0],
                      (*b)[operation.integer("transB", 0) != 0 ? 0 : 1]};
  }
  return facts;
}

Facts einsum(const OnnxOperator& operation) {
  OnnxNode node;
  node.words["equation"] = operation.text("equation", "");
  for (std::size_t i = 0; i < operation.inputs(); ++i) {
    OnnxTensor& tensor = node.inputs.emplace_back();
    tensor.shape = operation.input(i).is_known() ? operation.shape(i) : std::nullopt;
  }
  try {
    return results({operation.type(0), einsum_shape(node)});
  } catch (const std::invalid_argument&) {  // said when layers are made
    return results({operation.type(0)});
  }
}

// LSTM, GRU, RNN: all steps, then the last states. With layout 1 the batch is in front.
Facts recurrent(const OnnxOperator& operation) {
  const auto& data = operation.shape(0);
  const auto& weights = operation.shape(2);  // directions, gates, hidden
  const std::int64_t directions = operation.text("direction", "") == "bidirectional" ? 2 : 1;
  const std::int64_t implied = weights && weights->size() == 3 ? (*weights)[2] : kUnknownExtent;
  const std::int64_t hidden = operation.integer("hidden_size", implied);
  Facts facts(3, TensorFacts{operation.type(0)});
  if (data && data->size() == 3) {
    const bool batch_first = operation.integer("layout", 0) != 0;
    const std::int64_t steps = (*data)[batch_first ? 1 : 0], batch = (*data)[batch_first ? 0 : 1];
    facts[0].shape = batch_first ? OnnxShape{batch, steps, directions, hidden}
                                 : OnnxShape{steps, directions, batch, hidden};
    facts[1].shape =
        batch_first ? OnnxShape{batch, directions, hidden} : OnnxShape{directions, batch, hidden};
    facts[2].shape = facts[1].shape;
  }
  return facts;
}

// Of opset 23: queries, keys, values, with heads as an axis of their own or in the last one.
Facts attention(const OnnxOperator& operation) {
  const auto& queries = operation.shape(0);
  const auto& values = operation.shape(2);
  Facts facts = results({operation.type(0)});
  if (!queries || !values || queries->size() != values->size()) {
    return facts;
  }
  if (queries->size() == 4) {
    facts[0].shape = queries;
    facts[0].shape->back() = values->back();
  } else if (queries->size() == 3) {
    const std::int64_t heads = operation.integer("q_num_heads", 0);
    const std::int64_t groups = operation.integer("kv_num_heads", 0);
    facts[0].shape = queries;
    facts[0].shape->back() = groups < 1 || values->back() == kUnknownExtent
                                 ? kUnknownExtent
                                 : extent_times(values->back() / groups, heads);
  }
  return facts;
}

Facts determinant(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0)});
  if (operation.shape(0) && operation.shape(0)->size() >= 2) {
    facts[0].shape = OnnxShape{operation.shape(0)->begin(), operation.shape(0)->end() - 2};
  }
  return facts;
}

// Of classes along axis 1, one number, or one for each that is classified; then the scores.
Facts loss(const OnnxOperator& operation) {
  Facts facts = results({operation.type(0), OnnxShape{}}, {operation.type(0), operation.shape(0)});
  if (operation.text("reduction", "mean") == "none") {
    facts[0].shape = operation.shape(0);
    if (facts[0].shape && facts[0].shape->size() >= 2) {
      facts[0].shape->erase(facts[0].shape->begin() + 1);
    } else {
      facts[0].shape.reset();
    }
  }
  return facts;
}

constexpr std::array kProductRules{OnnxRuleEntry{"Attention", attention},
                                   OnnxRuleEntry{"Det", determinant},
                                   OnnxRuleEntry{"Einsum", einsum},
                                   OnnxRuleEntry{"GRU", recurrent},
                                   OnnxRuleEntry{"Gemm", whole_gemm},
                                   OnnxRuleEntry{"LSTM", recurrent},
                                   OnnxRuleEntry{"MatMul", matmul},
                                   OnnxRuleEntry{"MatMulInteger", matmul_integer},
                                   OnnxRuleEntry{"NegativeLogLikelihoodLoss", loss},
                                   OnnxRuleEntry{"QLinearMatMul", qlinear_matmul},
                                   OnnxRuleEntry{"RNN", recurrent},
                                   OnnxRuleEntry{"SoftmaxCrossEntropyLoss", loss}};

}  // namespace

std::span<const OnnxRuleEntry> product_rules() { return kProductRules; }

}  // namespace mapsim
