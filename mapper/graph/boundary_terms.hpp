// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "mapper/graph/imperfect_tiles.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::imperfect {

// Everything about a boundary that does not depend on tiles: whose volumes count, and what they
// cost.
struct Terms {
  exact::Sharing parent, child, busy_parent, busy_child;  // totals; the first instance
  exact::Sharing met_parent, met_child, met_busy_parent,
      met_busy_child;                                         // distinct sums of the run
  std::vector<std::pair<double, exact::Sharing>> reductions;  // pJ per addition, behind the fanout
  BoundaryCost cost;                                          // but what `owes` says
  TensorId tensor{};
  bool output = false;
  bool slides = false;
  double limit = exact::kInfinity;  // bits that the tile may take
  double stored_bits = 0;           // of an element of the tile
  std::size_t fanouts = 0;          // used fanouts above the child
  bool owes = false;  // costs what flows leave out: hops, or cycles of first fills and last drains
};
// Of each edge.
std::vector<Terms> make_terms(const exact::StateGraph& graph, const Tiles& tiles, Tracked tracked);

}  // namespace mapsim::imperfect
