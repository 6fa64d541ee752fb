// SPDX-License-Identifier: Apache-2.0
#include "check/network_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/diagnostic.hpp"
#include "costmodel/stream.hpp"
#include "workloads/print.hpp"

namespace mapsim::check {

namespace {

double cost_of_traffic(const NetworkClaim& claim, const NetworkTraffic& traffic) {
  double sum = 0;
  for (const auto& [bits, count] : traffic) {
    const StreamCost cost =
        stream_cost(claim.parts.front().arch, Bits{bits.first}, Bits{bits.second});
    sum += static_cast<double>(count) *
           claim.goal.value(cost.energy.count(), static_cast<double>(cost.latency.count()));
  }
  return sum;
}

// Is the layer that a chain names in its place one of the network?
bool has_layer(const NetworkClaim& claim, const ClaimedChain& chain, std::size_t n,
               const NodeLayer& layer) {
  return n < chain.layers.size() && chain.layers[n].second == layer.count &&
         is_same_layer(claim.parts[chain.layers[n].first].chain.einsums[0], layer.workload);
}

}  // namespace

std::optional<FusedSpace> space_of(const NetworkClaim& claim) {
  const auto chain =
      std::find_if(claim.parts.begin(), claim.parts.end(),
                   [](const ChainClaim& part) { return part.chain.einsums.size() > 1; });
  return chain == claim.parts.end() ? std::nullopt : std::optional(chain->space);
}

NetworkSums layers_of(const NetworkClaim& claim, const ClaimedChain& chain) {
  const double beside = cost_of_traffic(claim, chain.traffic);
  NetworkSums layers{beside, beside};
  for (const auto& [part, count] : chain.layers) {
    layers.value += static_cast<double>(count) * claim.parts[part].value;
    layers.lower_bound += static_cast<double>(count) * claim.parts[part].lower_bound;
  }
  return layers;
}

NetworkSums sums_of(const NetworkClaim& claim) {
  const double outside = cost_of_traffic(claim, claim.traffic);
  NetworkSums sums{outside, outside};
  for (const ClaimedChain& chain : claim.chains) {
    NetworkSums best{claim.parts[chain.part].value, claim.parts[chain.part].lower_bound};
    const NetworkSums layers = layers_of(claim, chain);
    if (!chain.layers.empty()) {
      best = {std::min(best.value, layers.value), std::min(best.lower_bound, layers.lower_bound)};
    }
    sums.value += static_cast<double>(chain.count) * best.value;
    sums.lower_bound += static_cast<double>(chain.count) * best.lower_bound;
  }
  return sums;
}

NetworkVerdict check_network(const NetworkClaim& claim, std::int64_t max_steps, Stop stop) {
  const auto start = std::chrono::steady_clock::now();
  NetworkVerdict verdict;
  for (std::size_t p = 0; p < claim.parts.size() && !stop.is_set(); ++p) {
    const ChainVerdict part = check_chain(claim.parts[p], max_steps, stop);
    for (const std::string& wrong : part.problems) {
      verdict.problems.push_back(fmt::format("part {} ({}, line {}): {}", p + 1,
                                             claim.parts[p].chain.einsums.front().name,
                                             claim.lines_above[p] + 1, wrong));
    }
    verdict.walked += part.walked ? 1 : 0;
    account(part.bound, verdict.bound);
  }
  const NetworkSums sums = sums_of(claim);
  const std::string unit = unit_of(claim.goal.function);
  if (exceeds(claim.value, sums.value) || exceeds(sums.value, claim.value)) {
    verdict.problems.push_back(
        fmt::format("the parts add up to {0} {2}, not {1} {2}", sums.value, claim.value, unit));
  }
  if (exceeds(claim.lower_bound, sums.lower_bound)) {
    verdict.problems.push_back(
        fmt::format("the lower bounds of the parts add up to {0} {2}, less than {1} {2}",
                    sums.lower_bound, claim.lower_bound, unit));
  }
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

EinsumChain named_as_part(EinsumChain chain) {
  chain.name = chain.einsums.size() == 1 ? "layer" : "chain";
  return chain;
}

bool is_same_layer(Workload a, const Workload& b) {
  a.name = b.name;
  a.note = b.note;
  a.bias = b.bias;
  for (const TensorId t : a.tensors.ids()) {
    a.tensors[t].stored_elements =
        index_of(t) < b.tensors.size() ? b.tensors[t].stored_elements : std::nullopt;
  }
  return a == b;
}

NetworkTraffic traffic_of(const NetworkGraph& graph, const GraphChains& chains) {
  NetworkTraffic traffic;
  for (const std::size_t n : chains.streams) {
    ++traffic[{graph.nodes[n].reads.count(), graph.nodes[n].writes.count()}];
  }
  for (const GraphRide& ride : chains.rides) {
    ++traffic[{ride.reads.count(), 0}];
  }
  return traffic;
}

NetworkTraffic traffic_of(const UnfusedNodes& nodes) {
  NetworkTraffic traffic;
  for (const auto& [reads, writes] : nodes.streams) {
    ++traffic[{reads.count(), writes.count()}];
  }
  return traffic;
}

std::vector<std::string> strangers(const NetworkClaim& claim, const Network& network) {
  const NetworkGraph& graph = *network.graph;
  const GraphChains cut = chains_of(graph);
  std::vector<std::string> found;
  if (claim.network != network.name) {
    found.push_back(fmt::format("the network is {}, not {}", printable(network.name),
                                printable(claim.network)));
  }
  if (claim.chains.size() != cut.chains.size()) {
    found.push_back(
        fmt::format("the network has {} chains, not {}", cut.chains.size(), claim.chains.size()));
    return found;
  }
  if (claim.traffic != traffic_of(graph, cut)) {
    found.emplace_back("the network has other memory traffic outside of its chains");
  }
  for (std::size_t i = 0; i < cut.chains.size(); ++i) {
    const NetworkChain& chain = cut.chains[i];
    const ClaimedChain& claimed = claim.chains[i];
    const EinsumChain& part = claim.parts[claimed.part].chain;
    const bool is_layer = part.einsums.size() == 1 && chain.chain.einsums.size() == 1;
    bool is_same = claimed.count == chain.count &&
                   (is_layer ? is_same_layer(part.einsums[0], chain.chain.einsums[0])
                             : print_chain(part) == print_chain(named_as_part(chain.chain))) &&
                   claimed.layers.size() == chain.unfused.layers.size() &&
                   claimed.traffic == traffic_of(chain.unfused);
    for (std::size_t n = 0; n < chain.unfused.layers.size(); ++n) {
      is_same = is_same && has_layer(claim, claimed, n, chain.unfused.layers[n]);
    }
    if (!is_same) {
      found.push_back(
          fmt::format("chain {} of the network is another: {}", i + 1, chain.chain.name));
    }
  }
  return found;
}

}  // namespace mapsim::check
