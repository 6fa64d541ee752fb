// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/document.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// A workload of ZigZag as a graph. `operand_source` names the layer that makes an operand; an
// operand that names its own layer is a constant, or an input of the network. If a convolution
// reads more elements than are made, the rest is padding.
struct ZigzagGraph {
  std::optional<NetworkGraph> graph;
  std::string why;  // why there is no graph
  std::vector<std::string> notes;
};
ZigzagGraph zigzag_graph(const Document& workload);

// Notes the pools whose windows, when the graph is printed, follow from their shapes.
void note_pools(const NetworkGraph& graph, std::vector<std::string>& notes);

// The widths that ZigZag gives a model: operands of 8 b, sums of 16 b.
void set_zigzag_widths(NetworkGraph& graph);

}  // namespace mapsim
