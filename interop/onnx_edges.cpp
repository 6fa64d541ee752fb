// SPDX-License-Identifier: Apache-2.0
#include "interop/onnx_edges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/reader.hpp"

namespace mapsim {

namespace {

// As far as it is known and can be counted.
std::optional<Extents> countable(const OnnxTensor& tensor) {
  std::int64_t room = std::int64_t{1} << 47;  // elements of 64 b stay below 2^53 b
  for (const std::int64_t extent : tensor.shape.value_or(Extents{0})) {
    if (extent < 1 || extent > room) {
      return std::nullopt;
    }
    room /= extent;
  }
  return tensor.shape;
}

}  // namespace

std::string name_from(const std::string& text) {
  std::string name;
  for (const char c : text) {
    name += is_name(std::string{'a', c}) ? c : '_';
  }
  return name.erase(0, name.find_first_not_of('_'));
}

OnnxEdges::OnnxEdges(const OnnxGraph& graph, std::optional<Bits> operand_bits)
    : model_{graph}, operand_bits_{operand_bits} {
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxTensor& in : node.inputs) {
      ++readers_[in.name];
    }
  }
  for (const std::string& name : graph.outputs) {
    ++readers_[name];
  }
}

std::string OnnxEdges::unused(const std::string& text, std::set<std::string>& taken) {
  const std::string name = name_from(text);
  const std::string first = is_name(name) ? name : "t_" + name;
  std::string tried = first;
  for (std::size_t i = 2; !taken.insert(tried).second; ++i) {
    tried = fmt::format("{}_{}", first, i);
  }
  return tried;
}

std::size_t OnnxEdges::tensor(const OnnxTensor& tensor) {
  const auto [at, is_new] = tensors_.emplace(tensor.name, graph_.tensors.size());
  if (is_new) {
    graph_.tensors.push_back({unused(tensor.name, tensor_names_), countable(tensor),
                              operand_bits_.value_or(tensor.bits), false});
  }
  return at->second;
}

GraphNode& OnnxEdges::add(const OnnxNode& node, const std::string& title, OpKind kind,
                          const std::set<std::string>& constants) {
  GraphNode made;
  made.name = unused(title, node_names_);
  made.op = node.op;
  made.kind = kind;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const OnnxTensor& in = node.inputs[i];
    if (in.name.empty() || in.constant || constants.contains(in.name)) {
      continue;
    }
    const std::size_t known = graph_.tensors.size();
    const std::size_t t = tensor(in);
    if (t == known) {
      graph_.inputs.push_back(t);
    }
    made.in.push_back({t, std::nullopt});
  }
  for (const OnnxTensor& out : node.outputs) {
    if (!out.name.empty()) {
      made.out.push_back(tensor(out));
      producers_[made.out.back()] = graph_.nodes.size();
    }
  }
  if (const auto axis = node.integers.find(kind == OpKind::kTranspose ? "perm" : "axis");
      axis != node.integers.end()) {
    made.axes = axis->second;
  }
  graph_.nodes.push_back(std::move(made));
  return graph_.nodes.back();
}

void OnnxEdges::rename(const OnnxNode& node) {
  if (node.inputs.empty() || node.outputs.empty()) {
    return;
  }
  const std::size_t known = graph_.tensors.size();
  const std::size_t t = tensor(node.inputs[0]);
  if (t == known) {
    graph_.inputs.push_back(t);
  }
  tensors_[node.outputs[0].name] = t;
}

bool OnnxEdges::fold(const OnnxNode& node, const std::set<std::string>& constants) {
  if (node.op != "BatchNormalization" || node.inputs.empty() || node.outputs.empty() ||
      readers_[node.inputs[0].name] != 1 ||
      !std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](const OnnxTensor& in) {
        return in.constant || constants.contains(in.name);
      })) {
    return false;
  }
  const auto made = tensors_.find(node.inputs[0].name);
  const auto producer = made == tensors_.end() ? producers_.end() : producers_.find(made->second);
  if (producer == producers_.end() || graph_.nodes[producer->second].kind != OpKind::kEinsum ||
      graph_.nodes[producer->second].in.size() != 1) {  // its weights are constants
    return false;
  }
  std::vector<std::string>& epilogue = graph_.nodes[producer->second].epilogue;
  if (std::find(epilogue.begin(), epilogue.end(), "bias") == epilogue.end()) {
    epilogue.emplace_back("bias");
  }
  tensors_[node.outputs[0].name] = made->second;
  return true;
}

NetworkGraph OnnxEdges::finish() {
  for (const std::string& name : model_.outputs) {
    if (const auto at = tensors_.find(name); at != tensors_.end()) {
      graph_.outputs.push_back(at->second);
    }
  }
  return std::move(graph_);
}

}  // namespace mapsim
