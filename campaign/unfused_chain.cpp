// SPDX-License-Identifier: Apache-2.0
#include "campaign/unfused_chain.hpp"

#include "costmodel/stream.hpp"

namespace mapsim {

namespace {

// Its search, if it came to that layer.
const SearchResult* search_of(const Workload& workload, const Network& network,
                              const NetworkResult& searched) {
  Workload wanted = workload;
  for (std::size_t i = 0; i < searched.layers.size(); ++i) {
    wanted.name = network.layers[i].workload.name;
    if (network.layers[i].workload == wanted) {
      return &searched.layers[i];
    }
  }
  return nullptr;
}

}  // namespace

fusion::HullPoint streams_of(const Arch& arch, const UnfusedNodes& nodes) {
  fusion::HullPoint sum;
  for (const auto& [reads, writes] : nodes.streams) {
    const StreamCost cost = stream_cost(arch, reads, writes);
    sum.energy += cost.energy.count();
    sum.cycles += static_cast<double>(cost.latency.count());
  }
  return sum;
}

UnfusedChain unfused_chain(const Arch& arch, const Network& network, const NetworkResult& searched,
                           const Objective& objective, const UnfusedNodes& nodes) {
  fusion::HullPoint sum = streams_of(arch, nodes);
  UnfusedChain chain;
  chain.lower_bound = objective.function.value(sum.energy, sum.cycles);
  chain.proven = true;
  bool is_mapped = !nodes.layers.empty();
  for (const NodeLayer& layer : nodes.layers) {
    const auto count = static_cast<double>(layer.count);
    const SearchResult* found = search_of(layer.workload, network, searched);
    chain.lower_bound += found != nullptr ? count * found->certificate.lower_bound : 0;
    chain.proven = chain.proven && found != nullptr &&
                   found->certificate.status == Proof::kOptimal &&
                   !found->certificate.bound_but_for_free_boundaries;
    is_mapped = is_mapped && found != nullptr && found->cost;
    if (is_mapped) {
      const FrameCost cost = frame_cost(*found, objective.mode);
      sum.energy += count * cost.energy.count();
      sum.cycles += count * static_cast<double>(cost.latency.count());
    }
  }
  if (is_mapped) {
    chain.figures = sum;
  }
  return chain;
}

}  // namespace mapsim
