// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "workloads/network.hpp"

namespace mapsim {

// A graph as a network file (docs/formats.md, Graph): the network that the file describes has the
// layers, streams and unpriced operators of `network`, which is checked by reading it back. Tensors
// are called by the nodes that make them, and a pool has the window that fits its shapes.
struct PrintedGraph {
  std::string text;
  std::string why;  // that there is no text: the first node that no file can say
};
PrintedGraph print_graph(const std::string& name, const NetworkGraph& graph);

}  // namespace mapsim
