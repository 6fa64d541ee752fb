// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interop/onnx.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// Collects the edges of a model while its operators become layers and streams. Tensors have names,
// views of the same elements are one tensor, and constants belong to the nodes that read them.
class OnnxEdges {
 public:
  OnnxEdges(const OnnxGraph& graph, std::optional<Bits> operand_bits);

  // Adds a node with its results and those operands that are no constants; the caller sets the
  // rest.
  GraphNode& add(const OnnxNode& node, const std::string& title, OpKind kind,
                 const std::set<std::string>& constants);
  // For Identity and Dropout: the result is the first operand.
  void rename(const OnnxNode& node);
  // Folds a normalisation by constants into the layer whose result it alone reads: as scale, which
  // is in the weights, and bias. False: `node` is no such normalisation.
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

// A name: the text without the characters that names cannot have.
std::string name_from(const std::string& text);

}  // namespace mapsim
