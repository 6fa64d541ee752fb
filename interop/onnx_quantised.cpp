// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "interop/onnx_ops.hpp"

namespace mapsim {

namespace {

// Tensors that a node makes and no more than one reads.
std::set<std::string> passed_on(const OnnxGraph& graph) {
  std::map<std::string, int> readers;
  std::set<std::string> found;
  for (const OnnxNode& node : graph.nodes) {
    for (const OnnxTensor& tensor : node.inputs) {
      ++readers[tensor.name];
    }
    for (const OnnxTensor& tensor : node.outputs) {
      found.insert(tensor.name);
    }
  }
  std::erase_if(found, [&readers](const std::string& name) { return readers[name] != 1; });
  return found;
}

}  // namespace

OnnxGraph with_fused_quantisation(OnnxGraph graph) {
  const std::set<std::string> own = passed_on(graph);
  std::map<std::string, Bits> widths;
  for (OnnxNode& node : graph.nodes) {
    if (node.inputs.empty() || node.outputs.empty()) {
      continue;
    }
    const OnnxTensor &in = node.inputs[0], &out = node.outputs[0];
    if (node.op == "DequantizeLinear" && in.bits < out.bits && in.bits > Bits{0}) {
      widths[out.name] = in.bits;
    } else if (node.op == "QuantizeLinear" && out.bits < in.bits && out.bits > Bits{0} &&
               own.contains(in.name)) {
      widths[in.name] = out.bits;
    } else {
      continue;
    }
    node.op = "Identity";
  }
  for (OnnxNode& node : graph.nodes) {
    for (auto* tensors : {&node.inputs, &node.outputs}) {
      for (OnnxTensor& tensor : *tensors) {
        const auto width = widths.find(tensor.name);
        tensor.bits = width == widths.end() ? tensor.bits : width->second;
      }
    }
  }
  return graph;
}

}  // namespace mapsim
