// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>

#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "interop/onnx.hpp"
#include "interop/onnx_composite.hpp"
#include "interop/onnx_edges.hpp"
#include "interop/onnx_ops.hpp"
#include "workloads/limits.hpp"
#include "workloads/operators.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kMostBits = std::int64_t{1} << 56;  // that all streams together move

// What exporters call every model says nothing; then the file's name.
std::string title_of(const OnnxGraph& graph) {
  constexpr std::array kUsual{"main_graph", "torch_jit", "torch-jit-export", "tf2onnx", "graph"};
  if (is_name(graph.name) && std::find(kUsual.begin(), kUsual.end(), graph.name) == kUsual.end()) {
    return graph.name;
  }
  const std::string stem = std::filesystem::path{graph.file}.stem().string();
  return is_name(stem) ? stem : "model";
}

class Translation {
 public:
  Translation(const OnnxGraph& graph, const OnnxOptions& options)
      : graph_{graph}, options_{options}, edges_{graph, options.operand_bits} {
    network_.name = title_of(graph);
    network_.batch = graph.batch;
    network_.warnings = graph.warnings;
  }

  Network network() {
    for (const OnnxNode& node : graph_.nodes) {
      try {
        translate(node);
      } catch (const std::invalid_argument& error) {
        throw ConfigError({Diagnostic{
            graph_.file, 0, 0, "",
            as_text(fmt::format("{} {}: {}", node.op, quoted(title(node)), error.what())), ""}});
      }
      ++position_;
    }
    network_.graph = edges_.finish();
    return std::move(network_);
  }

 private:
  // Its own name, else the operator and where it stands: Conv_3.
  std::string title(const OnnxNode& node) const {
    return node.name.empty() ? fmt::format("{}_{}", node.op, position_) : node.name;
  }

  bool is_constant(const OnnxTensor& tensor) const {
    return tensor.constant || constants_.contains(tensor.name);
  }

  // Operators on constants alone are done before the model runs.
  bool is_folded(const OnnxNode& node) const {
    const bool may_come_from_nothing =
        node.op == "Constant" || find_onnx_op(node.op).kind != OnnxKind::kOther;
    return node.op == "Shape" || node.op == "Size" ||
           (node.inside.empty() && (may_come_from_nothing || !node.inputs.empty()) &&
            std::all_of(node.inputs.begin(), node.inputs.end(), [this](const OnnxTensor& tensor) {
              return tensor.name.empty() || is_constant(tensor);
            }));
  }

  // Bodies see any tensor of the model, so nothing tells which of them run. `If` itself does
  // nothing.
  void count_inside(const OnnxNode& node) {
    edges_.add(node, title(node), OpKind::kOther, constants_).unpriced = unpriced_name(node.op);
    if (node.inside.empty() || node.op != "If") {
      count_unpriced(node.op);
    }
    for (const auto& [op, count] : node.inside) {
      if (find_onnx_op(op).kind != OnnxKind::kView && op != "If") {
        count_unpriced(fmt::format("{}_in_{}", op, node.op), count);
      }
    }
  }

  // A Reshape to numbers that the model has built in for other inputs.
  void check_view(const OnnxNode& node) const {
    if (node.op != "Reshape" || node.inputs.empty() || node.outputs.empty() ||
        !node.inputs[0].shape || !node.outputs[0].shape) {
      return;
    }
    const auto elements = [](const OnnxTensor& tensor) {
      double product = 1;
      for (const std::int64_t extent : *tensor.shape) {
        product *= static_cast<double>(extent);
      }
      return product;
    };
    if (elements(node.inputs[0]) != elements(node.outputs[0])) {
      throw std::invalid_argument{
          fmt::format("{:.0f} elements cannot have a shape of {:.0f}{}", elements(node.inputs[0]),
                      elements(node.outputs[0]),
                      graph_.stretched ? "; the model is made for one input at a time: export it "
                                         "with a symbolic batch"
                                       : "")};
    }
  }

  void translate(const OnnxNode& node) {
    const OnnxOp op = find_onnx_op(node.op);
    if (is_folded(node)) {
      for (const OnnxTensor& tensor : node.outputs) {
        constants_.insert(tensor.name);
      }
    } else if (is_composite(node.op)) {
      add_composite(node);
    } else if (op.kind == OnnxKind::kOther) {
      count_inside(node);
    } else if (op.kind == OnnxKind::kStream) {
      if (!edges_.fold(node, constants_)) {
        add_stream(node);
      }
    } else if (op.kind == OnnxKind::kView) {
      check_view(node);
      add_view(node);
    } else {
      add_layers(node, op);
    }
  }

  static std::string unpriced_name(const std::string& what) {
    const std::string name = name_from(what);
    return is_name(name) ? name : "op_" + name;
  }
  void count_unpriced(const std::string& what, std::int64_t count = 1) {
    network_.unpriced[unpriced_name(what)] += count;
  }
  // A layer that is in no sum.
  void add_unpriced(const OnnxNode& node, const std::string& what) {
    edges_.add(node, title(node), OpKind::kOther, constants_).unpriced = unpriced_name(what);
    count_unpriced(what);
  }

  // Names of the same elements; what they are views of is dropped where it is no operand.
  void add_view(const OnnxNode& node) {
    if (node.op == "Identity" || node.op == "Dropout") {
      edges_.rename(node);
    } else {
      edges_.add(node, title(node), OpKind::kAlias, constants_);
    }
  }

  void add_composite(const OnnxNode& node) {
    const auto layers =
        node.inputs.empty() || node.outputs.empty()
            ? std::nullopt
            : composite_layers(
                  node, "n",
                  precision(node.inputs[0],
                            node.inputs.size() > 1 && node.inputs[1].bits > Bits{0}
                                ? node.inputs[1]
                                : node.inputs[0],
                            node.outputs[0].bits > Bits{0} ? node.outputs[0] : node.inputs[0]));
    if (!layers) {
      add_unpriced(node, node.op + "_of_unknown_shape");
      return;
    }
    GraphNode& made = edges_.add(node, title(node), OpKind::kEinsum, constants_);
    if (!made.in.empty()) {
      made.in.front().of = TensorId{0};
    }
    for (const NodeLayer& layer : *layers) {
      add(title(node) + layer.name.substr(1), layer.workload, layer.count, made);
    }
  }

  // Operands of a layer that the model computes.
  void bind(const OnnxNode& node, const OnnxOp& op, GraphNode& made) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i].name.empty() || is_constant(node.inputs[i])) {
        continue;
      }
      if (i == op.data || i == op.weight) {
        made.in[next].of = i == op.data ? TensorId{0} : TensorId{1};
      }
      ++next;
    }
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

  void add_layers(const OnnxNode& node, const OnnxOp& op) {
    if (op.kind == OnnxKind::kEinsum && node.inputs.size() != 2) {
      return add_unpriced(node, "Einsum");
    }
    if (node.inputs.size() <= std::max(op.data, op.weight) || node.outputs.empty()) {
      throw std::invalid_argument{"operands are missing"};
    }
    const OnnxTensor& data = node.inputs[op.data];
    const OnnxTensor& weight = node.inputs[op.weight];
    if (!data.shape || !weight.shape) {
      add_unpriced(node, node.op + "_of_unknown_shape");
    } else if (!data.number || !weight.number) {
      add_unpriced(node, node.op + "_of_no_numbers");
    } else {
      add_known(node, op, precision(data, weight, node.outputs[0]));
    }
  }

  void add_known(const OnnxNode& node, const OnnxOp& op, const Precision& widths) {
    std::vector<Workload> layers;
    if (has_too_many_axes(node, op)) {
      const auto deep = op.kind == OnnxKind::kConv && node.op == "Conv" ? onnx_conv3d(node, widths)
                                                                        : std::nullopt;
      if (!deep) {
        return add_unpriced(node,
                            fmt::format("{}_{}D", node.op, node.inputs[op.data].shape->size() - 2));
      }
      layers = {*deep};
    } else {
      layers = onnx_layers(node, op, widths);
    }
    if (layers.empty()) {
      return add_unpriced(node, node.op);
    }
    GraphNode& made = edges_.add(node, title(node), OpKind::kEinsum, constants_);
    bind(node, op, made);
    for (const Workload& workload : layers) {
      add(layers.size() == 1 ? title(node) : title(node) + phase_of(workload), workload, 1, made);
    }
    for (const Workload& workload : layers) {
      made.parameters += parameters_of(workload, made.in, workload.bias && made.parameters == 0);
    }
  }

  // The kernel of one of a ConvTranspose's phases.
  static std::string phase_of(const Workload& workload) {
    const auto extent = [&workload](const char* dim) {
      return workload.dims[*workload.find_dim(dim)].bound;
    };
    return fmt::format("_{}x{}", extent("R"), extent("S"));
  }

  // Of what is there; nullopt: its size is not known.
  std::optional<Bits> bits(const OnnxTensor& tensor) const {
    if (tensor.name.empty()) {
      return Bits{0};
    }
    Bits sum = options_.operand_bits.value_or(tensor.bits);
    if (!tensor.shape || sum.count() == 0) {
      return std::nullopt;
    }
    if (std::find(tensor.shape->begin(), tensor.shape->end(), 0) != tensor.shape->end()) {
      return Bits{0};
    }
    for (const std::int64_t extent : *tensor.shape) {
      if (extent < 0 || sum.count() > kMostBits / extent) {
        throw std::invalid_argument{quoted(tensor.name) + " has more than 2^56 bits"};
      }
      sum = sum * extent;
    }
    return sum;
  }

  void add_stream(const OnnxNode& node) {
    Stream stream{title(node), node.op, Bits{0}, Bits{0}, 1};
    bool known = true;
    const auto take = [&](Bits& sum, const OnnxTensor& tensor) {
      const std::optional<Bits> size = bits(tensor);
      known = known && size;
      sum += size.value_or(Bits{0});
      bits_left_ -= size.value_or(Bits{0}).count();
      if (bits_left_ < 0) {
        throw std::invalid_argument{"the model moves more than 2^56 bits"};
      }
    };
    for (const OnnxTensor& tensor : node.outputs) {
      take(stream.out, tensor);
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i == 0 && reads_what_it_writes(node.op)) {
        stream.in += stream.out;
      } else {
        take(stream.in, node.inputs[i]);
      }
    }
    if (!known) {
      return add_unpriced(node, node.op + "_of_unknown_size");
    }
    GraphNode& made = edges_.add(node, title(node), op_kind(node.op), constants_);
    made.reads = stream.in;
    made.writes = stream.out;
    if (stream.in + stream.out > Bits{0}) {
      add(std::move(stream));
    }
  }

  void add(Stream stream) {
    for (Stream& known : network_.streams) {
      if (known.kind == stream.kind && known.in == stream.in && known.out == stream.out) {
        ++known.count;
        return;
      }
    }
    stream.name = unused(stream.name);
    network_.streams.push_back(std::move(stream));
  }

  void add(const std::string& title, Workload workload, std::int64_t count, GraphNode& node) {
    if (workload.macs() > macs_left_ / count) {
      throw std::invalid_argument{"the model has more than 2^62 multiply-accumulates"};
    }
    macs_left_ -= count * workload.macs();
    for (NetworkLayer& known : network_.layers) {
      workload.name = known.name;
      if (known.workload == workload) {
        known.count += count;
        node.layers.push_back({known.name, workload, count, ""});
        return;
      }
    }
    workload.name = unused(title);
    node.layers.push_back({workload.name, workload, count, ""});
    network_.layers.push_back({workload.name, workload, count, ""});
  }

  // Where functions are nested, names are long; the ends of them differ most. A file's name has at
  // most 255 bytes.
  static std::string shortened(const std::string& name) {
    constexpr std::size_t kFront = 60, kBack = 138;
    return name.size() <= kFront + 2 + kBack
               ? name
               : name.substr(0, kFront) + "__" + name.substr(name.size() - kBack);
  }

  // A name for results, each once; files may not tell capitals from small letters.
  std::string unused(const std::string& text) {
    const std::string name = shortened(name_from(text));
    std::string tried = is_name(name) ? name : fmt::format("node_{}", position_);
    const std::string first = tried;
    for (std::size_t i = position_; !names_.insert(lowered(tried)).second; ++i) {
      tried = fmt::format("{}_{}", first, i);
    }
    return tried;
  }
  static std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text;
  }

  const OnnxGraph& graph_;
  const OnnxOptions& options_;
  OnnxEdges edges_;
  Network network_;
  std::set<std::string> constants_;         // tensors known before the model runs
  std::set<std::string> names_{"network"};  // the file of the network itself
  std::size_t position_ = 0;
  std::int64_t bits_left_ = kMostBits, macs_left_ = kMaxMacs;
};

}  // namespace

Network to_network(const OnnxGraph& graph, const OnnxOptions& options) {
  const OnnxGraph fused = with_fused_quantisation(graph);
  return Translation{fused, options}.network();
}

}  // namespace mapsim
