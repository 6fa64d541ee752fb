// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/diagnostic.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/zigzag_layer.hpp"
#include "workloads/conv.hpp"
#include "workloads/form.hpp"
#include "workloads/operators.hpp"

namespace mapsim {

namespace {

// What keeps a workload from being a graph.
struct NoGraph {
  std::string why;
};

std::string squeezed(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

// A convolution with our names of dims, by which view_layer() knows one.
std::optional<LayerView> view_convolution(Workload workload) {
  constexpr std::array<std::pair<const char*, const char*>, 5> kDims{
      {{"B", "N"}, {"OY", "P"}, {"OX", "Q"}, {"FY", "R"}, {"FX", "S"}}};
  for (const auto& [theirs, ours] : kDims) {
    const auto dim = workload.find_dim(theirs);
    if (!dim) {
      return std::nullopt;
    }
    workload.dims[*dim].name = ours;
  }
  const auto view = view_layer(workload);
  return view && view->convolution ? view : std::nullopt;
}

class GraphBuilder {
 public:
  ZigzagGraph build(const Document& workload) {
    for (const Node& layer : workload.root.items) {
      add(layer);
    }
    const GraphLinks links = links_of(graph_);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (links.producer[t] && links.readers[t].empty()) {
        graph_.outputs.push_back(t);
      }
    }
    ZigzagGraph built{std::move(graph_), "", {}};
    if (has_pools_) {
      built.notes.emplace_back("pools are written as MaxPool: what they move is the same");
    }
    note_pools(*built.graph, built.notes);
    return built;
  }

 private:
  void add(const Node& layer) {
    const std::string id = zigzag_word(layer, "id");
    if (id.empty()) {
      throw NoGraph{fmt::format("line {}: a layer without an id", layer.line)};
    }
    GraphNode node;
    node.name = unused(zigzag_layer_name(layer));
    std::optional<Workload> product;
    try {
      product = read_zigzag_workload(layer);
    } catch (const ZigzagLeftOut&) {  // a sum, a pool
    }
    GraphTensor made{node.name, {}, Bits{0}, false};
    if (product) {
      add_layer(layer, *std::move(product), node);
      const Workload& workload = node.layers[0].workload;
      made.shape = shape_of(workload, workload.output());
      made.bits = workload.tensors[workload.output()].bits;
    } else {
      add_operation(layer, node, made);
    }
    node.out = {graph_.tensors.size()};
    made_[id] = graph_.tensors.size();
    graph_.tensors.push_back(std::move(made));
    graph_.nodes.push_back(std::move(node));
  }

  std::string unused(std::string name) {
    while (!names_.insert(name).second) {
      name += "_";
    }
    return name;
  }

  // The tensor that an operand is; nullopt: its own layer has it.
  std::optional<std::size_t> source(const Node& layer, const std::string& operand) const {
    const Node* list = value_of(layer, "operand_source");
    const std::string id = list == nullptr ? "" : zigzag_word(*list, operand.c_str());
    if (id.empty() || id == zigzag_word(layer, "id")) {
      return std::nullopt;
    }
    const auto at = made_.find(id);
    if (at == made_.end()) {
      throw NoGraph{
          fmt::format("{} reads layer {}, which is not above it", zigzag_layer_name(layer), id)};
    }
    return at->second;
  }

  std::size_t add_input(const GraphNode& node, const Extents& shape, Bits bits) {
    graph_.inputs.push_back(graph_.tensors.size());
    graph_.tensors.push_back({unused(node.name + "_input"), shape, bits, false});
    return graph_.tensors.size() - 1;
  }

  // The same elements in another shape: a fully connected layer behind a pool.
  std::size_t reshaped(std::size_t tensor, const Extents& shape, const GraphNode& reader) {
    const GraphTensor from = graph_.tensors[tensor];
    if (*from.shape == shape) {
      return tensor;
    }
    if (count_elements(*from.shape) != count_elements(shape)) {
      throw NoGraph{fmt::format("{} makes {} elements, of which {} reads {}", from.name,
                                count_elements(*from.shape), reader.name, count_elements(shape))};
    }
    GraphNode alias;
    alias.name = unused(from.name + "_reshaped");
    alias.op = "Reshape";
    alias.kind = OpKind::kAlias;
    alias.in = {{tensor, {}}};
    alias.out = {graph_.tensors.size()};
    graph_.tensors.push_back({alias.name, shape, from.bits, false});
    graph_.nodes.push_back(std::move(alias));
    return graph_.tensors.size() - 1;
  }

  void add_layer(const Node& layer, Workload workload, GraphNode& node) {
    node.kind = OpKind::kEinsum;
    if (const auto view = view_convolution(workload)) {
      add_convolution(layer, workload, *view, node);
      return;
    }
    for (const TensorId t : workload.tensors.ids()) {
      const Tensor& tensor = workload.tensors[t];
      const auto from = t == workload.output() ? std::nullopt : source(layer, tensor.name);
      if (from) {
        node.in.push_back({reshaped(*from, shape_of(workload, t), node), t});
      } else if (tensor.role == Role::kInput) {
        node.in.push_back({add_input(node, shape_of(workload, t), tensor.bits), t});
      }
    }
    workload.name = node.name;
    node.layers.push_back({node.name, std::move(workload), 1, ""});
  }

  void add_convolution(const Node& layer, const Workload& workload, const LayerView& view,
                       GraphNode& node) {
    const Tensor& input = workload.tensors[view.input];
    const Tensor& weight = workload.tensors[view.weight];
    const Tensor& output = workload.tensors[workload.output()];
    if (source(layer, weight.name)) {
      throw NoGraph{fmt::format("{} is a convolution whose weights a layer makes", node.name)};
    }
    ConvShape shape;
    shape.batch = bound_of(workload, view.batch);
    shape.groups = bound_of(workload, view.group);
    shape.in_channels = shape.groups * bound_of(workload, view.channel);
    shape.out_channels = shape.groups * bound_of(workload, view.kernel);
    shape.kernel = {bound_of(workload, view.filter_rows), bound_of(workload, view.filter_columns)};
    shape.stride = view.stride;
    shape.dilation = view.dilation;
    const HeightWidth outputs{bound_of(workload, view.rows), bound_of(workload, view.columns)};
    shape.input = input_for(shape, outputs);
    const auto shape_in = [&shape] {
      return Extents{shape.batch, shape.in_channels, shape.input[0], shape.input[1]};
    };
    if (const auto from = source(layer, input.name)) {
      const Extents& made = *graph_.tensors[*from].shape;
      for (const std::size_t i : {0, 1}) {
        if (made.size() == 4) {
          shape.padding[i] = std::max<std::int64_t>(0, (shape.input[i] - made[2 + i] + 1) / 2);
          shape.input[i] = made[2 + i];
        }
      }
      node.in = {{reshaped(*from, shape_in(), node), view.input}};
    } else {
      node.in = {{add_input(node, shape_in(), input.bits), view.input}};
    }
    if (problem_of(shape) || shape.output() != outputs) {
      throw NoGraph{fmt::format("no padding lets {} read what is made", node.name)};
    }
    Precision precision;
    precision.roles = {
        {Role::kInput, input.bits}, {Role::kWeight, weight.bits}, {Role::kOutput, output.bits}};
    precision.partial = output.partial_bits;
    node.layers.push_back({node.name, conv2d(node.name, shape, precision), 1, ""});
    node.in[0].of = node.layers[0].workload.find_tensor("I");
  }

  // A sum of tensors, a pool, or what nothing is known of.
  void add_operation(const Node& layer, GraphNode& node, GraphTensor& made) {
    const std::string type = zigzag_word(layer, "operator_type");
    const std::string equation = squeezed(zigzag_word(layer, "equation"));
    made.shape = shape_of_output(layer, equation);
    const Node* widths = value_of(layer, "operand_precision");
    made.bits = Bits{width(widths, "O_final", width(widths, "O", 8))};
    const bool sum = equation.find("+=") == std::string::npos &&
                     equation.find('*') == std::string::npos &&
                     equation.find('+') != std::string::npos;
    const bool pool = !sum && width(widths, "W", 8) == 0;
    for (const char* operand : {"W", "I"}) {
      if (const auto from = source(layer, operand)) {
        node.in.push_back({sum ? reshaped(*from, *made.shape, node) : *from, {}});
      }
    }
    if (node.in.empty()) {
      throw NoGraph{fmt::format("{} reads no layer", node.name)};
    }
    node.op = sum ? "Add" : pool ? "MaxPool" : is_name(type) ? type : "Unknown";
    node.kind = sum || pool ? op_kind(node.op) : OpKind::kOther;
    has_pools_ = has_pools_ || pool;
    if (node.kind == OpKind::kOther) {
      node.op = op_kind(node.op) == OpKind::kOther ? node.op : node.op + "_of_ZigZag";
      node.unpriced = node.op;
      return;
    }
    for (const GraphUse& use : node.in) {
      node.reads += size_of(graph_.tensors[use.tensor]).value_or(Bits{0});
    }
    node.writes = size_of(made).value_or(Bits{0});
  }

  static std::int64_t width(const Node* widths, const char* operand, std::int64_t otherwise) {
    const std::string text = widths == nullptr ? "" : zigzag_word(*widths, operand);
    const bool digits = !text.empty() && text.size() < 4 &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::stoll(text) : otherwise;
  }

  // O[b][g][oy][ox]=...
  static Extents shape_of_output(const Node& layer, const std::string& equation) {
    std::map<std::string, std::int64_t> sizes;
    const Node* dims = value_of(layer, "loop_dims");
    const Node* list = value_of(layer, "loop_sizes");
    for (std::size_t i = 0;
         dims != nullptr && list != nullptr && i < std::min(dims->items.size(), list->items.size());
         ++i) {
      sizes[zigzag_upper(dims->items[i].text)] = std::atoll(list->items[i].text.c_str());
    }
    Extents shape;
    for (std::size_t at = equation.find('['); at < equation.find('=');
         at = equation.find('[', at)) {
      const std::size_t close = equation.find(']', at);
      if (close == std::string::npos) {
        break;
      }
      const std::int64_t size = sizes[zigzag_upper(equation.substr(at + 1, close - at - 1))];
      if (size < 1) {
        throw NoGraph{fmt::format("{} has an output of unknown size", zigzag_layer_name(layer))};
      }
      shape.push_back(size);
      at = close;
    }
    return shape;
  }

  NetworkGraph graph_;
  std::map<std::string, std::size_t> made_;  // tensors, by the ids of layers
  std::set<std::string> names_;
  bool has_pools_ = false;
};

}  // namespace

ZigzagGraph zigzag_graph(const Document& workload) {
  try {
    return GraphBuilder{}.build(workload);
  } catch (const NoGraph& no) {
    return {{}, no.why, {}};
  } catch (const ConfigError& error) {
    return {{}, error.diagnostics().front().message, {}};
  } catch (const std::invalid_argument& error) {
    return {{}, error.what(), {}};
  }
}

void note_pools(const NetworkGraph& graph, std::vector<std::string>& notes) {
  std::vector<std::string> pools;
  for (const GraphNode& node : graph.nodes) {
    if (op_kind(node.op) == OpKind::kPool && !node.op.starts_with("Global")) {
      pools.push_back(node.name);
    }
  }
  if (!pools.empty()) {
    notes.push_back(
        fmt::format("{}: a graph has the window without padding that makes its shape, not the one "
                    "of the workload; what it moves is the same",
                    fmt::join(pools, ", ")));
  }
}

void set_zigzag_widths(NetworkGraph& graph) {
  for (GraphNode& node : graph.nodes) {
    for (NodeLayer& layer : node.layers) {
      for (Tensor& tensor : layer.workload.tensors) {
        tensor.bits = Bits{8};
        tensor.partial_bits = Bits{tensor.role == Role::kOutput ? 16 : 8};
      }
    }
  }
}

}  // namespace mapsim
