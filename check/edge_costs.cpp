// SPDX-License-Identifier: Apache-2.0
#include "check/edge_costs.hpp"

#include "check/goal.hpp"

namespace mapsim::check {

namespace {

// Makes all components infinite where component 0 is.
void exclude(std::vector<double>& costs, std::size_t components) {
  const std::size_t size = costs.size() / components;
  for (std::size_t at = 0; at < size; ++at) {
    for (std::size_t k = 1; k < components && !(costs[at] < kInfinity); ++k) {
      costs[k * size + at] = kInfinity;
    }
  }
}

}  // namespace

EdgeCosts::EdgeCosts(const Graph& graph, const Lattice& lattice, Tracked tracked)
    : graph_{graph},
      lattice_{lattice},
      tracked_{tracked},
      components_{resources(tracked, graph.ports().size())},
      bits_(graph.edges().size()),
      plain_(graph.edges().size()) {}

const std::vector<double>& EdgeCosts::bits(std::size_t edge) {
  if (bits_[edge].empty()) {
    bits_[edge] = make_bits(edge);
  }
  return bits_[edge];
}

const std::vector<double>& EdgeCosts::plain(std::size_t edge) {
  std::vector<double>& costs = plain_[edge];
  if (costs.empty()) {
    costs = make_plain(edge);
    exclude(costs, components_);
  }
  return costs;
}

const std::vector<double>& EdgeCosts::sliding(std::size_t edge, DimId dim) {
  std::vector<double>& costs = sliding_[{edge, index_of(dim)}];
  if (costs.empty()) {
    costs = make_sliding(edge, dim);
    exclude(costs, components_);
  }
  return costs;
}

std::vector<double> EdgeCosts::end(const std::vector<std::size_t>& edges) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t edge : edges) {
    const std::vector<double> one = make_last(edge);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Problem& problem = graph_.problem();
  sum[0] += problem.mac_energy().count() * graph_.entry().operations(bounds_of(problem.workload()));
  return sum;
}

}  // namespace mapsim::check
