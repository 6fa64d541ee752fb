// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::imperfect {

// The part of a boundary's cost with imperfect factors that depends on the graph only, not on
// tiles.
struct BoundaryCoefficients : exact::BoundarySharing {
  // Fanouts with spatial reduction, innermost first: pJ per addition, and the flow that leaves.
  std::vector<std::pair<double, exact::Sharing>> reductions;
  BoundaryCost cost;  // without what is deferred: see `has_deferred_cost`
  TensorId tensor{};
  bool output = false;
  bool slides = false;
  double limit = exact::kInfinity;  // bits that the tile may take
  double stored_bits = 0;           // bits of one element of the tile
  std::size_t fanouts = 0;          // used fanouts above the child
  // Hops, or cycles of first fills and last drains, do not follow from flows
  bool has_deferred_cost = false;
};
// The coefficients of each edge of the graph.
std::vector<BoundaryCoefficients> make_coefficients(const exact::StateGraph& graph,
                                                    const ExtentLattice& tiles, Tracked tracked);

}  // namespace mapsim::imperfect
