// SPDX-License-Identifier: Apache-2.0
#include "workloads/operators.hpp"

#include <array>
#include <iterator>
#include <map>
#include <sstream>

#include "core/text_stream.hpp"

namespace mapsim {

namespace {

struct OperatorRow {
  OpKind kind;
  const char* name;
  const char* operators;
};
constexpr std::array kOperators{
    OperatorRow{OpKind::kEinsum, "einsum", ""},
    OperatorRow{
        OpKind::kPointwise, "pointwise",
        "Abs Add And BitCast BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu "
        "Clip Cos DequantizeLinear Div DynamicQuantizeLinear Elu Equal Erf Exp Floor Gelu Greater "
        "GreaterOrEqual HardSigmoid HardSwish IsInf IsNaN LeakyRelu Less LessOrEqual Log Max Mean "
        "Min Mish Mod Mul Neg Not Or PRelu Pow QLinearAdd QuantizeLinear Reciprocal Relu Round "
        "Selu Shrink Sigmoid Sign Sin Softplus Softsign Sqrt Sub Sum Swish Tan Tanh "
        "ThresholdedRelu Where Xor"},
    OperatorRow{OpKind::kSoftmax, "softmax", "Hardmax LogSoftmax Softmax"},
    OperatorRow{
        OpKind::kNorm, "norm",
        "BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization "
        "LpNormalization MeanVarianceNormalization RMSNormalization"},
    OperatorRow{OpKind::kPool, "pool",
                "AveragePool GlobalAveragePool GlobalMaxPool LpPool MaxPool"},
    OperatorRow{OpKind::kConcat, "concat", "Concat"},
    OperatorRow{OpKind::kSplit, "split", "Split"},
    OperatorRow{OpKind::kTranspose, "transpose", "Transpose"},
    OperatorRow{
        OpKind::kMove, "move",
        "ArgMax ArgMin CumProd CumSum DepthToSpace Expand Gather GatherElements GatherND OneHot "
        "Pad ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum ReduceSumSquare Resize RotaryEmbedding ScatterElements ScatterND "
        "Slice SpaceToDepth Tile TopK Trilu Upsample"},
    OperatorRow{
        OpKind::kAlias, "alias",
        "Constant ConstantOfShape Dropout Flatten Identity Range Reshape Shape Size Squeeze "
        "Unsqueeze"},
    OperatorRow{OpKind::kOther, "other", ""}};
static_assert(kOperators.size() == static_cast<std::size_t>(OpKind::kOther) + 1);

const OperatorRow& operator_row(OpKind kind) { return kOperators[static_cast<std::size_t>(kind)]; }

}  // namespace

Words operators_of(OpKind kind) {
  std::istringstream stream = stream_of(operator_row(kind).operators);
  return {std::istream_iterator<std::string>{stream}, {}};
}

OpKind op_kind(const std::string& op) {
  // Made when the first model is read: most runs read none.
  static const std::map<std::string, OpKind> kKinds = [] {
    std::map<std::string, OpKind> kinds;
    for (const OperatorRow& row : kOperators) {
      for (const std::string& name : operators_of(row.kind)) {
        kinds[name] = row.kind;
      }
    }
    return kinds;
  }();
  const auto at = kKinds.find(op);
  return at == kKinds.end() ? OpKind::kOther : at->second;
}

const char* to_string(OpKind kind) { return operator_row(kind).name; }

bool reads_what_it_writes(const std::string& op) {
  return op == "Gather" || op == "GatherElements" || op == "GatherND" || op == "Slice";
}

const Words& epilogue_words() {
  static const Words kWords{"bias",    "scale", "relu",      "relu6", "clip", "leaky_relu",
                            "sigmoid", "tanh",  "hardswish", "silu",  "gelu", "quantise"};
  return kWords;
}

}  // namespace mapsim
