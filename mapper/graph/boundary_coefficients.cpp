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

void set_sharing(const Problem& problem, const ExtentLattice& tiles, const BoundaryEdge& edge,
                 const Residence& from, BoundaryCoefficients& coefficients) {
  Sharing parent{{}, std::min(edge.crossed, coefficients.fanouts), true};
  for (std::size_t f = 0; f < coefficients.fanouts; ++f) {
    const FanoutId fanout = tiles.used()[f];
    const bool merged = f >= from.fanouts && problem.is_merged(fanout, edge.tensor);
    parent.uses.push_back(merged ? LoopUse::kMerge : LoopUse::kSum);
    parent.together = parent.together && (!merged || problem.arch().fanouts[fanout].forwarding);
  }
  const auto busy = [](Sharing sharing, std::size_t fanouts) {
    std::fill_n(sharing.uses.begin(), fanouts, LoopUse::kFirst);
    return sharing;
  };
  const auto met = [&](std::size_t fanouts, LoopUse use) {
    Sharing sharing{std::vector<LoopUse>(coefficients.fanouts, LoopUse::kMerge), parent.crossed,
                    true, LoopUse::kMerge};
    std::fill_n(sharing.uses.begin(), fanouts, use);
    return sharing;
  };
  coefficients.parent = parent;
  coefficients.child = {std::vector<LoopUse>(coefficients.fanouts, LoopUse::kSum), parent.crossed,
                        true};
  coefficients.busy_parent = busy(parent, from.fanouts);
  coefficients.busy_child = busy(coefficients.child, coefficients.fanouts);
  coefficients.met_parent = met(from.fanouts, LoopUse::kSum);
  coefficients.met_child = met(coefficients.fanouts, LoopUse::kSum);
  coefficients.met_busy_parent = met(from.fanouts, LoopUse::kFirst);
  coefficients.met_busy_child = met(coefficients.fanouts, LoopUse::kFirst);
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
  BoundaryCoefficients coefficients;
  coefficients.tensor = edge.tensor;
  coefficients.output = edge.tensor == problem.workload().output();
  coefficients.fanouts = mac ? tiles.used().size() : to.fanouts;
  coefficients.cost = BoundaryCost{problem, boundary, graph.ports(), {tracked.ports, false}};
  coefficients.slides =
      to.latch || (boundary.child && problem.arch().levels[*boundary.child].sliding);
  set_sharing(problem, tiles, edge, from, coefficients);
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
