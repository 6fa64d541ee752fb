// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/chain_proof.hpp"
#include "workloads/graph_chains.hpp"
#include "workloads/network.hpp"

namespace mapsim::check {

// Memory traffic outside of einsums: how often so many bits are read and written.
using NetworkTraffic = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

// A chain of a network: a part of the file, how often the network has it, and what stands for it
// without fusion: layers, each a part of one einsum with how often, and other traffic.
struct ClaimedChain {
  std::size_t part = 0;
  std::int64_t count = 1;
  std::vector<std::pair<std::size_t, std::int64_t>> layers;
  NetworkTraffic traffic;
};

// A certificate of a fused network as written (docs/certificates.md): what it is cut into, and a
// certificate of each chain and layer. The objective is a sum over them. The checker trusts none of
// it.
struct NetworkClaim {
  std::string file;
  std::string tool;
  std::string network;
  Goal goal;
  double value = 0;
  double lower_bound = 0;
  std::vector<ClaimedChain> chains;
  NetworkTraffic traffic;  // outside of the chains
  std::vector<ChainClaim> parts;
  std::vector<std::size_t> lines_above;  // each part
  bool records_inputs = false;           // has hashes of files, which are not compared
};

// The space of mapping trees that the chains of several einsums are about; nullopt: there are none.
// Of a single einsum all spaces are one.
std::optional<FusedSpace> space_of(const NetworkClaim& claim);

// Between the parts of a file.
inline constexpr const char* kPartsLine = "---\n";

// Is a file such a certificate, by how it begins?
bool is_network_certificate(const std::string& text);
// Throws a ConfigError: no certificate of a network, damaged, or beyond the checker.
NetworkClaim parse_network_claim(const std::string& text, const std::string& filename);

// What the parts add up to: of each chain its tree, or its layers one by one where they need less.
struct NetworkSums {
  double value = 0;
  double lower_bound = 0;
};
NetworkSums sums_of(const NetworkClaim& claim);
// Of the layers that stand for a chain without fusion.
NetworkSums layers_of(const NetworkClaim& claim, const ClaimedChain& chain);

struct NetworkVerdict {
  std::vector<std::string> problems;  // none: the proof holds
  std::size_t walked = 0;             // parts whose trees the reference simulator walked
  FusedBound bound;                   // of all parts together
  double seconds = 0;
};

// Does each part hold, and do they add up to what is claimed?
NetworkVerdict check_network(const NetworkClaim& claim, std::int64_t max_steps, Stop stop = {});

// The chain with the name that it has as a part, which has no spaces.
EinsumChain named_as_part(EinsumChain chain);
// Do two layers have the same mapping trees at the same costs? Names, biases and how much of an
// operand lies in memory do not change these.
bool is_same_layer(Workload a, const Workload& b);
// The traffic of a graph that no chain has; sums of branches ride on the chains.
NetworkTraffic traffic_of(const NetworkGraph& graph, const GraphChains& chains);
NetworkTraffic traffic_of(const UnfusedNodes& nodes);

// What a claim says of a network, which is a graph, that is not so: its name, its chains, their
// layers, and what is left.
std::vector<std::string> strangers(const NetworkClaim& claim, const Network& network);

}  // namespace mapsim::check
