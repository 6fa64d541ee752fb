// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/costs.hpp"

#include <algorithm>

#include "costmodel/crossing.hpp"

namespace mapsim::exact {

Costs::Costs(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled,
             bool with_ports)
    : skeleton_{skeleton},
      lattice_{lattice},
      unrolled_{unrolled},
      volumes_(skeleton.problem(), lattice, unrolled),
      components_{with_ports ? 1 + skeleton.ports().size() : 1},
      terms_(skeleton.placings().size()),
      plain_(skeleton.placings().size()),
      sliding_(skeleton.placings().size(), PerDim<std::vector<double>>(lattice.dims())),
      bits_(skeleton.placings().size()),
      footprints_(skeleton.problem().workload().tensors.size()),
      trips_(skeleton.problem().workload().tensors.size()) {
  const Workload& workload = skeleton.problem().workload();
  for (const TensorId t : workload.tensors.ids()) {
    const DimSet relevant = workload.tensors[t].dims();
    footprints_[t].resize(unrolled.used.size() + 1);
    trips_[t].assign(lattice.size(), 1.0);
    for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
      for (const DimId d : workload.dims.ids()) {
        if (!relevant.contains(d)) {
          trips_[t][tile] *= static_cast<double>(lattice.bound(d) / lattice.extent(d, tile));
        }
      }
    }
  }
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
  terms.bits = static_cast<double>(tensor.bits.count());
  terms.partial_bits = static_cast<double>(tensor.partial_bits.count());
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
  terms.parent = volumes_.make(placing.tensor, parent);
  terms.busy_parent = volumes_.make(placing.tensor, busy(parent, from.fanouts));
  terms.child = volumes_.make(placing.tensor, child);
  terms.busy_child = volumes_.make(placing.tensor, busy(child, child_fanouts));
  terms.slides = latch || (terms.has_child &&
                           arch.levels[skeleton_.stops(placing.tensor)[placing.to].level].sliding);
  if (terms.output) {
    terms.met_parent = volumes_.distinct(placing.tensor, from.fanouts, LoopUse::kSum);
    terms.met_busy_parent = volumes_.distinct(placing.tensor, from.fanouts, LoopUse::kFirst);
    terms.met_child = volumes_.distinct(placing.tensor, child_fanouts, LoopUse::kSum);
    terms.met_busy_child = volumes_.distinct(placing.tensor, child_fanouts, LoopUse::kFirst);
    terms.distinct = volumes_.distinct(placing.tensor, 0, LoopUse::kSum);
    add_reductions(placing, child_fanouts, terms);
  }
  terms.parent_energy = arch.levels[from.level].energy;
  terms.parent_read = skeleton_.port(from.level, true);
  terms.parent_write = skeleton_.port(from.level, false);
  if (terms.has_child) {
    const LevelId level = skeleton_.stops(placing.tensor)[placing.to].level;
    terms.child_energy = arch.levels[level].energy;
    terms.child_read = skeleton_.port(level, true);
    terms.child_write = skeleton_.port(level, false);
  }
  return terms;
}

// On the way up each merging fanout adds what enters it to what leaves it, innermost first.
void Costs::add_reductions(const Placing& placing, std::size_t child_fanouts, Terms& terms) {
  const Problem& problem = skeleton_.problem();
  const Stop& from = skeleton_.stops(placing.tensor)[placing.from];
  Sharing sharing{std::vector<LoopUse>(child_fanouts, LoopUse::kSum),
                  std::min(placing.crossed, child_fanouts), true};
  for (std::size_t f = from.fanouts; f < child_fanouts; ++f) {
    const Fanout& fanout = problem.arch().fanouts[unrolled_.used[f]];
    sharing.together = sharing.together && (!fanout.spatial_reduction || fanout.forwarding);
  }
  const bool together = sharing.together;
  for (std::size_t f = child_fanouts; f-- > from.fanouts;) {
    const Fanout& fanout = problem.arch().fanouts[unrolled_.used[f]];
    if (fanout.spatial_reduction) {
      sharing.uses[f] = LoopUse::kMerge;
      sharing.together = together;
      terms.reductions.emplace_back(fanout.reduction_energy.count(),
                                    volumes_.make(placing.tensor, sharing));
    }
  }
}

const Costs::Terms& Costs::terms(std::size_t placing) {
  if (!terms_[placing]) {
    terms_[placing] = make_terms(skeleton_.placings()[placing]);
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
  out[0] = energy;
  if (components_ == 1) {
    return;
  }
  if (terms.parent_read) {
    out[(1 + *terms.parent_read) * step] +=
        terms.busy_parent.at(trips, tile, slide) * terms.bits;
  }
  if (terms.child_write) {
    out[(1 + *terms.child_write) * step] += terms.busy_child.at(trips, tile, slide) * terms.bits;
  }
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
  double energy = width * (up * terms.parent_energy.update.count() +
                           (up - terms.met_parent) * terms.parent_energy.read.count());
  double child_width = 0;
  if (terms.has_child || !terms.reductions.empty()) {
    const double drains = terms.child.at(trips, tile, slide);
    child_width = drains == terms.distinct ? terms.bits : terms.partial_bits;
    if (terms.has_child) {
      energy += child_width * (drains * terms.child_energy.read.count() +
                               (drains - terms.met_child) * terms.child_energy.write.count());
    }
    double entering = drains;
    for (const auto& [per_addition, after] : terms.reductions) {
      const double leaving = after.at(trips, tile, slide);
      energy += per_addition * (entering - leaving);
      entering = leaving;
    }
  }
  out[0] = energy;
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
  add(terms.parent_read, width * (busy_up - terms.met_busy_parent));
  if (terms.has_child) {
    const double busy_down = terms.busy_child.at(trips, tile, slide);
    add(terms.child_read, child_width * busy_down);
    add(terms.child_write, child_width * (busy_down - terms.met_busy_child));
  }
}

const std::vector<double>& Costs::footprints(TensorId t, std::size_t fanouts_above) {
  std::vector<double>& points = footprints_[t][fanouts_above];
  if (points.empty()) {
    points.resize(lattice_.size());
    const Tensor& tensor = skeleton_.problem().workload().tensors[t];
    for (std::size_t tile = 0; tile < lattice_.size(); ++tile) {
      PerDim<std::int64_t> extents = lattice_.extents(tile);
      for (const DimId d : extents.ids()) {
        for (std::size_t f = fanouts_above; f < unrolled_.used.size(); ++f) {
          extents[d] *= unrolled_.factors[f][d];
        }
      }
      points[tile] = static_cast<double>(footprint(tensor, extents));
    }
  }
  return points;
}

const std::vector<double>& Costs::bits(std::size_t index) {
  std::vector<double>& bits = bits_[index];
  if (bits.empty()) {
    const Placing& placing = skeleton_.placings()[index];
    const Stop& stop = skeleton_.stops(placing.tensor)[placing.to];
    const Tensor& tensor = skeleton_.problem().workload().tensors[placing.tensor];
    const auto width =
        static_cast<double>((stop.narrow ? tensor.bits : tensor.partial_bits).count());
    bits = footprints(placing.tensor, stop.fanouts);
    for (double& b : bits) {
      b *= width;
    }
  }
  return bits;
}

// A latch holds one element; a room holds what it has bits for.
bool Costs::fits(std::size_t index, std::size_t tile) {
  const Placing& placing = skeleton_.placings()[index];
  if (placing.to != Placing::kMac && skeleton_.stops(placing.tensor)[placing.to].latch) {
    return footprints(placing.tensor, unrolled_.used.size())[tile] == 1;
  }
  const auto room = skeleton_.room_of(placing);
  return !room || bits(index)[tile] <= skeleton_.rooms()[*room].bits;
}

const std::vector<double>& Costs::plain(std::size_t index) {
  std::vector<double>& costs = plain_[index];
  if (costs.empty()) {
    const std::size_t tiles = lattice_.size();
    const Terms& of = terms(index);
    const std::vector<double>& trips = trips_[skeleton_.placings()[index].tensor];
    costs.assign(components_ * tiles, 0.0);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      if (fits(index, tile)) {
        evaluate(of, trips[tile], tile, Slide{}, &costs[tile], tiles);
      } else {
        for (std::size_t k = 0; k < components_; ++k) {
          costs[k * tiles + tile] = kInfinity;
        }
      }
    }
  }
  return costs;
}

const std::vector<double>& Costs::sliding(std::size_t index, DimId dim) {
  std::vector<double>& costs = sliding_[index][dim];
  if (costs.empty()) {
    const std::size_t tiles = lattice_.size();
    const std::size_t digits = lattice_.divisors(dim).size();
    const Terms& of = terms(index);
    const std::vector<double>& trips = trips_[skeleton_.placings()[index].tensor];
    costs.assign(components_ * digits * tiles, kInfinity);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      if (!fits(index, tile)) {
        continue;
      }
      for (std::size_t digit = lattice_.digit(dim, tile) + 1; digit < digits; ++digit) {
        if (lattice_.divisors(dim)[digit] % lattice_.extent(dim, tile) == 0) {
          double* out = &costs[digit * tiles + tile];
          for (std::size_t k = 0; k < components_; ++k) {
            out[k * digits * tiles] = 0;
          }
          evaluate(of, trips[tile], tile, {index_of(dim), digit}, out, digits * tiles);
        }
      }
    }
  }
  return costs;
}

std::vector<double> Costs::mac(const std::vector<std::size_t>& placings) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : placings) {
    std::vector<double> one(components_, 0.0);
    evaluate(terms(index), trips_[skeleton_.placings()[index].tensor][0], 0, Slide{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  sum[0] += skeleton_.problem().arch().compute.energy.count() *
            static_cast<double>(skeleton_.problem().workload().macs());
  return sum;
}

}  // namespace mapsim::exact
