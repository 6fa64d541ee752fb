// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/chain.hpp"
#include "workloads/graph.hpp"

namespace mapsim {

// A chain that a network has so many times, alike but for names.
struct NetworkChain {
  EinsumChain chain;
  std::int64_t count = 1;
  std::vector<std::size_t> nodes;  // the first time
};

// A graph as chains of einsums, in the order in which they first run, and what is left.
struct GraphChains {
  std::vector<NetworkChain> chains;
  std::vector<std::size_t> streams;  // nodes that no chain has: pools, sums, norms, concats
};

// Cuts a graph into chains that are as long as they can be: a node goes on with the only reader of
// what it makes, if that is an einsum, a pointwise operator of one operand (which rides on its
// einsum), a softmax between einsums (four einsums) or another name, and cut_chain() can say so.
// What several nodes read, and sums of branches, end a chain.
GraphChains chains_of(const NetworkGraph& graph);

}  // namespace mapsim
