// SPDX-License-Identifier: Apache-2.0
#include "check/tolls.hpp"

#include <algorithm>
#include <cmath>

#include "check/toll_terms.hpp"

namespace mapsim::check {

Tolls::Tolls(const Graph& graph, const Case& at, const Tiles& tiles, Tracked tracked)
    : graph_{graph},
      at_{at},
      tiles_{tiles},
      tracked_{tracked},
      components_{1 + (tracked.ports ? graph.ports().size() : 0) + (tracked.edges ? 1 : 0)},
      terms_(graph.placings().size()),
      plain_(graph.placings().size()),
      bits_(graph.placings().size()),
      trips_(graph.problem().workload().tensors.size()) {}
Tolls::~Tolls() = default;

// A rank whose dim w slides in a loop from E' to T: of the E/T tiles along w the first of each run
// is fetched whole, the others gain what the step before did not have.
double Tolls::volume(const Volume& of, double trips, std::size_t tile, const Step& step) const {
  double product = of.constant * trips;
  for (const Window& window : of.windows) {
    const std::uint32_t index = window.index[tile];
    double points = (*window.united)[index];
    for (std::size_t i = 0; i < window.gained.size(); ++i) {
      const DimId d = window.rank->terms[i].dim;
      const std::int64_t extent = tiles_.extent(d, tile);
      if (index_of(d) == step.dim) {
        const auto steps = static_cast<double>(step.from / extent);
        points = (*window.united)[index] + (steps - 1) * (*window.gained[i])[index];
        product *= static_cast<double>(tiles_.bound(d) / step.from);
      } else {
        product *= static_cast<double>(tiles_.bound(d) / extent);
      }
    }
    product *= points;
  }
  return product;
}

// Additions, and hops: what several groups want comes in once, and each further group has it from
// its neighbour. Sums that come down again take the same way.
double Tolls::network_energy(const Terms& of, double trips, std::size_t tile,
                             const Step& step) const {
  double energy = 0;
  double entering = of.networks.empty() ? 0 : volume(of.inner, trips, tile, step);
  for (const Network& network : of.networks) {
    const double leaving = network.merges ? volume(network.leaves, trips, tile, step) : entering;
    energy += network.per_addition * (entering - leaving);
    if (network.per_hop > 0) {
      const bool partial = of.output && entering != of.distinct;
      const double width = partial ? of.partial_bits : of.bits;
      const double hops = leaving * network.route + (entering / network.group_size - leaving);
      const double returns = of.output ? leaving - volume(network.met, 1, tile, Step{}) : 0;
      energy += network.per_hop * width * hops * (leaving + returns) / leaving;
    }
    entering = leaving;
  }
  return energy;
}

void Tolls::pay_edge(const Terms& of, double width, std::size_t tile, double* out,
                     std::size_t stride) const {
  if (of.edge_rate) {
    const double elements = (*of.tile_bits)[tile] / of.tile_width;
    const double moved = of.pads_inner ? elements * width * of.whole / of.used : elements * width;
    out[(components_ - 1) * stride] += std::ceil(moved / of.edge_rate->count());
  }
}

void Tolls::pay(const Terms& of, double trips, std::size_t tile, Step step, double* out,
                std::size_t stride) const {
  step = of.slides ? step : Step{};
  if (of.output) {
    pay_output(of, trips, tile, step, out, stride);
    return;
  }
  out[0] = volume(of.outer, trips, tile, step) * of.bits * of.outer_energy.read.count() +
           network_energy(of, trips, tile, step);
  if (of.has_child) {
    out[0] += volume(of.inner, trips, tile, step) * of.bits * of.inner_energy.write.count();
    pay_edge(of, of.bits, tile, out, stride);
  }
  const auto padded = [&of](double bits, bool pads) {
    return pads ? bits * of.whole / of.used : bits;
  };
  if (tracked_.ports && of.outer_reads) {
    out[(1 + *of.outer_reads) * stride] +=
        padded(of.bits * volume(of.busy_outer, trips, tile, step), of.pads_outer);
  }
  if (tracked_.ports && (of.inner_writes || of.inner_link)) {
    const double fills = padded(of.bits * volume(of.busy_inner, trips, tile, step), of.pads_inner);
    for (const auto& port : {of.inner_writes, of.inner_link}) {
      out[port ? (1 + *port) * stride : 0] += port ? fills : 0;
    }
  }
}

// A sum that crosses an end once is finished. Updates go up, and come back but for the first time
// that an instance meets the element; drains leave the child, fills come back.
void Tolls::pay_output(const Terms& of, double trips, std::size_t tile, const Step& step,
                       double* out, std::size_t stride) const {
  const double updates = volume(of.outer, trips, tile, step);
  const bool final_above = updates == of.distinct;
  if (of.widths && final_above != of.final_above) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * stride] = kInfinity;
    }
    return;
  }
  const auto bits = [&](std::optional<std::size_t> port, double moved) {
    if (tracked_.ports && port) {
      out[(1 + *port) * stride] += moved;
    }
  };
  const double width = final_above ? of.bits : of.partial_bits;
  const double readbacks = updates - volume(of.met_outer, 1, tile, Step{});
  out[0] =
      width * (updates * of.outer_energy.update.count() + readbacks * of.outer_energy.read.count());
  if (tracked_.ports) {
    const double busy = volume(of.busy_outer, trips, tile, step);
    bits(of.outer_writes, width * busy);
    bits(of.outer_reads, width * (busy - volume(of.met_busy_outer, 1, tile, Step{})));
  }
  const double drains = volume(of.inner, trips, tile, step);
  out[0] += network_energy(of, trips, tile, step);
  if (of.has_child) {
    const double child_width = drains == of.distinct ? of.bits : of.partial_bits;
    const double fills = drains - volume(of.met_inner, 1, tile, Step{});
    out[0] += child_width *
              (drains * of.inner_energy.read.count() + fills * of.inner_energy.write.count());
    pay_edge(of, child_width, tile, out, stride);
    if (tracked_.ports) {
      const double busy = volume(of.busy_inner, trips, tile, step);
      const double back = busy - volume(of.met_busy_inner, 1, tile, Step{});
      bits(of.inner_reads, child_width * busy);
      bits(of.inner_writes, child_width * back);
      bits(of.inner_link, child_width * (busy + back));
    }
  }
}

bool Tolls::allows(TensorId t, const Stand& stand, std::size_t tile) const {
  PerDim<std::int64_t> left(tiles_.dims());
  PerDim<std::int64_t> extents(tiles_.dims());
  for (const DimId d : extents.ids()) {
    left[d] = tiles_.extent(d, tile);
    extents[d] = left[d] * at_.split(stand.above, d);
  }
  return allows_extents(graph_.rules(), stand.level, t, extents, left);
}

// values[tile] *= distinct coordinates of the rank in the tile of an instance below `above`
// fanouts.
void Tolls::multiply_points(const Placing& placing, std::size_t r, std::size_t above,
                            std::vector<double>& values) {
  const Rank& rank = graph_.problem().workload().tensors[placing.tensor].ranks[r];
  if (rank.terms.size() > 1) {
    const std::vector<std::uint32_t>& index = rank_index(placing.tensor, r);
    const std::vector<double>& points =
        table(placing.tensor, r, -2, {placing.crossed, above, 0, true});
    for (std::size_t tile = 0; tile < values.size(); ++tile) {
      values[tile] *= points[index[tile]];
    }
  } else if (rank.terms.size() == 1) {
    const DimId d = rank.terms.front().dim;
    const auto split = static_cast<double>(at_.split(above, d));
    for (std::size_t tile = 0; tile < values.size(); ++tile) {
      values[tile] *= split * static_cast<double>(tiles_.extent(d, tile));
    }
  }
}

const std::vector<double>& Tolls::bits(std::size_t index) {
  std::vector<double>& bits = bits_[index];
  if (bits.empty()) {
    const Placing& placing = graph_.placings()[index];
    const Stand& stand = graph_.stands(placing.tensor)[placing.inner];
    const Tensor& tensor = graph_.problem().workload().tensors[placing.tensor];
    const Bits width = stand.final ? tensor.bits : tensor.partial_bits;
    bits.assign(tiles_.size(), static_cast<double>(width.count()));
    for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
      multiply_points(placing, r, stand.above, bits);
    }
    // What does not fit its room alone, or a latch of one element, or the rules, does not exist.
    const auto room = graph_.room_of(placing);
    const double most = stand.latch ? static_cast<double>(width.count())
                        : room      ? graph_.rooms()[*room].bits
                                    : kInfinity;
    const std::vector<ExtentRule>& rules = graph_.rules().extents;
    const bool is_ruled =
        !stand.latch && std::any_of(rules.begin(), rules.end(), [&](const ExtentRule& rule) {
          return rule.level == stand.level && rule.tensor == placing.tensor;
        });
    for (std::size_t tile = 0; tile < bits.size(); ++tile) {
      const bool fits = bits[tile] <= most;
      if (!fits || (is_ruled && !allows(placing.tensor, stand, tile))) {
        bits[tile] = kInfinity;
      }
    }
  }
  return bits;
}

const std::vector<double>& Tolls::plain(std::size_t index) {
  std::vector<double>& tolls = plain_[index];
  if (tolls.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.placings()[index].tensor);
    const std::vector<double>& room = bits(index);
    tolls.assign(components_ * tiles_.size(), 0.0);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (room[tile] < kInfinity) {
        pay(of, times[tile], tile, Step{}, &tolls[tile], tiles_.size());
      } else {
        tolls[tile] = kInfinity;
      }
    }
  }
  return tolls;
}

const std::vector<double>& Tolls::sliding(std::size_t index, DimId dim) {
  std::vector<double>& tolls = sliding_[{index, index_of(dim)}];
  if (tolls.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.placings()[index].tensor);
    const std::vector<double>& room = bits(index);
    const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
    const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
    tolls.assign(components_ * runs.size() * rests, 0.0);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Step step{index_of(dim), tiles_.divisors(dim)[runs[r].from]};
      for (std::size_t rest = 0; rest < rests; ++rest) {
        const std::size_t tile = tiles_.from_rest(dim, rest, runs[r].to);
        double* out = &tolls[r * rests + rest];
        if (room[tile] < kInfinity) {
          pay(of, times[tile], tile, step, out, runs.size() * rests);
        } else {
          *out = kInfinity;
        }
      }
    }
  }
  return tolls;
}

std::vector<double> Tolls::end(const std::vector<std::size_t>& placings) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : placings) {
    std::vector<double> one(components_, 0.0);
    pay(terms(index), trips(graph_.placings()[index].tensor)[0], 0, Step{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Problem& problem = graph_.problem();
  sum[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
  return sum;
}

}  // namespace mapsim::check
