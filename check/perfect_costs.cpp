// SPDX-License-Identifier: Apache-2.0
#include "check/perfect_costs.hpp"

#include <algorithm>
#include <cmath>

#include "check/perfect_coefficients.hpp"

namespace mapsim::check {

PerfectCosts::PerfectCosts(const Graph& graph, const BlockedUnrolling& at, const Lattice& lattice,
                           Tracked tracked)
    : EdgeCosts{graph, lattice, tracked},
      at_{at},
      coefficients_(graph.edges().size()),
      visits_(graph.problem().workload().tensors.size()),
      alike_(graph.problem().workload().tensors.size()) {
  if (graph.problem().sparse() != nullptr) {
    nonzeros_.emplace(graph.problem());
  }
}
PerfectCosts::~PerfectCosts() = default;

// Charges a boundary at one tile after another, once for all tiles that it does not tell apart.
class PerfectCosts::Charger {
 public:
  Charger(PerfectCosts& costs, const Coefficients& of)
      : costs_{costs}, of_{of}, times_{costs.visits(of.use.tensor)} {
    if (!costs.nonzeros_ && of.tile_bits == nullptr) {
      alike_ = &costs.alike(of.use.tensor);
    }
  }

  // From here on with this step.
  void begin(const Step& step) {
    step_ = step;
    if (alike_ != nullptr) {
      known_.assign(alike_->count, false);
      values_.assign(alike_->count * costs_.components(), 0.0);
    }
  }
  void charge(std::size_t tile, double* out, std::size_t stride) {
    if (alike_ == nullptr) {
      costs_.charge(of_, times_[tile], tile, step_, out, stride);
      return;
    }
    const std::size_t number = alike_->number[tile];
    double* values = &values_[number * costs_.components()];
    if (!known_[number]) {
      costs_.charge(of_, times_[tile], tile, step_, values, 1);
      known_[number] = true;
    }
    for (std::size_t k = 0; k < costs_.components(); ++k) {
      out[k * stride] = values[k];
    }
  }

 private:
  PerfectCosts& costs_;
  const Coefficients& of_;
  const std::vector<double>& times_;
  const Alike* alike_ = nullptr;  // null: each tile costs something of its own
  Step step_;
  std::vector<bool> known_;     // by number of tiles that are alike
  std::vector<double> values_;  // ... their components
};

// A rank slides along dim w in a loop from extent E' to T. Of the E/T tiles along w, the first tile
// of each run is fetched whole; each other tile fetches what the step before did not have.
double PerfectCosts::volume(const Volume& of, double visits, std::size_t tile,
                            const Step& step) const {
  double product = of.constant * visits;
  for (const Window& window : of.windows) {
    const std::uint32_t index = window.index[tile];
    double points = (*window.united)[index];
    for (std::size_t i = 0; i < window.gained.size(); ++i) {
      const DimId d = window.rank->terms[i].dim;
      const std::int64_t extent = lattice().extent(d, tile);
      if (index_of(d) == step.dim) {
        const bool is_whole = step.from == lattice().bound(d);
        const double run = is_whole ? lattice().mean(d) : static_cast<double>(step.from);
        const double steps = run / static_cast<double>(extent);
        points = (*window.united)[index] + (steps - 1) * (*window.gained[i])[index];
        product *= lattice().visits(d, step.from);
      } else {
        product *= lattice().visits(d, extent);
      }
    }
    product *= points;
  }
  return product;
}

// Energy of what the networks between the ends add and pass on [pJ].
double PerfectCosts::networks_pj(const Coefficients& of, double entering, double visits,
                                 std::size_t tile, const Step& step) const {
  double energy = 0;
  const double begun = graph().entry().sums_begun;
  NetworkFlow flow{entering};
  for (const Network& network : of.networks) {
    flow.leaving =
        network.merges ? volume(network.outer.crossing, visits, tile, step) : flow.entering;
    flow.returning = of.use.output && network.energy.hop_pj > 0
                         ? flow.leaving - begun * volume(network.outer.met, 1, tile, Step{})
                         : 0;
    flow.group_size = network.group_size;
    flow.route = network.route;
    energy += of.use.cost.network_pj(network.energy, flow);
    flow.entering = flow.leaving;
  }
  return energy;
}

// Adds to out[k * stride]. A sum comes back unless the instance meets its element for the first
// time.
void PerfectCosts::charge(const Coefficients& of, double visits, std::size_t tile, const Step& step,
                          double* out, std::size_t stride) {
  const auto find = [&](const End& end) {
    EndFlow at{volume(end.crossing, visits, tile, step)};
    const double met = of.use.output ? volume(end.met, 1, tile, Step{}) : 0;
    if (std::abs(at.crossing - of.use.begun) <= kTolerance * of.use.begun) {
      at.crossing = of.use.begun;  // means are fractions
    }
    at.returning = of.use.output ? at.crossing - graph().entry().sums_begun * met : 0;
    return at;
  };
  BoundaryFlow flow;
  flow.parent = find(of.outer);
  if (!of.use.cost.admits(flow.parent.crossing)) {
    *out = kInfinity;
    return;
  }
  if (of.use.has_child || !of.networks.empty()) {
    flow.child = find(of.inner);
    flow.networks_pj = networks_pj(of, flow.child.crossing, visits, tile, step);
  }
  if (of.use.cost.tracks_parent()) {
    flow.busy_parent = find(of.busy_outer);
  }
  if (of.use.cost.tracks_child()) {
    flow.busy_child = find(of.busy_inner);
  }
  flow.tile = of.tile_bits != nullptr ? (*of.tile_bits)[tile] / of.use.tile_width : 0;
  if (nonzeros_ && of.tile_bits != nullptr) {
    const PerDim<std::int64_t> extents = extents_at(of.use.above, tile);
    flow.tile = 1;
    for (const Rank& rank : graph().problem().workload().tensors[of.use.tensor].ranks) {
      flow.tile *= static_cast<double>(count_coordinates(rank, extents));
    }
  }
  FlowOfNonzeros nonzeros;
  if (nonzeros_ && !nonzeros_->is_plain(of.use.tensor, of.use.parent, of.use.child)) {
    nonzeros = nonzeros_of(of, tile);
    flow.nonzeros = &nonzeros;
  }
  of.use.cost.charge(flow, out, stride);
}

PerDim<std::int64_t> PerfectCosts::extents_at(std::size_t above, std::size_t tile) const {
  PerDim<std::int64_t> extents(lattice().dims());
  for (const DimId d : extents.ids()) {
    extents[d] = lattice().extent(d, tile) * at_.split(above, d);
  }
  return extents;
}

FlowOfNonzeros PerfectCosts::nonzeros_of(const Coefficients& of, std::size_t tile) {
  const Problem& problem = graph().problem();
  PerDim<std::int64_t> shared(lattice().dims(), 1);
  for (std::size_t f = of.use.outer_fanouts; f < of.use.above; ++f) {
    for (const DimId d : shared.ids()) {
      shared[d] *= problem.is_merged(at_.used[f], of.use.tensor) ? at_.factors[f][d] : 1;
    }
  }
  // Over a dim that is a rank of its own, instances need different elements.
  for (const Rank& rank : problem.workload().tensors[of.use.tensor].ranks) {
    if (rank.terms.size() == 1) {
      shared[rank.terms.front().dim] = 1;
    }
  }
  return nonzeros_->flow(of.use.tensor, of.use.parent, of.use.child, extents_at(of.use.above, tile),
                         shared);
}

bool PerfectCosts::allows(TensorId t, const Residence& residence, std::size_t tile) const {
  PerDim<std::int64_t> left(lattice().dims());
  const PerDim<std::int64_t> extents = extents_at(residence.above, tile);
  for (const DimId d : extents.ids()) {
    left[d] = lattice().extent(d, tile);
  }
  return allows_extents(graph().rules(), residence.level, t, extents, left);
}

// values[tile] *= distinct coordinates of the rank in the tile of an instance below `above`
// fanouts.
void PerfectCosts::multiply_points(const BoundaryEdge& edge, std::size_t r, std::size_t above,
                                   std::vector<double>& values) {
  const Rank& rank = graph().problem().workload().tensors[edge.tensor].ranks[r];
  if (rank.terms.size() > 1) {
    const std::vector<std::uint32_t>& index = rank_index(edge.tensor, r);
    const std::vector<double>& points =
        table(edge.tensor, r, kUnited, {edge.crossed, above, 0, true});
    for (std::size_t tile = 0; tile < values.size(); ++tile) {
      values[tile] *= points[index[tile]];
    }
  } else if (rank.terms.size() == 1) {
    const DimId d = rank.terms.front().dim;
    const auto split = static_cast<double>(at_.split(above, d));
    lattice().sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const double extent = split * static_cast<double>(lattice().high(d, bin));
      for (std::size_t tile = first; tile < last; ++tile) {
        values[tile] *= extent;
      }
    });
  }
}

std::vector<double> PerfectCosts::make_bits(std::size_t index) {
  const BoundaryEdge& edge = graph().edges()[index];
  const Residence& residence = graph().residences(edge.tensor)[edge.inner];
  const Tensor& tensor = graph().problem().workload().tensors[edge.tensor];
  const Bits width = residence.final ? tensor.bits : tensor.partial_bits;
  std::vector<double> bits(lattice().size(), static_cast<double>(width.count()));
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    multiply_points(edge, r, residence.above, bits);
  }
  for (std::size_t tile = 0; nonzeros_ && !residence.latch && tile < bits.size(); ++tile) {
    bits[tile] = nonzeros_->stored_bits(edge.tensor, residence.level,
                                        extents_at(residence.above, tile), width);
  }
  // A tile that exceeds its capacity alone, or the one element of a register, or that breaks a
  // rule, is infinitely expensive.
  const auto capacity = graph().capacity_of(edge);
  const double most = residence.latch ? static_cast<double>(width.count())
                      : capacity      ? graph().capacities()[*capacity].bits
                                      : kInfinity;
  const std::vector<ExtentRule>& rules = graph().rules().extents;
  const bool is_ruled =
      !residence.latch && std::any_of(rules.begin(), rules.end(), [&](const ExtentRule& rule) {
        return rule.level == residence.level && rule.tensor == edge.tensor;
      });
  for (std::size_t tile = 0; tile < bits.size(); ++tile) {
    const bool fits = bits[tile] <= most;
    if (!fits || (is_ruled && !allows(edge.tensor, residence, tile))) {
      bits[tile] = kInfinity;
    }
  }
  return bits;
}

std::vector<double> PerfectCosts::make_plain(std::size_t edge) {
  const std::size_t tiles = lattice().size();
  Charger charger{*this, coefficients(edge)};
  charger.begin(Step{});
  const std::vector<double>& stored = bits(edge);
  std::vector<double> costs(components() * tiles, 0.0);
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    if (stored[tile] < kInfinity) {
      charger.charge(tile, &costs[tile], tiles);
    } else {
      costs[tile] = kInfinity;
    }
  }
  return costs;
}

std::vector<double> PerfectCosts::make_sliding(std::size_t edge, DimId dim) {
  Charger charger{*this, coefficients(edge)};
  const std::vector<double>& stored = bits(edge);
  const bool slides = graph().slides(graph().edges()[edge]);
  const std::vector<Lattice::Loop>& runs = lattice().runs(dim);
  const std::size_t rests = lattice().rests(dim);
  std::vector<double> costs(components() * runs.size() * rests, 0.0);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Step step = slides ? Step{index_of(dim), lattice().high(dim, runs[r].from)} : Step{};
    charger.begin(step);
    for (std::size_t rest = 0; rest < rests; ++rest) {
      const std::size_t tile = lattice().from_rest(dim, rest, runs[r].to);
      double* out = &costs[r * rests + rest];
      if (stored[tile] < kInfinity) {
        charger.charge(tile, out, runs.size() * rests);
      } else {
        *out = kInfinity;
      }
    }
  }
  return costs;
}

std::vector<double> PerfectCosts::make_last(std::size_t edge) {
  std::vector<double> costs(components(), 0.0);
  const Coefficients& of = coefficients(edge);
  charge(of, visits(of.use.tensor)[0], 0, Step{}, costs.data(), 1);
  return costs;
}

}  // namespace mapsim::check
