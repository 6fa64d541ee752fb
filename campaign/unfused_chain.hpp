// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "campaign/network.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "workloads/graph_chains.hpp"

namespace mapsim {

// The nodes of a chain as the network without fusion has them.
struct UnfusedChain {
  std::optional<fusion::HullPoint> figures;  // nullopt: a layer has no mapping, or was not searched
  double lower_bound = 0;                    // of a sum over layers: no mappings are better
  bool proven = false;                       // ... and these are not worse
  // Where no mapping tree of the chain is as good: what the layers need. By a product these are
  // other mappings than those of `figures`, chosen for the sums of the network.
  std::optional<fusion::HullPoint> chosen{};
};

// Do layers one by one need less than a tree, but for rounding? Of equal ones a tree says more.
inline bool is_less(double layers, double tree) { return layers < tree * (1 - 1e-12); }

// `searched`: the layers of the network, each by itself.
UnfusedChain unfused_chain(const Arch& arch, const Network& network, const NetworkResult& searched,
                           const Objective& objective, const UnfusedNodes& nodes);

// What crosses memory for nodes beside their layers.
fusion::HullPoint streams_of(const Arch& arch, const UnfusedNodes& nodes);

}  // namespace mapsim
