// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/network.hpp"
#include "campaign/unfused_chain.hpp"
#include "costmodel/stream.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "report/chain_search.hpp"
#include "workloads/graph_chains.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// A network as chains of einsums, each distinct one searched once (mapper/fusion/chain_search.hpp)
// if the objective is a sum over chains. By a product, and within limits on total energy and total
// latency, the trees of all chains are chosen jointly; within limits copies of a chain may have
// different trees, and then there is a row for each of these.
// A chain whose layers need less one by one stays unfused: it would compute the padding of its
// intermediates, and softmax as einsums, which cost less without fusion.
struct FusedNetwork {
  GraphChains graph;
  Objective objective;
  std::vector<ChainComparison> found;   // per chain; shorter after an interrupt
  std::vector<UnfusedChain> apart;      // per chain
  std::optional<fusion::Hull> joint{};  // proves the choice of `found[].fused`, streams included
  StreamCost streams;                   // of the nodes that no chain has
  StreamCost rides{}, rides_apart{};    // of `graph.rides`: riding on a layer, and as streams
  NetworkTotals unfused;                // the network as a bag of layers (campaign/network.hpp)
  bool interrupted = false;
};

// Called before each search of a chain, with its index.
using ChainProgress = std::function<void(const GraphChains&, std::size_t)>;

// Why fused networks cannot be searched for this objective; empty: they can.
std::string fused_network_obstacle(const Objective& objective);
// `options.budget` is for all layers and chains together; each gets a share of what is left. The
// network is a graph.
FusedNetwork search_fused(const Arch& arch, const Network& network, const FusionLimits& limits,
                          const SearchOptions& options, const ChainProgress& progress);
// Minimises a product of total energy and total latency, or any objective within limits: fills in
// `found`, `joint` and which chains stay layer by layer. The other members must be there.
void choose_trees_jointly(const Arch& arch, const FusionLimits& limits,
                          const SearchOptions& options, const ChainProgress& progress,
                          FusedNetwork& fused);

// The least known figures of a chain, by a mapping tree or layer by layer; nullopt: none.
std::optional<fusion::HullPoint> best_of(const FusedNetwork& network, std::size_t chain);

// Memory traffic outside of the chains. Layer by layer, sums of branches are streams.
fusion::HullPoint streams_of(const FusedNetwork& network, bool fused);

// Sums over all chains, times their counts, and streams.
struct FusedTotals {
  using Figures = fusion::HullPoint;
  Figures spilled, on_chip, best;
  std::optional<Figures> unfused;  // nullopt: a layer has no mapping
  // No mapping trees of the chains, and no mappings of their layers, have a better objective.
  double lower_bound = 0;
  bool proven = true;         // none are better than `best`
  std::int64_t missing = 0;   // chains without a mapping, or not searched: in none of the sums
  bool within_limits = true;  // false: no choice keeps the limits, so there is no `best`
};
FusedTotals totals(const FusedNetwork& network);

std::string fused_network_text(const Arch& arch, const Network& network, const FusedNetwork& fused);
std::string fused_network_json(const Provenance& origin, const Arch& arch, const Network& network,
                               const FusedNetwork& fused);

}  // namespace mapsim
