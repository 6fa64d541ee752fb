// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/chain.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// What a network without fusion has for the nodes of a chain, but for what rides on its end.
struct UnfusedNodes {
  // The memory traffic of a node besides its layers.
  struct Crossing {
    Bits reads{0}, writes{0};
    friend bool operator==(const Crossing&, const Crossing&) = default;
  };
  std::vector<NodeLayer> layers;
  std::vector<Crossing> streams;
  friend bool operator==(const UnfusedNodes&, const UnfusedNodes&) = default;
};

// A chain and how often a network has it, names aside, fused and unfused.
struct NetworkChain {
  EinsumChain chain;
  std::int64_t count = 1;
  std::vector<std::size_t> nodes;  // the first time
  UnfusedNodes unfused{};
};

// A sum of branches that rides on the einsum which makes one of its operands.
struct GraphRide {
  std::size_t node = 0;
  Bits reads{0};  // its other operands, which cross memory as in a stream
  friend bool operator==(const GraphRide&, const GraphRide&) = default;
};

// A graph as chains of einsums, in the order in which they first run, and its other nodes.
struct GraphChains {
  std::vector<NetworkChain> chains;
  std::vector<GraphRide> rides;
  std::vector<std::size_t> streams;  // nodes that no chain has: pools, sums, norms, concats
};

// Cuts a graph into chains that are as long as they can be: a node goes on with the only reader of
// what it makes, if that is an einsum, a pointwise operator of one operand (which rides on its
// einsum), a softmax between einsums (four einsums) or another name, and cut_chain() can say so.
// What several nodes read ends a chain, and so does a sum of branches: it rides on the last einsum
// of the first chain that makes an operand of it. Each element of what ends a chain is made once,
// and so is read once of each other operand; an intermediate may be recomputed.
GraphChains chains_of(const NetworkGraph& graph);

}  // namespace mapsim
