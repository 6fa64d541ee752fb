// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/chain.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// Nodes of a graph as einsums that pass tensors on.
struct GraphCut {
  EinsumChain chain;  // einsums are called as their nodes, with _ in place of dots
  // Pointwise nodes that ride on an einsum: its name and theirs. At the registers they cost
  // nothing.
  std::vector<std::pair<std::string, std::string>> rides;
  std::vector<std::string> notes;  // what the chain counts otherwise than the graph, for people
};

// What a chain cannot hold, at a node.
struct CutProblem {
  std::string node;
  std::string what;
};

// Cuts these nodes out (docs/formats.md#graph, Cutting out a chain). Layers are einsums; a
// pointwise node rides on the einsum that makes its operand, or is an einsum of its own where two
// operands are made inside; a softmax is four einsums, which are exact; aliases vanish. Producers
// also make the padding of what reads them.
std::variant<GraphCut, std::vector<CutProblem>> cut_chain(const NetworkGraph& graph,
                                                          const std::vector<std::size_t>& nodes);

}  // namespace mapsim
