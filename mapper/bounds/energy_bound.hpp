// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/bounds/unrolling_bound.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// level where its tensor lies, and the compute units' accesses to whichever level could serve them
// most cheaply.
double energy_bound(const Mapspace& space);

// Bits that pass each port of the graph in any mapping, at least: every element leaves the
// outermost level once (a sum comes there), if one instance of it has them all.
std::vector<double> least_port_bits(const StateGraph& graph);

// The least energy of the nests of one class, whatever their tiles: of all ways that tensors may
// take, the cheapest by UnrollingBound. docs/decisions/0031, 0036, 0039.
class EnergyBound {
 public:
  explicit EnergyBound(const StateGraph& graph);  // outlives the bound
  // Infinite: nothing can serve a tensor.
  double of(const UnrollingClass& unrolling_class) const;
  // No more than the least of all classes in the boxes.
  double of(const UnrollingBound::Boxes& boxes) const;
  // As UnrollingBound::patterns() has them.
  std::vector<Pattern> patterns(const UnrollingClass& unrolling_class, const KeyOf& key_of,
                                const Incumbent& known, bool first_only) const;
  // Per edge of the graph: has no nest of the pattern it?
  std::vector<bool> edges_outside(const Pattern& pattern) const;

 private:
  RouteBoundary boundary_of(const BoundaryEdge& edge) const;
  std::vector<BoundWeights> weights_of_figures(const UnrollingClass& unrolling_class) const;

  const StateGraph* graph_;
  PerTensor<Route> routes_;
  std::vector<TensorPair> pairs_;
};

}  // namespace mapsim::exact
