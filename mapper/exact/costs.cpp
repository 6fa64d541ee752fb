// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/costs.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"
#include "mapper/exact/array_time.hpp"

namespace mapsim::exact {

Costs::Costs(const Skeleton& skeleton, const Unrolled& unrolled, Tracked tracked)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      tracked_{tracked},
      components_{resources(tracked, skeleton.ports().size())},
      terms_(skeleton.placings().size()),
      tables_(skeleton.placings().size()),
      plain_(skeleton.placings().size()),
      sliding_(skeleton.placings().size(),
               PerDim<std::vector<double>>(unrolled.lattices.front().dims())),
      bits_(skeleton.placings().size()),
      footprints_(skeleton.problem().workload().tensors.size()),
      trips_(footprints_.size()) {
  for (std::size_t t = 0; t < footprints_.size(); ++t) {
    volumes_.emplace_back(skeleton.problem(), unrolled);
  }
}

const Lattice& Costs::lattice_of(std::size_t placing) const {
  return unrolled_.lattices[skeleton_.placings()[placing].crossed];
}

BoundaryCost Costs::boundary_cost(const Placing& placing, bool has_child) const {
  const Problem& problem = skeleton_.problem();
  const std::vector<Stop>& stops = skeleton_.stops(placing.tensor);
  Boundary boundary{placing.tensor, stops[placing.from].level, std::nullopt,
                    stops[placing.from].narrow};
  if (placing.tensor == problem.workload().output()) {
    boundary.distinct = static_cast<double>(
        footprint(problem.workload().tensors[placing.tensor], bounds_of(problem.workload())));
  }
  boundary.parent_padding =
      padding_of(problem, unrolled_.unrolling, placing.tensor, boundary.parent);
  if (has_child) {
    boundary.child = stops[placing.to].level;
    boundary.child_padding =
        padding_of(problem, unrolled_.unrolling, placing.tensor, *boundary.child);
  }
  return {problem, boundary, skeleton_.ports(), tracked_};
}

Costs::Terms Costs::make_terms(const Placing& placing) {
  const Problem& problem = skeleton_.problem();
  const Arch& arch = problem.arch();
  const Stop& from = skeleton_.stops(placing.tensor)[placing.from];
  const bool mac = placing.to == Placing::kMac;
  const std::size_t child_fanouts =
      mac ? unrolled_.used.size() : skeleton_.stops(placing.tensor)[placing.to].fanouts;
  const bool latch = !mac && skeleton_.stops(placing.tensor)[placing.to].latch;

  Terms terms;
  terms.output = placing.tensor == problem.workload().output();
  terms.has_child = !mac && !latch;
  terms.cost = boundary_cost(placing, terms.has_child);
  Sharing parent{{}, std::min(placing.crossed, child_fanouts), true};
  for (std::size_t f = 0; f < child_fanouts; ++f) {
    const bool merged = f >= from.fanouts && problem.is_merged(unrolled_.used[f], placing.tensor);
    parent.uses.push_back(merged ? LoopUse::kMerge : LoopUse::kSum);
    parent.together = parent.together && (!merged || arch.fanouts[unrolled_.used[f]].forwarding);
  }
  const auto busy = [&](Sharing sharing, std::size_t fanouts) {
    std::fill_n(sharing.uses.begin(), fanouts, LoopUse::kFirst);
    return sharing;
  };
  const Sharing child{std::vector<LoopUse>(child_fanouts, LoopUse::kSum), parent.crossed, true};
  terms.parent.crossing = volume(placing.tensor, parent);
  terms.busy_parent.crossing = volume(placing.tensor, busy(parent, from.fanouts));
  terms.child.crossing = volume(placing.tensor, child);
  terms.busy_child.crossing = volume(placing.tensor, busy(child, child_fanouts));
  terms.slides = latch || (terms.has_child &&
                           arch.levels[skeleton_.stops(placing.tensor)[placing.to].level].sliding);
  if (terms.output) {
    set_met(placing, from.fanouts, child_fanouts, parent.crossed, terms);
  }
  add_networks(placing, child, parent.together, terms);
  return terms;
}

void Costs::set_met(const Placing& placing, std::size_t parent_fanouts, std::size_t child_fanouts,
                    std::size_t crossed, Terms& terms) {
  const auto met = [&](std::size_t instance_fanouts, LoopUse use) {
    Sharing sharing{std::vector<LoopUse>(child_fanouts, LoopUse::kMerge), crossed, true,
                    LoopUse::kMerge};
    std::fill_n(sharing.uses.begin(), instance_fanouts, use);
    return volume(placing.tensor, sharing);
  };
  terms.parent.met = met(parent_fanouts, LoopUse::kSum);
  terms.busy_parent.met = met(parent_fanouts, LoopUse::kFirst);
  terms.child.met = met(child_fanouts, LoopUse::kSum);
  terms.busy_child.met = met(child_fanouts, LoopUse::kFirst);
}

namespace {

// The loops over fanouts as a nest has them.
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

// `sharing`: of the child's end. A transfer merges from the innermost fanout outwards.
void Costs::add_networks(const Placing& placing, Sharing sharing, bool together, Terms& terms) {
  const Problem& problem = skeleton_.problem();
  const Arch& arch = problem.arch();
  const std::vector<Stop>& stops = skeleton_.stops(placing.tensor);
  const bool inside = placing.to == Placing::kMac || stops[placing.to].latch;
  const std::vector<NestLoop> loops = parallel_loops(unrolled_.unrolling);
  sharing.together = together;
  std::size_t outside = sharing.uses.size();  // used fanouts further out
  bool costs = false;
  for (std::size_t i = arch.fanouts.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    const Fanout& fanout = arch.fanouts[f];
    if (!arch.is_above(stops[placing.from].level, f) ||
        (!inside && arch.is_above(stops[placing.to].level, f))) {
      continue;
    }
    const bool used = outside > 0 && unrolled_.used[outside - 1] == f;
    outside -= used ? 1 : 0;
    Network network;
    network.merges = used && problem.is_merged(f, placing.tensor);
    network.energy = network_energy(problem, f, terms.output);
    if (network.merges) {
      sharing.uses[outside] = LoopUse::kMerge;
      network.outer.crossing = volume(placing.tensor, sharing);
    }
    if (network.energy.hop_pj > 0) {
      const Routes routes(loops, f, fanout.y, problem.shared_dims(f, placing.tensor));
      network.route =
          static_cast<double>(routes.half_hops()) / 2 / static_cast<double>(routes.groups());
      network.group_size = static_cast<double>(routes.group_size());
      Sharing met{std::vector<LoopUse>(sharing.uses.size(), LoopUse::kMerge), sharing.crossed, true,
                  LoopUse::kMerge};
      std::fill_n(met.uses.begin(), outside, LoopUse::kSum);
      network.outer.met = volume(placing.tensor, met);
    }
    costs = costs || network.energy.hop_pj > 0 || (network.merges && terms.output);
    terms.networks.push_back(network);
  }
  if (!costs) {
    terms.networks.clear();
  }
}

// In a perfect nest every group is sent as much.
double Costs::networks_pj(const Terms& terms, double entering, double trips, std::size_t tile,
                          Slide slide) const {
  double energy = 0;
  NetworkFlow flow{entering};
  for (const Network& network : terms.networks) {
    flow.leaving = network.merges ? network.outer.crossing.at(trips, tile, slide) : flow.entering;
    flow.group_size = network.group_size;
    flow.route = network.route;
    flow.returning = terms.output && network.energy.hop_pj > 0
                         ? flow.leaving - network.outer.met.at(1, tile, Slide{})
                         : 0;
    energy += terms.cost.network_pj(network.energy, flow);
    flow.entering = flow.leaving;
  }
  return energy;
}

const Costs::Terms& Costs::terms(std::size_t placing) {
  if (!terms_[placing]) {
    const Placing& of = skeleton_.placings()[placing];
    terms_[placing] = make_terms(of);
    terms_[placing]->trips = &trips(of.tensor, of.crossed);
    if (tracked_.edges && terms_[placing]->has_child) {
      terms_[placing]->tile = &elements(placing);
    }
  }
  return *terms_[placing];
}

// Adds to out[k * step].
void Costs::evaluate(const Terms& terms, double trips, std::size_t tile, Slide slide, double* out,
                     std::size_t step) const {
  if (!terms.slides) {
    slide = Slide{};
  }
  const auto find = [&](const End& end, EndFlow& at) {
    at.crossing = end.crossing.at(trips, tile, slide);
    at.returning = terms.output ? at.crossing - end.met.at(1, tile, Slide{}) : 0;
  };
  BoundaryFlow flow;
  find(terms.parent, flow.parent);
  if (!terms.cost.admits(flow.parent.crossing)) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * step] = kInfinity;
    }
    return;
  }
  if (terms.has_child || !terms.networks.empty()) {
    find(terms.child, flow.child);
    flow.networks_pj = networks_pj(terms, flow.child.crossing, trips, tile, slide);
  }
  if (terms.cost.tracks_parent()) {
    find(terms.busy_parent, flow.busy_parent);
  }
  if (terms.cost.tracks_child()) {
    find(terms.busy_child, flow.busy_child);
  }
  flow.tile = terms.tile != nullptr ? (*terms.tile)[tile] : 0;
  terms.cost.charge(flow, out, step);
}

std::vector<double> Costs::mac(const std::vector<std::size_t>& placings, std::size_t tile) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : placings) {
    if (is_left_out(index)) {
      return std::vector<double>(components_, kInfinity);
    }
    const Terms& of = terms(index);
    std::vector<double> one(components_, 0.0);
    evaluate(of, (*of.trips)[tile], tile, Slide{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  sum[0] += skeleton_.problem().mac_energy().count() *
            static_cast<double>(skeleton_.problem().workload().macs());
  return sum;
}

}  // namespace mapsim::exact
