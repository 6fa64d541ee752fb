// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "workloads/network.hpp"

namespace mapsim {

namespace {

// Few layers of a network have the same number of operations and widths.
std::size_t key_of(const Workload& workload) {
  std::size_t key = static_cast<std::size_t>(workload.macs());
  for (const Dim& dim : workload.dims) {
    key = key * 1'000'003 + static_cast<std::size_t>(dim.bound);
  }
  return key;
}

class Sum {
 public:
  explicit Sum(Network& network) : network_{network} {}

  void add(const NodeLayer& layer) {
    Workload workload = layer.workload;
    std::vector<std::size_t>& alike = layers_[key_of(workload)];
    for (const std::size_t i : alike) {
      NetworkLayer& known = network_.layers[i];
      workload.name = known.workload.name;
      if (known.workload == workload) {
        known.count += layer.count;
        return;
      }
    }
    alike.push_back(network_.layers.size());
    network_.layers.push_back({layer.name, layer.workload, layer.count, layer.file});
  }

  void add_stream(const GraphNode& node) {
    for (Stream& known : network_.streams) {
      if (known.kind == node.op && known.in == node.reads && known.out == node.writes) {
        ++known.count;
        return;
      }
    }
    network_.streams.push_back({node.name, node.op, node.reads, node.writes, 1});
  }

 private:
  Network& network_;
  std::unordered_map<std::size_t, std::vector<std::size_t>> layers_;
};

}  // namespace

Network network_of(std::string name, NetworkGraph graph) {
  Network network;
  network.name = std::move(name);
  Sum sum{network};
  for (const GraphNode& node : graph.nodes) {
    if (!node.unpriced.empty()) {
      ++network.unpriced[node.unpriced];
    }
    for (const NodeLayer& layer : node.layers) {
      sum.add(layer);
    }
    if (node.reads + node.writes > Bits{0}) {
      sum.add_stream(node);
    }
  }
  network.graph = std::move(graph);
  return network;
}

}  // namespace mapsim
