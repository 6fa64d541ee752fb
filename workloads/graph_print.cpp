// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

// A node that no file can say.
struct Unsaid {
  std::string why;
};

class GraphText {
 public:
  explicit GraphText(const NetworkGraph& graph) : graph_{graph}, names_(graph.tensors.size()) {}

  std::string write() {
    std::string text;
    const GraphLinks links = links_of(graph_);
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      if (!links.producer[t]) {
        name(t, graph_.tensors[t].name);
        text += input(graph_.tensors[t], names_[t]);
      }
    }
    text = text.empty() ? "graph:\n" : "inputs:\n" + text + "graph:\n";
    for (const GraphNode& node : graph_.nodes) {
      text += node.layers.empty() ? operation(node) : layer(node);
    }
    return text + outputs();
  }

 private:
  void name(std::size_t tensor, std::string wanted) {
    if (!is_name(wanted)) {
      wanted = "t_" + wanted;
      std::replace_if(
          wanted.begin(), wanted.end(),
          [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; }, '_');
    }
    while (!taken_.insert(wanted).second) {
      wanted += "_";
    }
    names_[tensor] = wanted;
  }

  const Extents& shape(std::size_t tensor) const {
    const GraphTensor& each = graph_.tensors[tensor];
    if (!each.shape) {
      throw Unsaid{fmt::format("{} has no known shape", each.name)};
    }
    return *each.shape;
  }

  std::string input(const GraphTensor& tensor, const std::string& as) const {
    if (!tensor.shape) {
      throw Unsaid{fmt::format("{} has no known shape", tensor.name)};
    }
    return fmt::format("  {}: {{shape: [{}], bits: {} b{}}}\n", as, fmt::join(*tensor.shape, ", "),
                       tensor.bits.count(), tensor.constant ? ", constant: true" : "");
  }

  // What a node makes has its name, unless it makes several.
  std::string results(const GraphNode& node) {
    if (node.out.size() == 1) {
      name(node.out[0], node.name);
      return names_[node.out[0]] == node.name ? "" : fmt::format(", out: {}", names_[node.out[0]]);
    }
    std::vector<std::string> made;
    for (const std::size_t tensor : node.out) {
      name(tensor, fmt::format("{}_{}", node.name, made.size()));
      made.push_back(names_[tensor]);
    }
    return fmt::format(", out: [{}]", fmt::join(made, ", "));
  }

  std::string operands(const GraphNode& node) const {
    std::vector<std::string> list, map;
    bool in_order = true;
    for (const GraphUse& use : node.in) {
      in_order = in_order && (!use.of || index_of(*use.of) == list.size());
      list.push_back(names_[use.tensor]);
      if (use.of && !node.layers.empty()) {
        map.push_back(fmt::format("{}: {}", node.layers[0].workload.tensors[*use.of].name,
                                  names_[use.tensor]));
      }
    }
    if (!in_order) {
      return fmt::format("{{{}}}", fmt::join(map, ", "));
    }
    return list.size() == 1 ? list[0] : fmt::format("[{}]", fmt::join(list, ", "));
  }

  static std::string epilogue(const GraphNode& node) {
    return node.epilogue.empty() ? ""
                                 : fmt::format(", epilogue: [{}]", fmt::join(node.epilogue, ", "));
  }

  std::string layer(const GraphNode& node) {
    if (node.layers.size() != 1 || node.layers[0].count != 1 || node.in.empty()) {
      throw Unsaid{fmt::format("{} is several layers, or reads nothing", node.name)};
    }
    const std::string in = operands(node);
    const std::string body = print_layer(node.layers[0].workload);
    std::string text = fmt::format("  - name: {}\n", node.name);
    for (std::size_t at = body.find('\n') + 1; at < body.size();) {  // after its name
      const std::size_t end = body.find('\n', at);
      text += "    " + body.substr(at, end - at + 1);
      at = end + 1;
    }
    text += fmt::format("    in: {}\n", in);
    for (const std::string& key : {results(node), epilogue(node)}) {
      text += key.empty() ? "" : fmt::format("    {}\n", key.substr(2));
    }
    return text;
  }

  std::string operation(const GraphNode& node) {
    if (node.in.empty() || node.out.empty()) {
      throw Unsaid{fmt::format("{} reads or makes nothing", node.name)};
    }
    const std::string in = operands(node);
    std::string text = fmt::format("  - {{name: {}, op: {}", node.name, op_of(node)) + keys(node) +
                       fmt::format(", in: {}", in) + results(node) + epilogue(node);
    const Bits bits = graph_.tensors[node.out[0]].bits;
    if (bits != graph_.tensors[node.in[0].tensor].bits) {
      text += fmt::format(", bits: {} b", bits.count());
    }
    if (node.parameters > 0 && node.kind != OpKind::kNorm) {
      text += fmt::format(", parameters: {}", node.parameters);
    }
    const bool renames = node.kind == OpKind::kAlias && op_kind(node.op) != OpKind::kAlias;
    return text + (renames ? ", alias: true}\n" : "}\n");
  }

  // Other names of the same elements differ in what they say of the shape; one word says all.
  static std::string op_of(const GraphNode& node) {
    return op_kind(node.op) == OpKind::kAlias ? "Reshape" : node.op;
  }

  std::string list_key(const char* key, const Extents& list) const {
    return fmt::format(", {}: [{}]", key, fmt::join(list, ", "));
  }

  std::string keys(const GraphNode& node) const {
    const Extents& out = shape(node.out[0]);
    const std::string axis = node.axes.empty() ? "" : fmt::format(", axis: {}", node.axes[0]);
    switch (op_kind(node.op)) {
      case OpKind::kPool:
        return node.op.starts_with("Global") ? "" : window(shape(node.in[0].tensor), out, node);
      case OpKind::kSoftmax:
      case OpKind::kConcat:
        return axis;
      case OpKind::kSplit: {
        Extents parts;
        for (const std::size_t tensor : node.out) {
          parts.push_back(shape(tensor).at(static_cast<std::size_t>(along(node, out.size()))));
        }
        return axis + list_key("parts", parts);
      }
      case OpKind::kTranspose:
        return list_key("perm", node.axes);
      case OpKind::kMove:
      case OpKind::kAlias:
        return list_key("shape", out);
      case OpKind::kOther:
        return list_key("shape", out) + ", unpriced: true";
      default:
        return "";
    }
  }

  static std::int64_t along(const GraphNode& node, std::size_t rank) {
    const std::int64_t axis = node.axes.empty() ? 1 : node.axes[0];
    return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  }

  // The shortest stride and window without padding that make these outputs.
  static std::string window(const Extents& in, const Extents& out, const GraphNode& node) {
    std::array<std::int64_t, 2> kernel{}, stride{};
    for (const std::size_t i : {0, 1}) {
      if (in.size() != 4 || out.size() != 4 || out[2 + i] < 1 || in[2 + i] < out[2 + i]) {
        throw Unsaid{fmt::format("{}: no window makes its shape", node.name)};
      }
      stride[i] = in[2 + i] / out[2 + i];
      kernel[i] = in[2 + i] - (out[2 + i] - 1) * stride[i];
    }
    return fmt::format(", kernel: [{}, {}], stride: [{}, {}]", kernel[0], kernel[1], stride[0],
                       stride[1]);
  }

  std::string outputs() const {
    std::vector<std::string> list;
    for (const std::size_t tensor : graph_.outputs) {
      list.push_back(names_[tensor]);
    }
    return list.empty() ? "" : fmt::format("outputs: [{}]\n", fmt::join(list, ", "));
  }

  const NetworkGraph& graph_;
  std::vector<std::string> names_;  // of tensors
  std::set<std::string> taken_;
};

// What two networks sum up to, but for names of files and warnings.
std::string difference(const Network& written, const Network& read) {
  if (written.layers.size() != read.layers.size() || written.streams != read.streams ||
      written.unpriced != read.unpriced) {
    return "its sums are others when it is read back";
  }
  for (std::size_t i = 0; i < read.layers.size(); ++i) {
    const NetworkLayer& a = written.layers[i];
    const NetworkLayer& b = read.layers[i];
    if (a.name != b.name || a.count != b.count || !(a.workload.dims == b.workload.dims) ||
        !(a.workload.tensors == b.workload.tensors)) {
      return fmt::format("{} is another layer when it is read back", a.name);
    }
  }
  return "";
}

}  // namespace

PrintedGraph print_graph(const std::string& name, const NetworkGraph& graph) {
  PrintedGraph printed;
  try {
    printed.text = fmt::format("name: {}\n", name) + GraphText{graph}.write();
    printed.why = difference(network_of(name, graph), parse_network(printed.text, "network.yaml"));
  } catch (const Unsaid& unsaid) {
    printed.why = unsaid.why;
  } catch (const ConfigError& error) {
    printed.why = error.diagnostics().front().message;
  }
  printed.text = printed.why.empty() ? printed.text : "";
  return printed;
}

}  // namespace mapsim
