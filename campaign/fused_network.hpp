// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "campaign/network.hpp"
#include "costmodel/stream.hpp"
#include "report/chain_search.hpp"
#include "workloads/graph_chains.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A network as chains of einsums, each distinct one searched once for the least energy
// (mapper/fusion/chain_search.hpp).
struct FusedNetwork {
  GraphChains graph;
  std::vector<ChainComparison> found;  // per chain; after an interrupt the list is short
  StreamCost streams;                  // of the nodes that no chain has
  NetworkTotals unfused;               // the network as a bag of layers (campaign/network.hpp)
  bool interrupted = false;
};

// `options.budget`: of all chains together, of which each gets its share of what is left.
// `progress`: called before each chain, with its index. The network is a graph.
FusedNetwork search_fused(const Arch& arch, const Network& network, const FusionLimits& limits,
                          const SearchOptions& options,
                          const std::function<void(const GraphChains&, std::size_t)>& progress);

// Sums over all chains, each as often as it occurs, and streams [pJ].
struct FusedTotals {
  double spilled = 0;
  double on_chip = 0;
  double best = 0;
  double lower_bound = 0;    // no mapping trees of the chains need less
  bool proven = true;        // of every chain
  std::int64_t missing = 0;  // chains without a mapping, or not searched: in none of the sums
};
FusedTotals totals(const FusedNetwork& network);

std::string fused_network_text(const Arch& arch, const Network& network, const FusedNetwork& fused);
std::string fused_network_json(const Provenance& origin, const Arch& arch, const Network& network,
                               const FusedNetwork& fused);

}  // namespace mapsim
