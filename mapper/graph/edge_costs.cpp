// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/edge_costs.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"
#include "mapper/graph/array_time.hpp"

namespace mapsim::exact {

EdgeCosts::EdgeCosts(const StateGraph& graph, const Unrolled& unrolled, Tracked tracked,
                     const Deadline* deadline)
    : graph_{graph},
      unrolled_{unrolled},
      deadline_{deadline},
      held_{deadline},
      tracked_{tracked},
      components_{resources(tracked, graph.ports().size())},
      coefficients_(graph.edges().size()),
      tables_(graph.edges().size()),
      plain_(graph.edges().size()),
      sliding_(graph.edges().size(), PerDim<std::vector<double>>(unrolled.lattices.front().dims())),
      bits_(graph.edges().size()),
      footprints_(graph.problem().workload().tensors.size()),
      visits_(footprints_.size()) {
  for (std::size_t t = 0; t < footprints_.size(); ++t) {
    volumes_.emplace_back(graph.problem(), unrolled);
  }
}

const DivisorLattice& EdgeCosts::lattice_of(std::size_t edge) const {
  return unrolled_.lattices[graph_.edges()[edge].crossed];
}

// Points of the output that the mean entry computes.
double EdgeCosts::made_by_entry() const {
  const Workload& workload = graph_.problem().workload();
  const Tensor& output = workload.tensors[workload.output()];
  if (unrolled_.entry.lengths.empty()) {
    return static_cast<double>(footprint(output, bounds_of(workload)));
  }
  double points = 1;
  for (const Rank& rank : output.ranks) {
    points *= unrolled_.entry.mean_size(rank.terms.front().dim,
                                        workload.dims[rank.terms.front().dim].bound);
  }
  return points;
}

BoundaryCost EdgeCosts::boundary_cost(const BoundaryEdge& edge, bool has_child) const {
  const Problem& problem = graph_.problem();
  const std::vector<Residence>& residences = graph_.residences(edge.tensor);
  Boundary boundary{edge.tensor, residences[edge.from].level, std::nullopt,
                    residences[edge.from].narrow};
  if (edge.tensor == problem.workload().output()) {
    boundary.distinct = unrolled_.entry.sums_begun * made_by_entry();
  }
  boundary.parent_padding = padding_of(problem, unrolled_.unrolling, edge.tensor, boundary.parent);
  if (has_child) {
    boundary.child = residences[edge.to].level;
    boundary.child_padding = padding_of(problem, unrolled_.unrolling, edge.tensor, *boundary.child);
  }
  return {problem, boundary, graph_.ports(), tracked_};
}

EdgeCosts::Coefficients EdgeCosts::make_coefficients(const BoundaryEdge& edge) {
  const Problem& problem = graph_.problem();
  const Arch& arch = problem.arch();
  const Residence& from = graph_.residences(edge.tensor)[edge.from];
  const bool mac = edge.to == BoundaryEdge::kMac;
  const std::size_t child_fanouts =
      mac ? unrolled_.used.size() : graph_.residences(edge.tensor)[edge.to].fanouts;
  const bool latch = !mac && graph_.residences(edge.tensor)[edge.to].latch;

  Coefficients coefficients;
  coefficients.output = edge.tensor == problem.workload().output();
  coefficients.has_child = !mac && !latch;
  coefficients.cost = boundary_cost(edge, coefficients.has_child);
  const BoundarySharing ends =
      sharing_of(problem, unrolled_.used, edge, from.fanouts, child_fanouts);
  coefficients.parent.crossing = volume(edge.tensor, ends.parent);
  coefficients.busy_parent.crossing = volume(edge.tensor, ends.busy_parent);
  coefficients.child.crossing = volume(edge.tensor, ends.child);
  coefficients.busy_child.crossing = volume(edge.tensor, ends.busy_child);
  coefficients.slides =
      latch || (coefficients.has_child &&
                arch.levels[graph_.residences(edge.tensor)[edge.to].level].sliding);
  if (coefficients.output) {
    coefficients.parent.met = volume(edge.tensor, ends.met_parent);
    coefficients.busy_parent.met = volume(edge.tensor, ends.met_busy_parent);
    coefficients.child.met = volume(edge.tensor, ends.met_child);
    coefficients.busy_child.met = volume(edge.tensor, ends.met_busy_child);
  }
  add_networks(edge, ends.child, ends.parent.together, coefficients);
  return coefficients;
}

namespace {

// The parallel loops of an unrolling, as a nest has them.
std::vector<NestLoop> parallel_loops(const Unrolling& unrolling) {
  std::vector<NestLoop> loops;
  for (const Unroll& unroll : unrolling) {
    for (NestLoop& outer : loops) {
      outer.stride *=
          outer.fanout == unroll.fanout && outer.axis == unroll.axis ? unroll.factor : 1;
    }
    loops.push_back(
        {unroll.dim, unroll.factor, 1, unroll.fanout, unroll.axis, kNoLoop, unroll.factor, 1});
  }
  return loops;
}

}  // namespace

// `sharing`: of the inner end. A transfer merges from the innermost fanout outwards.
void EdgeCosts::add_networks(const BoundaryEdge& edge, Sharing sharing, bool together,
                             Coefficients& coefficients) {
  const Problem& problem = graph_.problem();
  const Arch& arch = problem.arch();
  const std::vector<Residence>& residences = graph_.residences(edge.tensor);
  const bool inside = edge.to == BoundaryEdge::kMac || residences[edge.to].latch;
  const std::vector<NestLoop> loops = parallel_loops(unrolled_.unrolling);
  sharing.together = together;
  std::size_t outside = sharing.uses.size();  // used fanouts further out
  bool costs = false;
  for (std::size_t i = arch.fanouts.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    const Fanout& fanout = arch.fanouts[f];
    if (!arch.is_above(residences[edge.from].level, f) ||
        (!inside && arch.is_above(residences[edge.to].level, f))) {
      continue;
    }
    const bool used = outside > 0 && unrolled_.used[outside - 1] == f;
    outside -= used ? 1 : 0;
    Network network;
    network.merges = used && problem.is_merged(f, edge.tensor);
    network.energy = network_energy(problem, f, coefficients.output);
    if (network.merges) {
      sharing.uses[outside] = LoopUse::kMerge;
      network.outer.crossing = volume(edge.tensor, sharing);
    }
    if (network.energy.hop_pj > 0) {
      const Routes routes(loops, f, fanout.y, problem.shared_dims(f, edge.tensor));
      network.route =
          static_cast<double>(routes.half_hops()) / 2 / static_cast<double>(routes.groups());
      network.group_size = static_cast<double>(routes.group_size());
      Sharing met{std::vector<LoopUse>(sharing.uses.size(), LoopUse::kMerge), sharing.crossed, true,
                  LoopUse::kMerge};
      std::fill_n(met.uses.begin(), outside, LoopUse::kSum);
      network.outer.met = volume(edge.tensor, met);
    }
    costs = costs || network.energy.hop_pj > 0 || (network.merges && coefficients.output);
    coefficients.networks.push_back(network);
  }
  if (!costs) {
    coefficients.networks.clear();
  }
}

// In a perfect nest every group of instances is sent equally much.
double EdgeCosts::networks_pj(const Coefficients& coefficients, double entering, double visits,
                              std::size_t tile, SlidingLoop slide) const {
  double energy = 0;
  NetworkFlow flow{entering};
  for (const Network& network : coefficients.networks) {
    flow.leaving = network.merges ? network.outer.crossing.at(visits, tile, slide) : flow.entering;
    flow.group_size = network.group_size;
    flow.route = network.route;
    flow.returning = coefficients.output && network.energy.hop_pj > 0
                         ? flow.leaving - unrolled_.entry.sums_begun *
                                              network.outer.met.at(1, tile, SlidingLoop{})
                         : 0;
    energy += coefficients.cost.network_pj(network.energy, flow);
    flow.entering = flow.leaving;
  }
  return energy;
}

const EdgeCosts::Coefficients& EdgeCosts::coefficients(std::size_t edge) {
  if (!coefficients_[edge]) {
    const BoundaryEdge& of = graph_.edges()[edge];
    Coefficients made = make_coefficients(of);
    made.visits = &visits(of.tensor, of.crossed);
    if (graph_.problem().sparse() != nullptr) {
      made.nonzeros = FlowsByTile{graph_, unrolled_, of, held_};
    }
    if (tracked_.edges && made.has_child) {
      made.tile = &elements(edge);
    }
    coefficients_[edge] = std::move(made);
  }
  return *coefficients_[edge];
}

// Adds to out[k * step].
void EdgeCosts::evaluate(const Coefficients& coefficients, double visits, std::size_t tile,
                         SlidingLoop slide, double* out, std::size_t step) const {
  if (!coefficients.slides) {
    slide = SlidingLoop{};
  }
  const auto find = [&](const End& end, EndFlow& at) {
    at.crossing = end.crossing.at(visits, tile, slide);
    const double begun = unrolled_.entry.sums_begun;
    at.returning =
        coefficients.output ? at.crossing - begun * end.met.at(1, tile, SlidingLoop{}) : 0;
  };
  BoundaryFlow flow;
  find(coefficients.parent, flow.parent);
  if (!coefficients.cost.admits(flow.parent.crossing)) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * step] = kInfinity;
    }
    return;
  }
  if (coefficients.has_child || !coefficients.networks.empty()) {
    find(coefficients.child, flow.child);
    flow.networks_pj = networks_pj(coefficients, flow.child.crossing, visits, tile, slide);
  }
  if (coefficients.cost.tracks_parent()) {
    find(coefficients.busy_parent, flow.busy_parent);
  }
  if (coefficients.cost.tracks_child()) {
    find(coefficients.busy_child, flow.busy_child);
  }
  flow.tile = coefficients.tile != nullptr ? (*coefficients.tile)[tile] : 0;
  flow.nonzeros = coefficients.nonzeros.at(tile);
  coefficients.cost.charge(flow, out, step);
}

std::vector<double> EdgeCosts::mac(const std::vector<std::size_t>& edges, std::size_t tile) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : edges) {
    if (is_left_out(index)) {
      return std::vector<double>(components_, kInfinity);
    }
    const Coefficients& of = coefficients(index);
    std::vector<double> one(components_, 0.0);
    evaluate(of, (*of.visits)[tile], tile, SlidingLoop{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Workload& workload = graph_.problem().workload();
  double macs = static_cast<double>(workload.macs());
  for (const DimId d : workload.dims.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    macs *= unrolled_.entry.mean_size(d, bound) / static_cast<double>(bound);
  }
  sum[0] += graph_.problem().mac_energy().count() * macs;
  return sum;
}

}  // namespace mapsim::exact
