// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/costs.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/crossing.hpp"
#include "costmodel/network.hpp"
#include "mapper/exact/array_time.hpp"

namespace mapsim::exact {

Costs::Costs(const Skeleton& skeleton, const Unrolled& unrolled, Tracked tracked)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      tracked_{tracked},
      components_{1 + (tracked.ports ? skeleton.ports().size() : 0) + (tracked.edges ? 1 : 0)},
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

Costs::Terms Costs::make_terms(const Placing& placing) {
  const Problem& problem = skeleton_.problem();
  const Arch& arch = problem.arch();
  const Tensor& tensor = problem.workload().tensors[placing.tensor];
  const Stop& from = skeleton_.stops(placing.tensor)[placing.from];
  const bool mac = placing.to == Placing::kMac;
  const std::size_t child_fanouts =
      mac ? unrolled_.used.size() : skeleton_.stops(placing.tensor)[placing.to].fanouts;
  const bool latch = !mac && skeleton_.stops(placing.tensor)[placing.to].latch;

  Terms terms;
  terms.output = placing.tensor == problem.workload().output();
  terms.has_child = !mac && !latch;
  terms.bits = problem.moved_bits(placing.tensor, tensor.bits);
  terms.partial_bits = problem.moved_bits(placing.tensor, tensor.partial_bits);
  terms.widths = tensor.bits != tensor.partial_bits;
  terms.narrow_parent = from.narrow;

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
  terms.parent = volume(placing.tensor, parent);
  terms.busy_parent = volume(placing.tensor, busy(parent, from.fanouts));
  terms.child = volume(placing.tensor, child);
  terms.busy_child = volume(placing.tensor, busy(child, child_fanouts));
  terms.slides = latch || (terms.has_child &&
                           arch.levels[skeleton_.stops(placing.tensor)[placing.to].level].sliding);
  if (terms.output) {
    const auto met = [&](std::size_t instance_fanouts, LoopUse use) {
      Sharing sharing{std::vector<LoopUse>(child_fanouts, LoopUse::kMerge), parent.crossed, true,
                      LoopUse::kMerge};
      std::fill_n(sharing.uses.begin(), instance_fanouts, use);
      return volume(placing.tensor, sharing);
    };
    terms.met_parent = met(from.fanouts, LoopUse::kSum);
    terms.met_busy_parent = met(from.fanouts, LoopUse::kFirst);
    terms.met_child = met(child_fanouts, LoopUse::kSum);
    terms.met_busy_child = met(child_fanouts, LoopUse::kFirst);
    terms.distinct = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  }
  add_networks(placing, child, parent.together, terms);
  set_ends(placing, terms);
  return terms;
}

// Energies, ports and what is padded, at both ends.
void Costs::set_ends(const Placing& placing, Terms& terms) const {
  const Problem& problem = skeleton_.problem();
  const Arch& arch = problem.arch();
  const std::vector<Stop>& stops = skeleton_.stops(placing.tensor);
  const LevelId from = stops[placing.from].level;
  terms.parent_energy = arch.levels[from].energy;
  terms.parent_read = skeleton_.port(from, true);
  terms.parent_write = skeleton_.port(from, false);
  terms.parent_padding = padding_of(problem, unrolled_.unrolling, placing.tensor, from);
  if (terms.has_child) {
    const LevelId level = stops[placing.to].level;
    terms.child_energy = arch.levels[level].energy;
    terms.child_read = skeleton_.port(level, true);
    terms.child_write = skeleton_.port(level, false);
    terms.child_link = skeleton_.link(level);
    terms.child_padding = padding_of(problem, unrolled_.unrolling, placing.tensor, level);
  }
}

void Costs::add_edge(const Placing& placing, Terms& terms) {
  const std::vector<Stop>& stops = skeleton_.stops(placing.tensor);
  terms.edge_rate = edge_rate(skeleton_.problem(), stops[placing.from].level,
                              stops[placing.to].level, terms.output);
  terms.edge_elements = &footprints(placing.tensor, placing.crossed, stops[placing.to].fanouts);
}

void Costs::evaluate_edge(const Terms& terms, double width, std::size_t tile, double* out,
                          std::size_t step) const {
  if (tracked_.edges && terms.edge_rate) {
    out[(components_ - 1) * step] += std::ceil(
        terms.child_padding.of((*terms.edge_elements)[tile] * width) / terms.edge_rate->count());
  }
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
    network.per_addition = terms.output ? problem.addition_energy(f).count() : 0;
    network.per_hop = fanout.energy_per_hop.value_or(PicojoulesPerBit{0}).count();
    if (network.merges) {
      sharing.uses[outside] = LoopUse::kMerge;
      network.after = volume(placing.tensor, sharing);
    }
    if (network.per_hop > 0) {
      const Routes routes(loops, f, fanout.y, problem.shared_dims(f, placing.tensor));
      network.route =
          static_cast<double>(routes.half_hops()) / 2 / static_cast<double>(routes.groups());
      network.shared = static_cast<double>(routes.group_size());
      Sharing met{std::vector<LoopUse>(sharing.uses.size(), LoopUse::kMerge), sharing.crossed, true,
                  LoopUse::kMerge};
      std::fill_n(met.uses.begin(), outside, LoopUse::kSum);
      network.met = volume(placing.tensor, met);
    }
    costs = costs || network.per_hop > 0 || (network.merges && terms.output);
    terms.networks.push_back(network);
  }
  if (!costs) {
    terms.networks.clear();
  }
}

// Additions and hops: docs/model.md#networks. In a perfect nest every group is sent as much.
double Costs::network_energy(const Terms& terms, double trips, std::size_t tile,
                             Slide slide) const {
  double energy = 0;
  double entering = terms.networks.empty() ? 0 : terms.child.at(trips, tile, slide);
  for (const Network& network : terms.networks) {
    const double leaving = network.merges ? network.after.at(trips, tile, slide) : entering;
    energy += network.per_addition * (entering - leaving);
    if (network.per_hop > 0) {
      const bool final_sums = entering == terms.distinct;
      const double width = terms.output && !final_sums ? terms.partial_bits : terms.bits;
      const double hops = leaving * network.route + entering / network.shared - leaving;
      const double ways =
          terms.output ? 2 - network.met.at(1, tile, Slide{}) / leaving : 1;  // up, and back
      energy += network.per_hop * width * hops * ways;
    }
    entering = leaving;
  }
  return energy;
}

const Costs::Terms& Costs::terms(std::size_t placing) {
  if (!terms_[placing]) {
    const Placing& of = skeleton_.placings()[placing];
    terms_[placing] = make_terms(of);
    terms_[placing]->trips = &trips(of.tensor, of.crossed);
    if (tracked_.edges && terms_[placing]->has_child) {
      add_edge(skeleton_.placings()[placing], *terms_[placing]);
    }
  }
  return *terms_[placing];
}

void Costs::evaluate(const Terms& terms, double trips, std::size_t tile, Slide slide, double* out,
                     std::size_t step) const {
  if (!terms.slides) {
    slide = Slide{};
  }
  if (terms.output) {
    evaluate_output(terms, trips, tile, slide, out, step);
    return;
  }
  double energy =
      terms.parent.at(trips, tile, slide) * terms.bits * terms.parent_energy.read.count();
  if (terms.has_child) {
    energy += terms.child.at(trips, tile, slide) * terms.bits * terms.child_energy.write.count();
  }
  out[0] = energy + network_energy(terms, trips, tile, slide);
  if (components_ == 1) {
    return;
  }
  const auto add = [&](const std::optional<std::size_t>& port, double bits) {
    if (port) {
      out[(1 + *port) * step] += bits;
    }
  };
  add(terms.parent_read,
      terms.parent_padding.of(terms.busy_parent.at(trips, tile, slide) * terms.bits));
  if (terms.child_write || terms.child_link) {
    const double fills =
        terms.child_padding.of(terms.busy_child.at(trips, tile, slide) * terms.bits);
    add(terms.child_write, fills);
    add(terms.child_link, fills);
  }
  evaluate_edge(terms, terms.bits, tile, out, step);
}

void Costs::evaluate_output(const Terms& terms, double trips, std::size_t tile, Slide slide,
                            double* out, std::size_t step) const {
  const double up = terms.parent.at(trips, tile, slide);
  const bool narrow = up == terms.distinct;  // what crosses once is final
  if (terms.widths && narrow != terms.narrow_parent) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * step] = kInfinity;
    }
    return;
  }
  const double width = narrow ? terms.bits : terms.partial_bits;
  double energy =
      width * (up * terms.parent_energy.update.count() +
               (up - terms.met_parent.at(1, tile, Slide{})) * terms.parent_energy.read.count());
  double child_width = 0;
  if (terms.has_child) {
    const double drains = terms.child.at(trips, tile, slide);
    child_width = drains == terms.distinct ? terms.bits : terms.partial_bits;
    energy += child_width *
              (drains * terms.child_energy.read.count() +
               (drains - terms.met_child.at(1, tile, Slide{})) * terms.child_energy.write.count());
  }
  out[0] = energy + network_energy(terms, trips, tile, slide);
  if (components_ == 1) {
    return;
  }
  const auto add = [&](const std::optional<std::size_t>& port, double bits) {
    if (port) {
      out[(1 + *port) * step] += bits;
    }
  };
  const double busy_up = terms.busy_parent.at(trips, tile, slide);
  add(terms.parent_write, width * busy_up);
  add(terms.parent_read, width * (busy_up - terms.met_busy_parent.at(1, tile, Slide{})));
  if (terms.has_child) {
    const double busy_down = terms.busy_child.at(trips, tile, slide);
    const double again = busy_down - terms.met_busy_child.at(1, tile, Slide{});
    add(terms.child_read, child_width * busy_down);
    add(terms.child_write, child_width * again);
    add(terms.child_link, child_width * (busy_down + again));
    evaluate_edge(terms, child_width, tile, out, step);
  }
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
