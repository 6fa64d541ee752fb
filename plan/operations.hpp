// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/graph.hpp"

namespace mapsim {

// A node of a graph that does something: aliases and constants are gone. Tensors are those of the
// graph, aliases by the tensors that they are another name of: of a concat that moves nothing all
// of its parts.
struct Operation {
  std::size_t node = 0;          // of the graph
  std::vector<std::size_t> in;   // distinct, without what is there for every engine
  std::vector<std::size_t> out;  // that somebody reads, or the network gives
};

// The operations of a network, in an order in which they can run. Refers to the graph.
struct Operations {
  const NetworkGraph* graph = nullptr;
  std::vector<Operation> all;
  // By tensor of the graph: the operation that makes it (nullopt: an input, a constant or nobody),
  // those that read it, and whether the network gives it.
  std::vector<std::optional<std::size_t>> producer;
  std::vector<std::vector<std::size_t>> readers;
  std::vector<bool> is_output;
  const GraphNode& node(std::size_t operation) const { return graph->nodes[all[operation].node]; }
};
Operations operations_of(const NetworkGraph& graph);

// What a tensor takes in memory [B]; 0: not known.
double bytes_of(const Operations& operations, std::size_t tensor);

// The width of the operands of the network's first layer [b]; 0: it has no layer.
std::int64_t width_of(const NetworkGraph& graph);

// Gives the network's operands this width: it replaces the width of the first layer's operands
// wherever tensors and operands have that one.
void set_width(NetworkGraph& graph, Bits width);

}  // namespace mapsim
