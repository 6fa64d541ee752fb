// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "interop/onnx_rules.hpp"

namespace mapsim {

namespace {

// Results of an operator's operands, element by element; and what keeps a shape for other reasons.

TensorFacts like(const OnnxOperator& operation, std::size_t operand) {
  return {operation.type(operand), operation.shape(operand), {}, operation.input(operand).sequence};
}

Facts same(const OnnxOperator& operation) { return results(like(operation, 0)); }

Facts same_truth(const OnnxOperator& operation) { return results({kOnnxBool, operation.shape(0)}); }

// Before opset 7 a second operand is laid on axes of the first, which an attribute names.
std::optional<OnnxShape> pair(const OnnxOperator& operation) {
  return operation.opset() < 7 ? operation.shape(0)
                               : broadcast(operation.shape(0), operation.shape(1));
}

Facts binary(const OnnxOperator& operation) {
  return results({operation.type(0), pair(operation)});
}

Facts comparison(const OnnxOperator& operation) { return results({kOnnxBool, pair(operation)}); }

Facts variadic(const OnnxOperator& operation) {
  std::optional<OnnxShape> shape = operation.shape(0);
  for (std::size_t i = 1; i < operation.inputs(); ++i) {
    shape = broadcast(shape, operation.shape(i));
  }
  return results({operation.type(0), shape});
}

Facts where(const OnnxOperator& operation) {
  return results({operation.type(1), broadcast(operation.shape(0),
                                               broadcast(operation.shape(1), operation.shape(2)))});
}

Facts cast(const OnnxOperator& operation) {
  return results({static_cast<int>(operation.integer("to", 0)), operation.shape(0)});
}

Facts cast_like(const OnnxOperator& operation) {
  return results({operation.type(1), operation.shape(0)});
}

// What is dropped is a mask.
Facts dropout(const OnnxOperator& operation) {
  return results(like(operation, 0),
                 {operation.opset() < 10 ? operation.type(0) : int{kOnnxBool}, operation.shape(0)});
}

// The statistics that training keeps have an element for each channel.
Facts batch_normalization(const OnnxOperator& operation) {
  Facts facts = results(like(operation, 0));
  std::optional<OnnxShape> channels;
  if (operation.shape(0) && operation.shape(0)->size() > 1) {
    channels = OnnxShape{(*operation.shape(0))[1]};
  }
  const std::size_t of = operation.opset() < 15 ? 1 : 3;
  for (std::size_t i = 1; i < operation.outputs(); ++i) {
    facts.push_back({operation.type(operation.is_given(of) ? of : 0), channels});
  }
  return facts;
}

// Mean and inverse deviation have the axes in front.
Facts layer_normalization(const OnnxOperator& operation) {
  Facts facts = results(like(operation, 0));
  const auto type = static_cast<int>(operation.integer("stash_type", kOnnxFloat));
  TensorFacts statistic{type};
  if (operation.shape(0)) {
    const auto axis = place(operation.integer("axis", -1), operation.shape(0)->size());
    if (axis) {
      statistic.shape = operation.shape(0);
      std::fill(statistic.shape->begin() + static_cast<std::ptrdiff_t>(*axis),
                statistic.shape->end(), 1);
    }
  }
  facts.insert(facts.end(), 2, statistic);
  return facts;
}

Facts quantize(const OnnxOperator& operation) {
  const auto wanted = static_cast<int>(operation.integer("output_dtype", 0));  // 0: none
  const int type = operation.is_given(2) ? operation.type(2)
                   : wanted != 0         ? wanted
                                         : int{kOnnxUint8};
  return results({type, operation.shape(0)});
}

Facts dequantize(const OnnxOperator& operation) {
  const auto given = static_cast<int>(operation.integer("output_dtype", 0));
  const int type = given != 0 ? given : operation.type(1);
  return results({operation.opset() < 19 ? int{kOnnxFloat} : type, operation.shape(0)});
}

Facts dynamic_quantize(const OnnxOperator& operation) {
  return results({kOnnxUint8, operation.shape(0)}, {kOnnxFloat, OnnxShape{}},
                 {kOnnxUint8, OnnxShape{}});
}

// Bernoulli, RandomNormalLike, ...: of the operand's type unless an attribute gives one.
Facts drawn_like(const OnnxOperator& operation) {
  const auto type = static_cast<int>(operation.integer("dtype", operation.type(0)));
  return results({type, operation.shape(0)});
}

constexpr std::array kElementwiseRules{OnnxRuleEntry{"Abs", same},
                                       OnnxRuleEntry{"Acos", same},
                                       OnnxRuleEntry{"Acosh", same},
                                       OnnxRuleEntry{"Add", binary},
                                       OnnxRuleEntry{"And", comparison},
                                       OnnxRuleEntry{"Asin", same},
                                       OnnxRuleEntry{"Asinh", same},
                                       OnnxRuleEntry{"Atan", same},
                                       OnnxRuleEntry{"Atanh", same},
                                       OnnxRuleEntry{"BatchNormalization", batch_normalization},
                                       OnnxRuleEntry{"Bernoulli", drawn_like},
                                       OnnxRuleEntry{"BitCast", cast},
                                       OnnxRuleEntry{"BitShift", binary},
                                       OnnxRuleEntry{"BitwiseAnd", binary},
                                       OnnxRuleEntry{"BitwiseNot", same},
                                       OnnxRuleEntry{"BitwiseOr", binary},
                                       OnnxRuleEntry{"BitwiseXor", binary},
                                       OnnxRuleEntry{"Cast", cast},
                                       OnnxRuleEntry{"CastLike", cast_like},
                                       OnnxRuleEntry{"CausalConvWithState", same},
                                       OnnxRuleEntry{"Ceil", same},
                                       OnnxRuleEntry{"Celu", same},
                                       OnnxRuleEntry{"Clip", same},
                                       OnnxRuleEntry{"Cos", same},
                                       OnnxRuleEntry{"Cosh", same},
                                       OnnxRuleEntry{"CumProd", same},
                                       OnnxRuleEntry{"CumSum", same},
                                       OnnxRuleEntry{"DequantizeLinear", dequantize},
                                       OnnxRuleEntry{"Div", binary},
                                       OnnxRuleEntry{"Dropout", dropout},
                                       OnnxRuleEntry{"DynamicQuantizeLinear", dynamic_quantize},
                                       OnnxRuleEntry{"Elu", same},
                                       OnnxRuleEntry{"Equal", comparison},
                                       OnnxRuleEntry{"Erf", same},
                                       OnnxRuleEntry{"Exp", same},
                                       OnnxRuleEntry{"Floor", same},
                                       OnnxRuleEntry{"Gelu", same},
                                       OnnxRuleEntry{"Greater", comparison},
                                       OnnxRuleEntry{"GreaterOrEqual", comparison},
                                       OnnxRuleEntry{"GroupNormalization", same},
                                       OnnxRuleEntry{"HardSigmoid", same},
                                       OnnxRuleEntry{"HardSwish", same},
                                       OnnxRuleEntry{"Hardmax", same},
                                       OnnxRuleEntry{"Identity", same},
                                       OnnxRuleEntry{"InstanceNormalization", same},
                                       OnnxRuleEntry{"IsInf", same_truth},
                                       OnnxRuleEntry{"IsNaN", same_truth},
                                       OnnxRuleEntry{"LRN", same},
                                       OnnxRuleEntry{"LayerNormalization", layer_normalization},
                                       OnnxRuleEntry{"LeakyRelu", same},
                                       OnnxRuleEntry{"Less", comparison},
                                       OnnxRuleEntry{"LessOrEqual", comparison},
                                       OnnxRuleEntry{"Log", same},
                                       OnnxRuleEntry{"LogSoftmax", same},
                                       OnnxRuleEntry{"LpNormalization", same},
                                       OnnxRuleEntry{"Max", variadic},
                                       OnnxRuleEntry{"Mean", variadic},
                                       OnnxRuleEntry{"MeanVarianceNormalization", same},
                                       OnnxRuleEntry{"Min", variadic},
                                       OnnxRuleEntry{"Mish", same},
                                       OnnxRuleEntry{"Mod", binary},
                                       OnnxRuleEntry{"Mul", binary},
                                       OnnxRuleEntry{"Neg", same},
                                       OnnxRuleEntry{"Not", same_truth},
                                       OnnxRuleEntry{"Or", comparison},
                                       OnnxRuleEntry{"PRelu", same},
                                       OnnxRuleEntry{"Pow", binary},
                                       OnnxRuleEntry{"QuantizeLinear", quantize},
                                       OnnxRuleEntry{"RMSNormalization", same},
                                       OnnxRuleEntry{"RandomNormalLike", drawn_like},
                                       OnnxRuleEntry{"RandomUniformLike", drawn_like},
                                       OnnxRuleEntry{"Reciprocal", same},
                                       OnnxRuleEntry{"Relu", same},
                                       OnnxRuleEntry{"ReverseSequence", same},
                                       OnnxRuleEntry{"RotaryEmbedding", same},
                                       OnnxRuleEntry{"Round", same},
                                       OnnxRuleEntry{"Scatter", same},
                                       OnnxRuleEntry{"ScatterElements", same},
                                       OnnxRuleEntry{"ScatterND", same},
                                       OnnxRuleEntry{"Selu", same},
                                       OnnxRuleEntry{"Shrink", same},
                                       OnnxRuleEntry{"Sigmoid", same},
                                       OnnxRuleEntry{"Sign", same},
                                       OnnxRuleEntry{"Sin", same},
                                       OnnxRuleEntry{"Sinh", same},
                                       OnnxRuleEntry{"Softmax", same},
                                       OnnxRuleEntry{"Softplus", same},
                                       OnnxRuleEntry{"Softsign", same},
                                       OnnxRuleEntry{"Sqrt", same},
                                       OnnxRuleEntry{"Sub", binary},
                                       OnnxRuleEntry{"Sum", variadic},
                                       OnnxRuleEntry{"Swish", same},
                                       OnnxRuleEntry{"Tan", same},
                                       OnnxRuleEntry{"Tanh", same},
                                       OnnxRuleEntry{"TensorScatter", same},
                                       OnnxRuleEntry{"ThresholdedRelu", same},
                                       OnnxRuleEntry{"Trilu", same},
                                       OnnxRuleEntry{"Where", where},
                                       OnnxRuleEntry{"Xor", comparison}};

}  // namespace

std::span<const OnnxRuleEntry> elementwise_rules() { return kElementwiseRules; }

}  // namespace mapsim
