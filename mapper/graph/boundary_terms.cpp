// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/boundary_terms.hpp"

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
void add_reductions(const Problem& problem, const Tiles& tiles, const Residence& from,
                    Terms& terms) {
  Sharing sharing = terms.child;
  for (std::size_t f = from.fanouts; f < terms.fanouts; ++f) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    sharing.together = sharing.together && (!fanout.spatial_reduction || fanout.forwarding);
  }
  for (std::size_t f = terms.fanouts; f-- > from.fanouts;) {
    const Fanout& fanout = problem.arch().fanouts[tiles.used()[f]];
    if (fanout.spatial_reduction) {
      sharing.uses[f] = LoopUse::kMerge;
      terms.reductions.emplace_back(problem.addition_energy(tiles.used()[f]).count(), sharing);
    }
  }
}

void set_sharing(const Problem& problem, const Tiles& tiles, const BoundaryEdge& edge,
                 const Residence& from, Terms& terms) {
  Sharing parent{{}, std::min(edge.crossed, terms.fanouts), true};
  for (std::size_t f = 0; f < terms.fanouts; ++f) {
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
    Sharing sharing{std::vector<LoopUse>(terms.fanouts, LoopUse::kMerge), parent.crossed, true,
                    LoopUse::kMerge};
    std::fill_n(sharing.uses.begin(), fanouts, use);
    return sharing;
  };
  terms.parent = parent;
  terms.child = {std::vector<LoopUse>(terms.fanouts, LoopUse::kSum), parent.crossed, true};
  terms.busy_parent = busy(parent, from.fanouts);
  terms.busy_child = busy(terms.child, terms.fanouts);
  terms.met_parent = met(from.fanouts, LoopUse::kSum);
  terms.met_child = met(terms.fanouts, LoopUse::kSum);
  terms.met_busy_parent = met(from.fanouts, LoopUse::kFirst);
  terms.met_busy_child = met(terms.fanouts, LoopUse::kFirst);
}

Terms terms_of(const StateGraph& graph, const Tiles& tiles, const BoundaryEdge& edge,
               Tracked tracked) {
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
  Terms terms;
  terms.tensor = edge.tensor;
  terms.output = edge.tensor == problem.workload().output();
  terms.fanouts = mac ? tiles.used().size() : to.fanouts;
  terms.cost = BoundaryCost{problem, boundary, graph.ports(), {tracked.ports, false}};
  terms.slides = to.latch || (boundary.child && problem.arch().levels[*boundary.child].sliding);
  set_sharing(problem, tiles, edge, from, terms);
  if (terms.output) {
    add_reductions(problem, tiles, from, terms);
  }
  terms.owes = tracked.edges && boundary.child;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    terms.owes = terms.owes || asks_for_hops(problem.arch(), f, boundary.parent, boundary.child);
  }
  terms.stored_bits = static_cast<double>((to.narrow ? tensor.bits : tensor.partial_bits).count());
  if (const auto capacity = graph.capacity_of(edge)) {
    terms.limit = graph.capacities()[*capacity].bits;
  } else if (to.latch) {
    terms.limit = static_cast<double>(tensor.partial_bits.count());  // one element
  }
  return terms;
}

}  // namespace

std::vector<Terms> make_terms(const StateGraph& graph, const Tiles& tiles, Tracked tracked) {
  std::vector<Terms> terms;
  for (const BoundaryEdge& edge : graph.edges()) {
    terms.push_back(terms_of(graph, tiles, edge, tracked));
  }
  return terms;
}

}  // namespace mapsim::imperfect
