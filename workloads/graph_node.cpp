// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "workloads/composite.hpp"
#include "workloads/form.hpp"
#include "workloads/graph_shapes.hpp"
#include "workloads/limits.hpp"
#include "workloads/read_workload.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMaxAxes = 8;

// What a reader or writer of the other order, or of a part, makes unnecessary.
bool may_be_alias(OpKind kind) {
  return kind == OpKind::kTranspose || kind == OpKind::kConcat || kind == OpKind::kSplit ||
         kind == OpKind::kMove;
}

class NodeReader {
 public:
  explicit NodeReader(const NodeContext& context) : context_{context} {}

  bool has_epilogue(const GraphNode& node, const char* word) const {
    return std::find(node.epilogue.begin(), node.epilogue.end(), word) != node.epilogue.end();
  }

  // The shape of an operand; empty: not known, or there is none.
  Extents shape_in(const GraphNode& node, std::size_t i) const {
    return i < node.in.size() ? context_.tensors[node.in[i].tensor].shape.value_or(Extents{})
                              : Extents{};
  }
  std::vector<NodeResult> read_einsum(const Fields& fields, const Operands& operands,
                                      GraphNode& node) {
    for (const char* key : {"axis", "parts", "perm", "shape", "kernel", "stride", "padding", "ceil",
                            "bits", "alias", "hidden", "directions", "unpriced"}) {
      if (fields.has(key)) {
        context_.reader.error(fields.place(key), fmt::format("'{}' is for nodes with 'op'", key));
      }
    }
    LayerDefaults defaults{{}, context_.precision, context_.configs};
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      defaults.operands.push_back(shape_in(node, i));
    }
    NodeLayer layer{node.name, {}, 1, ""};
    auto workload = read_layer_or_file(context_.reader, context_.document, fields, node.name,
                                       defaults, layer.file);
    if (!workload) {
      return {};
    }
    node.kind = OpKind::kEinsum;
    const auto view = view_layer(*workload);
    node.op = !view ? "Einsum" : view->convolution ? "Conv" : view->group ? "MatMul" : "Gemm";
    bind(fields, *workload, operands, node);
    for (const GraphUse& use : node.in) {
      check_operand(fields.place("in"), *workload, use);
    }
    if (workload->macs() > context_.macs_left) {
      context_.reader.error(fields.node(), "more than 2^62 MACs");
      return {};
    }
    context_.macs_left -= workload->macs();
    node.parameters =
        parameters_of(*workload, node.in, workload->bias || has_epilogue(node, "bias"));
    const TensorId out = workload->output();
    const NodeResult result{shape_of(*workload, out), workload->tensors[out].bits};
    layer.workload = *std::move(workload);
    node.layers.push_back(std::move(layer));
    return {result};
  }

  // Which operand of the layer each tensor is: by name, else in the order of the equation.
  void bind(const Fields& fields, const Workload& workload, const Operands& names,
            GraphNode& node) {
    Words operands = names_of(workload.tensors);
    operands.pop_back();
    if (node.in.size() > operands.size()) {
      context_.reader.error(fields.place("in"), fmt::format("{} operands; the layer has {}",
                                                            node.in.size(), operands.size()));
      return;
    }
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      const auto operand =
          names.empty() ? std::optional{i} : context_.reader.choice(names[i], operands, "operand");
      if (operand) {
        node.in[i].of = static_cast<TensorId>(*operand);
      }
    }
  }

  // Is the tensor as large and as wide as the layer reads it?
  void check_operand(const Node& at, const Workload& workload, const GraphUse& use) {
    const GraphTensor& tensor = context_.tensors[use.tensor];
    if (!tensor.shape || !use.of) {
      return;
    }
    const Tensor& operand = workload.tensors[*use.of];
    const Extents read = shape_of(workload, *use.of);
    const Extents& made = *tensor.shape;
    bool fits = made == read;
    if (operand.stored_elements) {  // a window's padding is not stored, nor what a stride leaves
      fits = made.size() == read.size() && made[0] == read[0] && made[1] == read[1] &&
             count_elements(made) == *operand.stored_elements;
    }
    if (!fits) {
      context_.reader.error(at, fmt::format("{} is {}, read as {} of {}{}", tensor.name,
                                            shape_text(made), operand.name, shape_text(read),
                                            operand.stored_elements ? " with padding" : ""));
    }
    if (tensor.bits != operand.bits) {
      context_.reader.error(
          at, fmt::format("{} has {} b, read as {} of {} b", tensor.name, tensor.bits.count(),
                          operand.name, operand.bits.count()));
    }
  }

  std::vector<NodeResult> read_operator(const Fields& fields, GraphNode& node) {
    for (Words words = layer_keys(); const std::string& key : words) {
      if (fields.has(key) && key != "precision") {
        context_.reader.error(fields.place(key), fmt::format("'{}' or 'op', not both", key));
      }
    }
    const Node* place = fields.find("op");
    const auto op = context_.reader.name(place);
    if (!op || node.in.empty()) {
      if (op) {
        context_.reader.error(fields.place("in"), "an operator reads a list of tensors");
      }
      return {};
    }
    node.op = *op;
    node.kind = op_kind(*op);
    const std::int64_t gates = gates_of(*op);
    if (gates > 0) {
      return read_recurrent(fields, node, gates);
    }
    const bool unpriced = context_.reader.boolean(fields.find("unpriced")).value_or(false);
    if ((node.kind == OpKind::kOther) != unpriced) {
      Words known{"LSTM", "GRU", "RNN"};
      for (int kind = 0; kind < static_cast<int>(OpKind::kOther); ++kind) {
        const Words words = operators_of(static_cast<OpKind>(kind));
        known.insert(known.end(), words.begin(), words.end());
      }
      context_.reader.error(
          *place,
          unpriced
              ? fmt::format("the cost of operator '{}' is known, so `unpriced: true` cannot stand "
                            "here",
                            *op)
              : fmt::format("unknown operator '{}'{} (`unpriced: true` lists one without a price)",
                            *op, suggestion(*op, known)));
      return {};
    }
    node.unpriced = unpriced ? *op : "";
    return read_shaped(fields, node);
  }

  bool needs(const Fields& fields, const std::string& op, const char* key) {
    if (!fields.has(key)) {
      context_.reader.error(fields.node(), fmt::format("{} needs '{}'", op, key));
    }
    return fields.has(key);
  }

  std::vector<NodeResult> read_shaped(const Fields& fields, GraphNode& node) {
    OpForm form{node.op, node.kind};
    const Words allowed = keys_of(node.op);
    for (const char* key : {"axis", "parts", "perm", "shape", "kernel", "stride", "padding", "ceil",
                            "hidden", "directions", "alias"}) {
      const bool may = std::find(allowed.begin(), allowed.end(), key) != allowed.end() ||
                       (std::string_view{key} == "alias" && may_be_alias(node.kind));
      if (fields.has(key) && !may) {
        context_.reader.error(fields.place(key), fmt::format("{} has no '{}'", node.op, key));
      }
    }
    const std::string needed = key_needed(node.op);
    if (!needed.empty() && !needs(fields, node.op, needed.c_str())) {
      return {};
    }
    if (fields.has("axis")) {
      form.axis = read_axis(fields.find("axis"));
    }
    for (const char* key : {"parts", "perm", "shape"}) {
      if (fields.has(key)) {
        form.list = read_extents(context_.reader, fields.find(key),
                                 key == std::string_view{"perm"} ? 0 : 1);
      }
    }
    form.kernel = read_pair(context_.reader, fields.find("kernel"), 1);
    form.stride = read_pair(context_.reader, fields.find("stride"), 1);
    form.padding = read_pair(context_.reader, fields.find("padding"), 0);
    form.ceil = context_.reader.boolean(fields.find("ceil")).value_or(false);
    return shape_results(fields, form, node);
  }

  std::optional<std::int64_t> read_axis(const Node* node) {
    if (node != nullptr && node->kind == Node::Kind::kScalar && node->text.starts_with('-')) {
      const auto back = context_.reader.integer_in(*node, 1, node->text.substr(1), 1, kMaxAxes);
      return back ? std::optional{-*back} : std::nullopt;
    }
    return context_.reader.integer(node, 0, kMaxAxes);
  }

  std::vector<NodeResult> shape_results(const Fields& fields, const OpForm& form, GraphNode& node) {
    const std::string needed = key_needed(node.op);
    if ((needed == "kernel" && !form.kernel) ||
        (!needed.empty() && needed != "kernel" && !form.list)) {
      return {};  // it was wrong
    }
    Bits bits = context_.tensors[node.in.front().tensor].bits;
    bits = context_.reader.quantity(fields.find("bits"), parse_size).value_or(bits);
    if (form.axis) {
      node.axes = {*form.axis};
    } else if (node.kind == OpKind::kTranspose) {
      node.axes = *form.list;
    }
    std::vector<Extents> in;
    for (std::size_t i = 0; i < node.in.size(); ++i) {
      in.push_back(shape_in(node, i));
    }
    node.parameters = node.kind == OpKind::kNorm ? norm_parameters(node.op, in[0]) : 0;
    const auto shapes = result_shapes(form, in);
    if (const auto* problem = std::get_if<std::string>(&shapes)) {
      context_.reader.error(fields.node(), fmt::format("{}: {}", node.op, *problem));
      return {};
    }
    std::vector<NodeResult> results;
    for (const Extents& shape : std::get<0>(shapes)) {
      results.push_back({shape, bits});
    }
    return results;
  }

  // Steps, batch and inputs in, steps, batch and states (of both directions) out.
  std::vector<NodeResult> read_recurrent(const Fields& fields, GraphNode& node,
                                         std::int64_t gates) {
    const Extents in = shape_in(node, 0);
    if (!needs(fields, node.op, "hidden")) {
      return {};
    }
    const auto hidden = context_.reader.integer(fields.find("hidden"), 1, kMaxExtent);
    const auto directions = context_.reader.integer(fields.find("directions"), 1, 2).value_or(1);
    if (!hidden || in.size() != 3) {
      if (hidden && !in.empty()) {
        context_.reader.error(
            fields.place("in"),
            fmt::format("{} has not the axes steps, batch, inputs", shape_text(in)));
      }
      return {};
    }
    const RecurrentShape shape{gates, in[0], in[1], in[2], *hidden, directions};
    node.kind = OpKind::kEinsum;
    try {
      node.layers = recurrent_layers(node.name, shape, context_.precision);
    } catch (const std::invalid_argument& problem) {
      context_.reader.error(fields.node(), problem.what());
      return {};
    }
    node.in.front().of = TensorId{0};
    node.parameters = recurrent_parameters(shape);
    return {{Extents{in[0], in[1], directions * *hidden},
             node.layers[0].workload.tensors[node.layers[0].workload.output()].bits}};
  }

  const NodeContext& context_;
};

}  // namespace

Words node_keys() {
  Words keys = layer_keys();
  keys.insert(keys.end(),
              {"name",  "workload", "op",         "in",     "out",        "epilogue", "axis",
               "parts", "perm",     "shape",      "kernel", "stride",     "padding",  "ceil",
               "bits",  "alias",    "parameters", "hidden", "directions", "unpriced"});
  return keys;
}

std::optional<Extents> read_extents(Reader& reader, const Node* list, std::int64_t least) {
  if (list == nullptr) {
    return std::nullopt;
  }
  Extents extents;
  const std::size_t before = reader.errors();
  for (const Node* item : reader.items(*list, "a list of extents")) {
    extents.push_back(reader.integer(item, least, kMaxExtent).value_or(1));
  }
  if (extents.size() > kMaxAxes) {
    reader.error(*list, fmt::format("{} axes; at most {}", extents.size(), kMaxAxes));
  }
  return reader.errors() > before ? std::nullopt : std::optional{extents};
}

std::vector<NodeResult> read_node_layer(const NodeContext& context, const Fields& fields,
                                        const Operands& operands, GraphNode& node) {
  return NodeReader{context}.read_einsum(fields, operands, node);
}

std::vector<NodeResult> read_node_op(const NodeContext& context, const Fields& fields,
                                     GraphNode& node) {
  return NodeReader{context}.read_operator(fields, node);
}

}  // namespace mapsim
