// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "campaign/network.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "workloads/graph_chains.hpp"

namespace mapsim {

// The nodes of a chain in the network without fusion.
struct UnfusedChain {
  std::optional<fusion::HullPoint> figures;  // nullopt: a layer has no mapping, or was not searched
  double lower_bound = 0;                    // of a sum over layers: no mappings are better
  bool proven = false;                       // ... and these are not worse
  // Set if no mapping tree of the chain is as good: the figures of the layers. For a product these
  // mappings differ from those of `figures`: they are chosen for the network's sums.
  std::optional<fusion::HullPoint> chosen{};
};

// Do the layers need less than a tree by more than rounding? A tie goes to the tree.
inline bool is_less(double layers, double tree) { return layers < tree * (1 - 1e-12); }

// `searched`: the result of each layer of the network.
UnfusedChain unfused_chain(const Arch& arch, const Network& network, const NetworkResult& searched,
                           const Objective& objective, const UnfusedNodes& nodes);

// Memory traffic of nodes outside of their layers.
fusion::HullPoint streams_of(const Arch& arch, const UnfusedNodes& nodes);

}  // namespace mapsim
