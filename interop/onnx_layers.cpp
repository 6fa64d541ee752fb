// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "interop/onnx.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {

namespace {

using Shape = std::vector<std::int64_t>;

// What an operator is to us. The operators of ONNX, opset 17 (onnx.ai/onnx/operators).
enum class Kind : std::uint8_t { kConv, kConvTranspose, kGemm, kMatMul, kStream, kView };
struct KnownOp {
  const char* op;
  Kind kind;
  std::size_t data = 0, weight = 1;  // its operands, by position
};
constexpr std::array kLayerOps{KnownOp{"Conv", Kind::kConv},
                               KnownOp{"ConvInteger", Kind::kConv},
                               KnownOp{"QLinearConv", Kind::kConv, 0, 3},
                               KnownOp{"ConvTranspose", Kind::kConvTranspose},
                               KnownOp{"Gemm", Kind::kGemm},
                               KnownOp{"MatMul", Kind::kMatMul},
                               KnownOp{"MatMulInteger", Kind::kMatMul},
                               KnownOp{"QLinearMatMul", Kind::kMatMul, 0, 3}};

// They move data and compute next to nothing.
const std::set<std::string> kStreams{"Abs",
                                     "Add",
                                     "And",
                                     "ArgMax",
                                     "ArgMin",
                                     "AveragePool",
                                     "BatchNormalization",
                                     "Cast",
                                     "Ceil",
                                     "Clip",
                                     "Concat",
                                     "Cos",
                                     "CumSum",
                                     "DepthToSpace",
                                     "DequantizeLinear",
                                     "Div",
                                     "DynamicQuantizeLinear",
                                     "Elu",
                                     "Equal",
                                     "Erf",
                                     "Exp",
                                     "Expand",
                                     "Floor",
                                     "Gather",
                                     "GatherElements",
                                     "GatherND",
                                     "Gelu",
                                     "GlobalAveragePool",
                                     "GlobalMaxPool",
                                     "Greater",
                                     "GreaterOrEqual",
                                     "HardSigmoid",
                                     "HardSwish",
                                     "InstanceNormalization",
                                     "LRN",
                                     "LayerNormalization",
                                     "LeakyRelu",
                                     "Less",
                                     "LessOrEqual",
                                     "Log",
                                     "LogSoftmax",
                                     "LpNormalization",
                                     "LpPool",
                                     "Max",
                                     "MaxPool",
                                     "Mean",
                                     "MeanVarianceNormalization",
                                     "Min",
                                     "Mish",
                                     "Mod",
                                     "Mul",
                                     "Neg",
                                     "Not",
                                     "OneHot",
                                     "Or",
                                     "PRelu",
                                     "Pad",
                                     "Pow",
                                     "QLinearAdd",
                                     "QuantizeLinear",
                                     "Reciprocal",
                                     "ReduceL1",
                                     "ReduceL2",
                                     "ReduceMax",
                                     "ReduceMean",
                                     "ReduceMin",
                                     "ReduceProd",
                                     "ReduceSum",
                                     "ReduceSumSquare",
                                     "Relu",
                                     "Resize",
                                     "Round",
                                     "ScatterElements",
                                     "ScatterND",
                                     "Selu",
                                     "Sigmoid",
                                     "Sign",
                                     "Sin",
                                     "Slice",
                                     "Softmax",
                                     "Softplus",
                                     "Softsign",
                                     "SpaceToDepth",
                                     "Split",
                                     "Sqrt",
                                     "Sub",
                                     "Sum",
                                     "Tanh",
                                     "ThresholdedRelu",
                                     "Tile",
                                     "TopK",
                                     "Transpose",
                                     "Trilu",
                                     "Upsample",
                                     "Where",
                                     "Xor"};
// They move nothing: another name for the same data, or known when the model is compiled.
const std::set<std::string> kViews{"Constant", "ConstantOfShape", "Dropout",  "Flatten",
                                   "Identity", "Range",           "Reshape",  "Shape",
                                   "Size",     "Squeeze",         "Unsqueeze"};
// They read of their first operand no more than they write.
const std::set<std::string> kPickers{"Gather", "GatherElements", "GatherND", "Slice"};

class Translation {
 public:
  Translation(const OnnxGraph& graph, const OnnxOptions& options)
      : graph_{graph}, options_{options} {
    network_.name = is_name(graph.name) ? graph.name : "model";
  }

  Network network() {
    for (const OnnxNode& node : graph_.nodes) {
      translate(node);
      ++position_;
    }
    return std::move(network_);
  }

 private:
  [[noreturn]] void fail(const OnnxNode& node, const std::string& message) const {
    throw ConfigError(
        {Diagnostic{graph_.file, 0, 0, "",
                    fmt::format("{} {}: {}", node.op, quoted(title(node)), message), ""}});
  }
  // Its own name, else that of what it makes.
  static std::string title(const OnnxNode& node) {
    return node.name.empty() && !node.outputs.empty() ? node.outputs[0].name : node.name;
  }

  bool is_constant(const OnnxTensor& tensor) const {
    return tensor.constant || constants_.contains(tensor.name);
  }

  // Operators on constants alone are done before the model runs.
  bool is_folded(const OnnxNode& node) const {
    return node.op == "Shape" || node.op == "Size" ||
           std::all_of(node.inputs.begin(), node.inputs.end(), [this](const OnnxTensor& tensor) {
             return tensor.name.empty() || is_constant(tensor);
           });
  }

  void translate(const OnnxNode& node) {
    if (is_folded(node)) {
      for (const OnnxTensor& tensor : node.outputs) {
        constants_.insert(tensor.name);
      }
      return;
    }
    for (const KnownOp& known : kLayerOps) {
      if (node.op == known.op) {
        add_layer(node, known);
        return;
      }
    }
    if (kStreams.contains(node.op)) {
      add_stream(node);
    } else if (!kViews.contains(node.op)) {
      ++network_.unpriced[node.op];
    }
  }

  const Shape& shape(const OnnxNode& node, const OnnxTensor& tensor, std::size_t least_rank) const {
    if (!tensor.shape) {
      fail(node, fmt::format("the shape of '{}' is not known", tensor.name));
    }
    if (tensor.shape->size() < least_rank) {
      fail(node, fmt::format("'{}' has {} axes, fewer than {}", tensor.name, tensor.shape->size(),
                             least_rank));
    }
    for (const std::int64_t extent : *tensor.shape) {
      if (extent < 1) {
        fail(node, fmt::format("'{}' has no elements", tensor.name));
      }
    }
    return *tensor.shape;
  }

  Precision precision(const OnnxTensor& data, const OnnxTensor& weight,
                      const OnnxTensor& output) const {
    const Bits wide{32};  // sums: of integers and of fp16 in 32 b, of doubles in their own
    if (options_.operand_bits) {
      const Bits bits = *options_.operand_bits;
      return {{{Role::kInput, bits}, {Role::kWeight, bits}, {Role::kOutput, bits}},
              {},
              std::max(wide, bits)};
    }
    const auto or_wide = [&](Bits bits) { return bits.count() > 0 ? bits : wide; };
    return {{{Role::kInput, or_wide(data.bits)},
             {Role::kWeight, or_wide(weight.bits)},
             {Role::kOutput, or_wide(output.bits)}},
            {},
            std::max(wide, or_wide(output.bits))};
  }

  void add_layer(const OnnxNode& node, const KnownOp& known) {
    if (node.inputs.size() <= std::max(known.data, known.weight) || node.outputs.empty()) {
      fail(node, "operands are missing");
    }
    const OnnxTensor& data = node.inputs[known.data];
    const OnnxTensor& weight = node.inputs[known.weight];
    const Precision widths = precision(data, weight, node.outputs[0]);
    try {
      switch (known.kind) {
        case Kind::kConv:
          return add_convolution(node, data, weight, widths);
        case Kind::kConvTranspose:
          return add(node, gemm("", transposed_convolution(node, data, weight), widths));
        case Kind::kGemm:
          return add(node, gemm("", whole_gemm(node, data, weight), widths));
        case Kind::kMatMul:
          return add(node, gemm("", product(node, data, weight), widths));
        case Kind::kStream:
        case Kind::kView:
          return;
      }
    } catch (const std::invalid_argument& error) {
      fail(node, error.what());
    }
  }

  // An attribute with one value per spatial axis, or `otherwise` for each.
  Shape per_axis(const OnnxNode& node, const std::string& key, std::size_t axes,
                 std::int64_t otherwise) const {
    const auto at = node.integers.find(key);
    if (at == node.integers.end()) {
      return Shape(axes, otherwise);
    }
    if (at->second.size() != axes || *std::min_element(at->second.begin(), at->second.end()) <
                                         std::min<std::int64_t>(otherwise, 1)) {
      fail(node, fmt::format("'{}' does not fit {} axes", key, axes));
    }
    return at->second;
  }

  std::int64_t group(const OnnxNode& node) const {
    const auto at = node.integers.find("group");
    return at == node.integers.end() ? 1 : at->second.at(0);
  }

  // Of one or two axes; one is a row. On the input with its padding, which inference has used for
  // the shape of the output.
  void add_convolution(const OnnxNode& node, const OnnxTensor& data, const OnnxTensor& weight,
                       const Precision& widths) {
    const Shape& in = shape(node, data, 3);
    const Shape& kernel = shape(node, weight, in.size());
    const Shape& out = shape(node, node.outputs[0], in.size());
    const std::size_t axes = in.size() - 2;
    if (axes > 2) {
      ++network_.unpriced[fmt::format("{}_{}D", node.op, axes)];
      return;
    }
    const Shape strides = per_axis(node, "strides", axes, 1);
    const Shape dilations = per_axis(node, "dilations", axes, 1);
    ConvShape conv;
    conv.batch = in[0];
    conv.in_channels = in[1];
    conv.out_channels = kernel[0];
    conv.groups = group(node);
    conv.bias = node.inputs.size() > 2 && node.op == "Conv";
    const Shape pads = per_axis(node, "pads", 2 * axes, 0);
    bool as_stored = !node.words.contains("auto_pad") || node.words.at("auto_pad") == "NOTSET";
    for (std::size_t i = 0; i < axes; ++i) {
      const std::size_t axis = i + 2 - axes;
      conv.kernel[axis] = kernel[i + 2];
      conv.stride[axis] = strides[i];
      conv.dilation[axis] = dilations[i];
      conv.input[axis] = in[i + 2];
      conv.padding[axis] = pads[i];
      as_stored = as_stored && pads[i] == pads[i + axes];
    }
    for (std::size_t i = 0; i < axes && !as_stored; ++i) {
      const std::size_t axis = i + 2 - axes;
      conv.padding[axis] = 0;
      conv.input[axis] = (out[i + 2] - 1) * strides[i] + dilations[i] * (kernel[i + 2] - 1) + 1;
    }
    if (const auto problem = check(conv)) {
      fail(node, problem->what);
    }
    Workload workload = conv2d("", conv, widths);
    if (!as_stored) {
      workload.tensors[TensorId{0}].stored_elements =
          std::accumulate(in.begin(), in.end(), std::int64_t{1}, std::multiplies<>{});
      workload.note = "padding differs between sides: counted on the padded input";
    }
    add(node, std::move(workload));
  }

  // Every input pixel times the whole kernel: [N H W][C] x [C][M R S], a GEMM for each group; the
  // overlapping results are then summed, which costs traffic only.
  GemmShape transposed_convolution(const OnnxNode& node, const OnnxTensor& data,
                                   const OnnxTensor& weight) {
    const Shape& in = shape(node, data, 3);
    const Shape& kernel = shape(node, weight, in.size());
    const std::int64_t groups = group(node);
    if (groups < 1 || in[1] % groups != 0 || kernel[0] != in[1]) {
      fail(node, "channels of data, weights and groups contradict each other");
    }
    GemmShape product;
    product.m =
        in[0] * std::accumulate(in.begin() + 2, in.end(), std::int64_t{1}, std::multiplies<>{});
    product.n =
        std::accumulate(kernel.begin() + 1, kernel.end(), std::int64_t{1}, std::multiplies<>{});
    product.k = in[1] / groups;
    if (groups > 1) {
      product.batch = groups;
    }
    return product;
  }

  GemmShape whole_gemm(const OnnxNode& node, const OnnxTensor& data,
                       const OnnxTensor& weight) const {
    const Shape& a = shape(node, data, 2);
    const Shape& b = shape(node, weight, 2);
    const auto is_transposed = [&node](const char* key) {
      const auto at = node.integers.find(key);
      return at != node.integers.end() && at->second.at(0) != 0;
    };
    const bool ta = is_transposed("transA"), tb = is_transposed("transB");
    if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) {
      fail(node, "the operands' shared axis differs");
    }
    return {a[ta ? 1 : 0], b[tb ? 0 : 1], a[ta ? 0 : 1], std::nullopt, node.inputs.size() > 2};
  }

  // numpy.matmul: vectors are rows and columns; axes in front of the last two are a batch, each
  // repeated where it has extent 1. Against weights without batch, all rows are one matrix.
  GemmShape product(const OnnxNode& node, const OnnxTensor& data, const OnnxTensor& weight) const {
    Shape a = shape(node, data, 1);
    Shape b = shape(node, weight, 1);
    if (a.size() == 1) {
      a.insert(a.begin(), 1);
    }
    if (b.size() == 1) {
      b.push_back(1);
    }
    if (a.back() != b[b.size() - 2]) {
      fail(node, "the operands' shared axis differs");
    }
    GemmShape gemm{a[a.size() - 2], b.back(), a.back(), std::nullopt, false};
    const std::size_t batched = std::max(a.size(), b.size()) - 2;
    std::int64_t batch = 1;
    for (std::size_t i = 0; i < batched; ++i) {  // from the innermost
      const auto at = [i](const Shape& of) {
        return i + 2 < of.size() ? of[of.size() - 3 - i] : 1;
      };
      if (at(a) != at(b) && at(a) != 1 && at(b) != 1) {
        fail(node, "the operands' batches differ");
      }
      batch *= std::max(at(a), at(b));
    }
    if (b.size() == 2) {
      gemm.m *= batch;
    } else if (batch > 1) {
      gemm.batch = batch;
    }
    return gemm;
  }

  Bits bits(const OnnxTensor& tensor) const {
    if (!tensor.shape || tensor.name.empty()) {
      return Bits{0};
    }
    Bits sum = options_.operand_bits.value_or(tensor.bits);
    for (const std::int64_t extent : *tensor.shape) {
      if (extent < 0 || (extent > 0 && sum.count() > kMostBits / extent)) {
        return Bits{kMostBits};
      }
      sum = sum * extent;
    }
    return sum;
  }

  void add_stream(const OnnxNode& node) {
    Stream stream{title(node), node.op, Bits{0}, Bits{0}, 1};
    for (const OnnxTensor& tensor : node.outputs) {
      stream.out = std::min(stream.out + bits(tensor), Bits{kMostBits});
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const bool picks = i == 0 && kPickers.contains(node.op);
      stream.in =
          std::min(stream.in + (picks ? stream.out : bits(node.inputs[i])), Bits{kMostBits});
    }
    for (Stream& known : network_.streams) {
      if (known.kind == stream.kind && known.in == stream.in && known.out == stream.out) {
        ++known.count;
        return;
      }
    }
    stream.name = unused(stream.name);
    network_.streams.push_back(std::move(stream));
  }

  // A name that results can use, each once.
  std::string unused(const std::string& text) {
    std::string name;
    for (const char c : text) {
      name += is_name(std::string{'a', c}) ? c : '_';
    }
    name =
        name.substr(name.find_first_not_of('_') == std::string::npos ? name.size()
                                                                     : name.find_first_not_of('_'));
    name = is_name(name) ? name : fmt::format("node_{}", position_);
    if (!names_.insert(name).second) {
      name = fmt::format("{}_{}", name, position_);
      names_.insert(name);
    }
    return name;
  }

  void add(const OnnxNode& node, Workload workload) {
    for (NetworkLayer& known : network_.layers) {
      workload.name = known.name;
      if (known.workload == workload) {
        ++known.count;
        return;
      }
    }
    workload.name = unused(title(node));
    network_.layers.push_back({workload.name, workload, 1, ""});
  }

  static constexpr std::int64_t kMostBits = std::int64_t{1} << 56;
  const OnnxGraph& graph_;
  const OnnxOptions& options_;
  Network network_;
  std::set<std::string> constants_;         // tensors known before the model runs
  std::set<std::string> names_{"network"};  // the file of the network itself
  std::size_t position_ = 0;
};

}  // namespace

Network to_network(const OnnxGraph& graph, const OnnxOptions& options) {
  return Translation{graph, options}.network();
}

}  // namespace mapsim
