// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/bounds/unrolling_bound.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// A lower bound of the energy of every mapping of the space [pJ]: the operations, one transfer of
// every element out of the level where its tensor lies, and the compute units' accesses to the
// level that serves them most cheaply.
double energy_bound(const Mapspace& space);

// A lower bound of the bits through each port of the graph, for every mapping: each element leaves
// the outermost level once (a sum arrives there once). All zero if a fanout lies above the
// outermost level, since one instance then need not have all elements; and for a branch of a fused
// mapping.
std::vector<double> least_port_bits(const StateGraph& graph);

// A lower bound of the energy of all mappings of a class of unrollings: UnrollingBound for the
// cheapest choice of levels for each tensor.
class EnergyBound {
 public:
  explicit EnergyBound(const StateGraph& graph);  // `graph` outlives the bound
  // [pJ]; infinite: no level can serve some tensor.
  double of(const UnrollingClass& unrolling_class) const;
  // The same by phases (UnrollingBound::least_by_phases()).
  double by_phases(const UnrollingClass& unrolling_class, double enough) const;
  // A lower bound for all classes in the boxes [pJ].
  double of(const UnrollingBound::Boxes& boxes) const;
  // See UnrollingBound::patterns().
  std::vector<Pattern> patterns(const UnrollingClass& unrolling_class, const ObjectiveKeyOf& key_of,
                                const Incumbent& known, bool first_only) const;
  // Per edge of the graph: true if no nest of the pattern has it.
  std::vector<bool> edges_outside(const Pattern& pattern) const;

 private:
  PathBoundary boundary_of(const BoundaryEdge& edge) const;
  std::vector<BoundWeights> weights_of_figures(const UnrollingClass& unrolling_class) const;

  const StateGraph* graph_;
  PerTensor<TensorPaths> paths_;
  std::vector<TensorPair> pairs_;
};

}  // namespace mapsim::exact
