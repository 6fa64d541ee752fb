// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interop/onnx.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// Keeps the edges of a model while its operators become layers and streams: tensors by name, views
// of the same elements gone, constants as parts of the nodes that read them.
class OnnxEdges {
 public:
  OnnxEdges(const OnnxGraph& graph, std::optional<Bits> operand_bits);

  // The operands that are no constants and the results; the rest of the node is the caller's.
  GraphNode& add(const OnnxNode& node, const std::string& title, OpKind kind,
                 const std::set<std::string>& constants);
  // `node` gives what its first operand is: Identity, Dropout.
  void rename(const OnnxNode& node);
  // Is it a normalisation by constants of what a layer makes for it alone? Then it becomes that
  // layer's scale, which is in its weights, and bias.
  bool fold(const OnnxNode& node, const std::set<std::string>& constants);
  NetworkGraph finish();

 private:
  std::size_t tensor(const OnnxTensor& tensor);
  std::string unused(const std::string& text, std::set<std::string>& taken);

  const OnnxGraph& model_;
  std::optional<Bits> operand_bits_;
  NetworkGraph graph_;
  std::map<std::string, std::size_t> tensors_;  // by the model's names
  std::map<std::string, int> readers_;
  std::map<std::size_t, std::size_t> producers_;  // of tensors: nodes
  std::set<std::string> node_names_, tensor_names_;
};

// What is left of a text when nothing stands in it that cannot stand in a name.
std::string name_from(const std::string& text);

}  // namespace mapsim
