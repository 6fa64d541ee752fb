// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/reader.hpp"
#include "workloads/graph.hpp"
#include "workloads/precision.hpp"

namespace mapsim {

// The keys of a node of a graph (docs/formats.md, Graph).
Words node_keys();

// A list of extents, each at least `least`.
std::optional<Extents> read_extents(Reader& reader, const Node* list, std::int64_t least);

// What nodes are read with. Refers to its parts.
struct NodeContext {
  Reader& reader;
  const Document& document;
  const Words& configs;  // folders with shipped files
  const std::vector<GraphTensor>& tensors;
  const Precision& precision;  // of layers that give none
  std::int64_t& macs_left;     // multiply-accumulates that the graph may still have
};

// What a node makes, in its order.
struct NodeResult {
  std::optional<Extents> shape;
  Bits bits{0};
};
using Operands = std::vector<const Node*>;  // names of a layer's operands; empty: in their order

// The rest of a node whose operands are read: a layer, or what its `op` says. What is wrong goes to
// the reader.
std::vector<NodeResult> read_node_layer(const NodeContext& context, const Fields& fields,
                                        const Operands& operands, GraphNode& node);
std::vector<NodeResult> read_node_op(const NodeContext& context, const Fields& fields,
                                     GraphNode& node);

}  // namespace mapsim
