// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph_chains.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "workloads/graph_chain.hpp"

namespace mapsim {

namespace {

class ChainFinder {
 public:
  explicit ChainFinder(const NetworkGraph& graph)
      : graph_{graph}, links_{links_of(graph)}, is_taken_(graph.nodes.size(), false) {}

  GraphChains find() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_taken_[n] && graph_.nodes[n].kind == OpKind::kEinsum) {
        follow(n);
      }
    }
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!is_taken_[n] && graph_.nodes[n].unpriced.empty()) {
        found_.streams.push_back(n);
      }
    }
    return std::move(found_);
  }

 private:
  void follow(std::size_t first) {
    std::vector<std::size_t> nodes{first};
    std::size_t kept = 1;  // nodes up to the last that may end a chain
    std::vector<GraphRide> rides;
    std::optional<EinsumChain> chain = cut(nodes);
    if (!chain) {
      add_layers(first);
      return;
    }
    for (auto next = reader_of(first); next; next = reader_of(*next)) {
      const OpKind kind = graph_.nodes[*next].kind;
      if (!rides.empty() && kind != OpKind::kPointwise) {
        break;
      }
      const std::optional<Bits> others = other_operands(nodes.back(), *next);
      nodes.push_back(*next);
      std::optional<EinsumChain> longer = cut(nodes);
      if (!longer) {
        break;
      }
      const bool is_ride = kind == OpKind::kPointwise && kept + 1 == nodes.size();
      if (others && !is_ride) {
        break;
      }
      if (others) {
        rides.push_back({*next, *others});
      }
      if (kind == OpKind::kEinsum || is_ride) {
        chain = std::move(longer);
        kept = nodes.size();
      }
    }
    nodes.resize(kept);
    found_.rides.insert(found_.rides.end(), rides.begin(), rides.end());
    add(std::move(*chain), 1, nodes, unfused(nodes, rides));
  }

  UnfusedNodes unfused(const std::vector<std::size_t>& nodes,
                       const std::vector<GraphRide>& rides) const {
    UnfusedNodes all;
    for (const std::size_t n : nodes) {
      const GraphNode& node = graph_.nodes[n];
      all.layers.insert(all.layers.end(), node.layers.begin(), node.layers.end());
      const bool is_ride = std::any_of(rides.begin(), rides.end(),
                                       [&](const GraphRide& ride) { return ride.node == n; });
      if (!is_ride && node.reads + node.writes > Bits{0}) {
        all.streams.push_back({node.reads, node.writes});
      }
    }
    return all;
  }

  // The only node that reads what a node makes, if a chain may go on with it.
  std::optional<std::size_t> reader_of(std::size_t n) const {
    const GraphNode& node = graph_.nodes[n];
    if (node.out.size() != 1 || links_.readers[node.out.front()].size() != 1 ||
        std::find(graph_.outputs.begin(), graph_.outputs.end(), node.out.front()) !=
            graph_.outputs.end()) {
      return std::nullopt;
    }
    const std::size_t reader = links_.readers[node.out.front()].front();
    const OpKind kind = graph_.nodes[reader].kind;
    const bool goes_on =
        kind == OpKind::kEinsum || kind == OpKind::kAlias || kind == OpKind::kSoftmax ||
        (kind == OpKind::kPointwise && (variables_of(reader) == 1 || other_operands(n, reader)));
    return goes_on && !is_taken_[reader] ? std::optional(reader) : std::nullopt;
  }

  std::ptrdiff_t variables_of(std::size_t n) const {
    const std::vector<GraphUse>& in = graph_.nodes[n].in;
    return std::count_if(in.begin(), in.end(),
                         [&](const GraphUse& use) { return !graph_.tensors[use.tensor].constant; });
  }

  // What a pointwise node of several operands reads beside that which `maker` makes, if it can ride
  // on it: it takes that once, and nothing but the other operands changes what memory sees.
  std::optional<Bits> other_operands(std::size_t maker, std::size_t n) const {
    const GraphNode& node = graph_.nodes[n];
    if (node.kind != OpKind::kPointwise || variables_of(n) < 2 || !node.unpriced.empty() ||
        node.out.size() != 1) {
      return std::nullopt;
    }
    const std::size_t made = graph_.nodes[maker].out.front();
    const GraphTensor& in = graph_.tensors[made];
    const GraphTensor& out = graph_.tensors[node.out.front()];
    const auto uses = std::count_if(node.in.begin(), node.in.end(),
                                    [&](const GraphUse& use) { return use.tensor == made; });
    const std::optional<Bits> size = size_of(in);
    const bool is_alike = in.shape == out.shape && in.bits == out.bits;
    return uses == 1 && is_alike && size && node.reads > *size ? std::optional(node.reads - *size)
                                                               : std::nullopt;
  }

  // In each einsum but the last all that it makes is passed on.
  std::optional<EinsumChain> cut(const std::vector<std::size_t>& nodes) const {
    auto result = cut_chain(graph_, nodes);
    auto* made = std::get_if<GraphCut>(&result);
    return made != nullptr && !made->chain.einsums.empty() ? std::optional(std::move(made->chain))
                                                           : std::nullopt;
  }

  // Of a node that no chain can hold, each layer by itself.
  void add_layers(std::size_t n) {
    for (const NodeLayer& layer : graph_.nodes[n].layers) {
      add(chain_of(layer.workload), layer.count, {n},
          {{{layer.name, layer.workload, 1, layer.file}}, {}});
    }
  }

  void add(EinsumChain chain, std::int64_t count, const std::vector<std::size_t>& nodes,
           UnfusedNodes unfused) {
    for (const std::size_t n : nodes) {
      is_taken_[n] = true;
    }
    const std::pair shape{without_names(chain), without_names(unfused)};
    const auto known = std::find(shapes_.begin(), shapes_.end(), shape);
    if (known != shapes_.end()) {
      found_.chains[static_cast<std::size_t>(known - shapes_.begin())].count += count;
      return;
    }
    shapes_.push_back(shape);
    const std::string& first = graph_.nodes[nodes.front()].name;
    const std::string& last = graph_.nodes[nodes.back()].name;
    chain.name = nodes.size() == 1 ? first : first + " .. " + last;
    found_.chains.push_back({std::move(chain), count, nodes, std::move(unfused)});
  }
  static UnfusedNodes without_names(UnfusedNodes nodes) {
    for (NodeLayer& layer : nodes.layers) {
      layer.name = layer.file = layer.workload.name = layer.workload.note = "";
    }
    return nodes;
  }
  static EinsumChain without_names(EinsumChain chain) {
    chain.name.clear();
    for (Workload& einsum : chain.einsums) {
      einsum.name.clear();
    }
    for (PerTensor<std::string>& names : chain.names) {
      for (std::string& name : names) {
        name.clear();
      }
    }
    for (Intermediate& passed : chain.intermediates) {
      passed.name.clear();
    }
    return chain;
  }

  const NetworkGraph& graph_;
  GraphLinks links_;
  std::vector<bool> is_taken_;
  GraphChains found_;
  std::vector<std::pair<EinsumChain, UnfusedNodes>> shapes_;
};

}  // namespace

GraphChains chains_of(const NetworkGraph& graph) { return ChainFinder{graph}.find(); }

}  // namespace mapsim
