// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/boundary_coefficients.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"

namespace mapsim::imperfect {

using exact::BoundaryEdge;
using exact::Residence;
using exact::Sharing;
using exact::StateGraph;

namespace {

// Adds the networks that sums pass on their way outwards, innermost first. Each fanout with spatial
// reduction adds what enters it and passes on the merged sums.
void add_reductions(const Problem& problem, const ExtentLattice& tiles, const Residence& from,
                    BoundaryCoefficients& coefficients) {
  Sharing sharing = coefficients.child;
  for (std::size_t f = from.fanouts; f < coefficients.fanouts; ++f) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    sharing.together = sharing.together && (!fanout.spatial_reduction || fanout.forwarding);
  }
  for (std::size_t f = coefficients.fanouts; f-- > from.fanouts;) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    if (fanout.spatial_reduction) {
      sharing.uses[f] = LoopUse::kMerge;
      coefficients.reductions.emplace_back(problem.addition_energy(tiles.used()[f]).count(),
                                           sharing);
    }
  }
}

BoundaryCoefficients coefficients_of(const StateGraph& graph, const ExtentLattice& tiles,
                                     const BoundaryEdge& edge, Tracked tracked) {
  const Problem& problem = graph.problem();
  const Tensor& tensor = problem.workload().tensors[edge.tensor];
  const Residence& from = graph.residences(edge.tensor)[edge.from];
  const bool mac = edge.to == BoundaryEdge::kMac;
  const Residence to = mac ? Residence{} : graph.residences(edge.tensor)[edge.to];
  Boundary boundary{edge.tensor, from.level, std::nullopt, from.narrow};
  boundary.distinct = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  if (!mac && !to.latch) {
    boundary.child = to.level;
  }
  const std::size_t fanouts = mac ? tiles.used().size() : to.fanouts;
  BoundaryCoefficients coefficients;
  static_cast<exact::BoundarySharing&>(coefficients) =
      exact::sharing_of(problem, tiles.used(), edge, from.fanouts, fanouts);
  coefficients.tensor = edge.tensor;
  coefficients.output = edge.tensor == problem.workload().output();
  coefficients.fanouts = fanouts;
  coefficients.cost = BoundaryCost{problem, boundary, graph.ports(), {tracked.ports, false}};
  coefficients.slides =
      to.latch || (boundary.child && problem.arch().levels[*boundary.child].sliding);
  if (coefficients.output) {
    add_reductions(problem, tiles, from, coefficients);
  }
  coefficients.has_deferred_cost = tracked.edges && boundary.child;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    coefficients.has_deferred_cost =
        coefficients.has_deferred_cost ||
        asks_for_hops(problem.arch(), f, boundary.parent, boundary.child);
  }
  coefficients.stored_bits =
      static_cast<double>((to.narrow ? tensor.bits : tensor.partial_bits).count());
  if (const auto capacity = graph.capacity_of(edge)) {
    coefficients.limit = graph.capacities()[*capacity].bits;
  } else if (to.latch) {
    coefficients.limit = static_cast<double>(tensor.partial_bits.count());  // one element
  }
  return coefficients;
}

}  // namespace

std::vector<BoundaryCoefficients> make_coefficients(const StateGraph& graph,
                                                    const ExtentLattice& tiles, Tracked tracked) {
  std::vector<BoundaryCoefficients> coefficients;
  for (const BoundaryEdge& edge : graph.edges()) {
    coefficients.push_back(coefficients_of(graph, tiles, edge, tracked));
  }
  return coefficients;
}

}  // namespace mapsim::imperfect
