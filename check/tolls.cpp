// SPDX-License-Identifier: Apache-2.0
#include "check/tolls.hpp"

#include <algorithm>

#include "check/toll_terms.hpp"

namespace mapsim::check {

EdgeCosts::EdgeCosts(const Graph& graph, const Case& at, const Tiles& tiles, Tracked tracked)
    : graph_{graph},
      at_{at},
      tiles_{tiles},
      tracked_{tracked},
      components_{resources(tracked, graph.ports().size())},
      terms_(graph.edges().size()),
      plain_(graph.edges().size()),
      bits_(graph.edges().size()),
      trips_(graph.problem().workload().tensors.size()) {}
EdgeCosts::~EdgeCosts() = default;

// A rank whose dim w slides in a loop from E' to T: of the E/T tiles along w the first of each run
// is fetched whole, the others gain what the step before did not have.
double EdgeCosts::volume(const Volume& of, double trips, std::size_t tile, const Step& step) const {
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

// Of what the networks between the ends add up and hand on.
double EdgeCosts::networks_pj(const Terms& of, double entering, double trips, std::size_t tile,
                              const Step& step) const {
  double energy = 0;
  NetworkFlow flow{entering};
  for (const Network& network : of.networks) {
    flow.leaving =
        network.merges ? volume(network.outer.crossing, trips, tile, step) : flow.entering;
    flow.returning = of.output && network.energy.hop_pj > 0
                         ? flow.leaving - volume(network.outer.met, 1, tile, Step{})
                         : 0;
    flow.group_size = network.group_size;
    flow.route = network.route;
    energy += of.cost.network_pj(network.energy, flow);
    flow.entering = flow.leaving;
  }
  return energy;
}

// Adds to out[k * stride]. Sums come back but for the first time that an instance meets the
// element.
void EdgeCosts::pay(const Terms& of, double trips, std::size_t tile, Step step, double* out,
                    std::size_t stride) const {
  step = of.slides ? step : Step{};
  const auto find = [&](const End& end) {
    EndFlow at{volume(end.crossing, trips, tile, step)};
    at.returning = of.output ? at.crossing - volume(end.met, 1, tile, Step{}) : 0;
    return at;
  };
  BoundaryFlow flow;
  flow.parent = find(of.outer);
  if (!of.cost.admits(flow.parent.crossing)) {
    for (std::size_t k = 0; k < components_; ++k) {
      out[k * stride] = kInfinity;
    }
    return;
  }
  if (of.has_child || !of.networks.empty()) {
    flow.child = find(of.inner);
    flow.networks_pj = networks_pj(of, flow.child.crossing, trips, tile, step);
  }
  if (of.cost.tracks_parent()) {
    flow.busy_parent = find(of.busy_outer);
  }
  if (of.cost.tracks_child()) {
    flow.busy_child = find(of.busy_inner);
  }
  flow.tile = of.tile_bits != nullptr ? (*of.tile_bits)[tile] / of.tile_width : 0;
  of.cost.charge(flow, out, stride);
}

bool EdgeCosts::allows(TensorId t, const Residence& residence, std::size_t tile) const {
  PerDim<std::int64_t> left(tiles_.dims());
  PerDim<std::int64_t> extents(tiles_.dims());
  for (const DimId d : extents.ids()) {
    left[d] = tiles_.extent(d, tile);
    extents[d] = left[d] * at_.split(residence.above, d);
  }
  return allows_extents(graph_.rules(), residence.level, t, extents, left);
}

// values[tile] *= distinct coordinates of the rank in the tile of an instance below `above`
// fanouts.
void EdgeCosts::multiply_points(const BoundaryEdge& edge, std::size_t r, std::size_t above,
                                std::vector<double>& values) {
  const Rank& rank = graph_.problem().workload().tensors[edge.tensor].ranks[r];
  if (rank.terms.size() > 1) {
    const std::vector<std::uint32_t>& index = rank_index(edge.tensor, r);
    const std::vector<double>& points = table(edge.tensor, r, -2, {edge.crossed, above, 0, true});
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

const std::vector<double>& EdgeCosts::bits(std::size_t index) {
  std::vector<double>& bits = bits_[index];
  if (bits.empty()) {
    const BoundaryEdge& edge = graph_.edges()[index];
    const Residence& residence = graph_.residences(edge.tensor)[edge.inner];
    const Tensor& tensor = graph_.problem().workload().tensors[edge.tensor];
    const Bits width = residence.final ? tensor.bits : tensor.partial_bits;
    bits.assign(tiles_.size(), static_cast<double>(width.count()));
    for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
      multiply_points(edge, r, residence.above, bits);
    }
    // What does not fit its room alone, or a latch of one element, or the rules, does not exist.
    const auto room = graph_.room_of(edge);
    const double most = residence.latch ? static_cast<double>(width.count())
                        : room          ? graph_.rooms()[*room].bits
                                        : kInfinity;
    const std::vector<ExtentRule>& rules = graph_.rules().extents;
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
  }
  return bits;
}

const std::vector<double>& EdgeCosts::plain(std::size_t index) {
  std::vector<double>& edge_costs = plain_[index];
  if (edge_costs.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.edges()[index].tensor);
    const std::vector<double>& room = bits(index);
    edge_costs.assign(components_ * tiles_.size(), 0.0);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      if (room[tile] < kInfinity) {
        pay(of, times[tile], tile, Step{}, &edge_costs[tile], tiles_.size());
      } else {
        edge_costs[tile] = kInfinity;
      }
    }
  }
  return edge_costs;
}

const std::vector<double>& EdgeCosts::sliding(std::size_t index, DimId dim) {
  std::vector<double>& edge_costs = sliding_[{index, index_of(dim)}];
  if (edge_costs.empty()) {
    const Terms& of = terms(index);
    const std::vector<double>& times = trips(graph_.edges()[index].tensor);
    const std::vector<double>& room = bits(index);
    const std::vector<Tiles::Run>& runs = tiles_.runs(dim);
    const std::size_t rests = tiles_.size() / tiles_.divisors(dim).size();
    edge_costs.assign(components_ * runs.size() * rests, 0.0);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Step step{index_of(dim), tiles_.divisors(dim)[runs[r].from]};
      for (std::size_t rest = 0; rest < rests; ++rest) {
        const std::size_t tile = tiles_.from_rest(dim, rest, runs[r].to);
        double* out = &edge_costs[r * rests + rest];
        if (room[tile] < kInfinity) {
          pay(of, times[tile], tile, step, out, runs.size() * rests);
        } else {
          *out = kInfinity;
        }
      }
    }
  }
  return edge_costs;
}

std::vector<double> EdgeCosts::end(const std::vector<std::size_t>& edges) {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t index : edges) {
    std::vector<double> one(components_, 0.0);
    pay(terms(index), trips(graph_.edges()[index].tensor)[0], 0, Step{}, one.data(), 1);
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Problem& problem = graph_.problem();
  sum[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
  return sum;
}

}  // namespace mapsim::check
