// SPDX-License-Identifier: Apache-2.0
#include "check/traffic_bounds.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "check/geometry.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Coordinates of a window over tiles with these extents of its two dims. If the tiles lie apart,
// they have at least as many as with unit strides.
double count_points(const Rank& rank, std::int64_t a, std::int64_t b, bool apart) {
  if (a == 0 || b == 0) {
    return 0;
  }
  if (apart) {
    return static_cast<double>(a + b - 1);
  }
  PerDim<std::int64_t> extents(kMaxDims, 1);
  extents[rank.terms[0].dim] = a;
  extents[rank.terms[1].dim] = b;
  return static_cast<double>(count_coordinates(rank, extents));
}

}  // namespace

// Consider a tile with r of up to T elements that parallel loops split. Where the loops before left
// it as large as possible, at least `busy` instances work on it. Elsewhere each block has at most
// its share of T. So the visits are at least r times the least of both rates.
std::int64_t least_visits(const std::vector<ParallelLoops>& fanouts, DimId d, std::int64_t size,
                          std::int64_t extent, std::size_t crossed, const std::vector<Use>& uses) {
  std::vector<std::int64_t> loops;  // still to come, each instance counts
  std::int64_t shared = 1;          // instances whose tiles are one visit
  for (std::size_t f = 0; f < uses.size(); ++f) {
    if (f < crossed) {
      shared *= uses[f] == Use::kSum ? 1 : fanouts[f].factor(d);
      continue;
    }
    for (const auto& [dim, instances] : fanouts[f].loops) {
      if (dim == d && uses[f] == Use::kSum) {
        loops.push_back(instances);
      }
    }
  }
  std::int64_t block = extent;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i <= loops.size(); ++i) {
    std::int64_t busy = 1;
    for (std::size_t k = loops.size(); k-- > i;) {
      busy = (loops[k] - 1) * busy + 1;
    }
    least = std::min(least, ceil_div(size * busy, shared * block));
    block = i < loops.size() ? ceil_div(block, loops[i]) : block;
  }
  return least;
}

TrafficBounds::TrafficBounds(const Graph& graph, const Lattice& lattice, Tracked tracked)
    : EdgeCosts{graph, lattice, tracked} {
  for (const BoundaryEdge& edge : graph.edges()) {
    boundaries_.push_back(boundary_of(graph, edge, tracked));
  }
  for (const Tensor& tensor : graph.problem().workload().tensors) {
    for (const Rank& rank : tensor.ranks) {
      index_[&rank] = index_tiles(lattice, rank);
    }
  }
}

// An upper bound of the distinct sums that instances meet, over all or for the first one; without
// windows.
double TrafficBounds::met(const BoundaryUse& of, std::size_t fanouts, bool first) const {
  const DimSet relevant = graph().problem().workload().tensors[of.tensor].dims();
  double met = of.distinct;
  for (std::size_t f = 0; f < fanouts; ++f) {
    for (const auto& [dim, instances] : lattice().fanouts()[f].loops) {
      const auto factor = static_cast<double>(instances);
      met = relevant.contains(dim) ? (first ? met / factor : met) : first ? met : met * factor;
    }
  }
  return met;
}

// Every step of the loops over a window's dims moves the union of the instances that share. Tiles
// with a given total, none larger than a limit, have the fewest coordinates if they are as large as
// possible, because each further element of a tile adds no more coordinates than the one before.
void TrafficBounds::multiply_window(const BoundaryUse& of, const Rank& rank,
                                    const std::vector<Use>& uses, std::optional<DimId> run,
                                    std::vector<double>& values) const {
  const std::array<DimId, 2> dims{rank.terms[0].dim, rank.terms[1].dim};
  bool apart = false;
  std::array<std::vector<std::int64_t>, 2> together;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t bin = 0; bin < lattice().count(dims[i]); ++bin) {
      std::int64_t extent = lattice().high(dims[i], bin);
      for (std::size_t f = 0; f < uses.size(); ++f) {
        const std::int64_t factor = lattice().fanouts()[f].factor(dims[i]);
        if (f < of.crossed && uses[f] == Use::kMerge) {
          extent *= factor;
          apart = apart || factor > 1;
        } else if (f >= of.crossed && uses[f] != Use::kMerge && run != dims[i]) {
          extent = lattice().fanouts()[f].block(dims[i], extent);
        }
      }
      together[i].push_back(std::min(extent, lattice().bound(dims[i])));
    }
  }
  const std::array<std::int64_t, 2> bounds{lattice().bound(dims[0]), lattice().bound(dims[1])};
  std::vector<double> table;
  for (const std::int64_t a : together[0]) {
    for (const std::int64_t b : together[1]) {
      const auto along = [&](std::int64_t x) {
        return static_cast<double>(bounds[1] / b) * count_points(rank, x, b, apart) +
               count_points(rank, x, bounds[1] % b, apart);
      };
      table.push_back(static_cast<double>(bounds[0] / a) * along(a) + along(bounds[0] % a));
    }
  }
  const std::vector<std::uint32_t>& index = index_.at(&rank);
  for (std::size_t tile = 0; tile < values.size(); ++tile) {
    values[tile] *= table[index[tile]];
  }
}

// A lower bound of the elements that cross at one end, per tile.
std::vector<double> TrafficBounds::volumes(const BoundaryUse& of, const std::vector<Use>& uses,
                                           std::optional<DimId> run, std::size_t tiles) const {
  const Workload& workload = graph().problem().workload();
  const Tensor& tensor = workload.tensors[of.tensor];
  const DimSet relevant = tensor.dims();
  double constant = 1;  // the first instance's share is the largest
  for (std::size_t f = 0; f < uses.size(); ++f) {
    for (const auto& [dim, instances] : lattice().fanouts()[f].loops) {
      constant /=
          uses[f] == Use::kFirst && relevant.contains(dim) ? static_cast<double>(instances) : 1.0;
    }
  }
  std::vector<double> values(tiles, constant);
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 2) {
      multiply_window(of, rank, uses, run, values);
    } else {
      const auto once = static_cast<double>(count_coordinates(rank, bounds_of(workload)));
      std::for_each(values.begin(), values.end(), [once](double& x) { x *= once; });
    }
  }
  for (const DimId d : workload.dims.ids()) {
    if (relevant.contains(d) || lattice().count(d) == 1) {
      continue;
    }
    std::vector<double> visits;
    for (std::size_t bin = 0; bin < lattice().count(d); ++bin) {
      visits.push_back(static_cast<double>(least_visits(lattice().fanouts(), d, lattice().bound(d),
                                                        lattice().high(d, bin), of.crossed, uses)));
    }
    lattice().sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < std::min(last, tiles); ++tile) {
        values[tile] *= visits[bin];
      }
    });
  }
  return values;
}

std::vector<double> TrafficBounds::costs(std::size_t edge, std::optional<DimId> run,
                                         const std::vector<double>& bits) const {
  const BoundaryUse& of = boundaries_[edge];
  const std::size_t tiles = bits.size();
  const std::vector<double> outer = volumes(of, of.outer, run, tiles);
  const std::vector<double> inner = volumes(of, of.inner, run, tiles);
  const bool ports = tracked().ports;
  const std::vector<double> busy_outer = ports ? volumes(of, of.busy_outer, run, tiles) : outer;
  const std::vector<double> busy_inner = ports ? volumes(of, of.busy_inner, run, tiles) : inner;
  const double met_outer = met(of, of.outer_fanouts, false);
  const double met_inner = met(of, of.above, false);
  const double met_busy_outer = met(of, of.outer_fanouts, true);
  const double met_busy_inner = met(of, of.above, true);
  std::vector<double> costs(components() * tiles, 0.0);
  BoundaryFlow flow;
  flow.is_bound = true;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    flow.parent = of.flow(outer[tile], met_outer);
    flow.child = of.flow(inner[tile], met_inner);
    flow.busy_parent = of.flow(busy_outer[tile], met_busy_outer);
    flow.busy_child = of.flow(busy_inner[tile], met_busy_inner);
    flow.tile = bits[tile] / of.tile_width;
    flow.networks_pj = of.additions_pj(inner[tile], outer[tile]);
    if (!of.cost.charge(flow, &costs[tile], tiles)) {
      costs[tile] = kInfinity;
    }
  }
  return costs;
}

std::vector<double> TrafficBounds::make_plain(std::size_t edge) {
  const std::vector<double>& stored = bits(edge);
  std::vector<double> found = costs(edge, std::nullopt, stored);
  for (std::size_t tile = 0; tile < stored.size(); ++tile) {
    found[tile] = stored[tile] < kInfinity ? found[tile] : kInfinity;
  }
  return found;
}

// For a tile right below a loop over `dim`, by the start of the loop. The loop may end at any
// smaller tile, the smallest included, so capacities do not limit it here.
std::vector<double> TrafficBounds::make_sliding(std::size_t edge, DimId dim) {
  const std::vector<double> by_start = costs(edge, dim, std::vector<double>(lattice().size(), 0.0));
  const std::vector<Lattice::Loop>& runs = lattice().runs(dim);
  const std::size_t rests = lattice().rests(dim);
  std::vector<double> found;
  found.reserve(components() * runs.size() * rests);
  for (std::size_t k = 0; k < components(); ++k) {
    for (const Lattice::Loop& run : runs) {
      for (std::size_t rest = 0; rest < rests; ++rest) {
        found.push_back(by_start[k * lattice().size() + lattice().from_rest(dim, rest, run.from)]);
      }
    }
  }
  return found;
}

std::vector<double> TrafficBounds::make_last(std::size_t edge) {
  return costs(edge, std::nullopt, {0.0});
}

// The extents of the smallest tile of a bin behind the fanouts past which the keep is deferred; 0:
// rules forbid them.
std::vector<std::int64_t> TrafficBounds::tile_extents(const BoundaryEdge& of, DimId d) const {
  const Residence& residence = graph().residences(of.tensor)[of.inner];
  std::vector<std::int64_t> extents;
  for (std::size_t bin = 0; bin < lattice().count(d); ++bin) {
    std::int64_t extent = lattice().low(d, bin);
    for (std::size_t f = of.crossed; f < residence.above; ++f) {
      extent = lattice().fanouts()[f].block(d, extent);
    }
    const bool known = lattice().low(d, bin) == lattice().high(d, bin) && !residence.latch;
    bool allowed = true;
    for (const ExtentRule& rule : graph().rules().extents) {
      allowed = allowed && (!known || rule.level != residence.level || rule.tensor != of.tensor ||
                            rule.dim != d || rule.extents.contains(extent));
    }
    extents.push_back(allowed ? extent : 0);
  }
  return extents;
}

std::vector<double> TrafficBounds::make_bits(std::size_t edge) {
  const BoundaryEdge& of = graph().edges()[edge];
  const Residence& residence = graph().residences(of.tensor)[of.inner];
  const Tensor& tensor = graph().problem().workload().tensors[of.tensor];
  const auto width =
      static_cast<double>((residence.final ? tensor.bits : tensor.partial_bits).count());
  const auto capacity = graph().capacity_of(of);
  const double most = residence.latch ? width
                      : capacity      ? graph().capacities()[*capacity].bits
                                      : kInfinity;
  std::vector<double> bits(lattice().size(), width);
  for (const Rank& rank : tensor.ranks) {
    // Points per tile of the rank; bins of the first dim vary slowest.
    std::vector<PerDim<std::int64_t>> tiles{PerDim<std::int64_t>(lattice().dims(), 1)};
    for (const Term& term : rank.terms) {
      std::vector<PerDim<std::int64_t>> longer;
      const std::vector<std::int64_t> along = tile_extents(of, term.dim);
      for (const PerDim<std::int64_t>& tile : tiles) {
        for (const std::int64_t extent : along) {
          longer.push_back(tile);
          longer.back()[term.dim] = extent;
        }
      }
      tiles = std::move(longer);
    }
    std::vector<double> points;
    for (const PerDim<std::int64_t>& tile : tiles) {
      const bool forbidden = std::find(tile.begin(), tile.end(), 0) != tile.end();
      points.push_back(forbidden ? kInfinity : static_cast<double>(count_coordinates(rank, tile)));
    }
    const std::vector<std::uint32_t>& index = index_.at(&rank);
    for (std::size_t tile = 0; tile < bits.size(); ++tile) {
      bits[tile] *= points[index[tile]];
    }
  }
  for (double& taken : bits) {
    taken = taken <= most ? taken : kInfinity;
  }
  return bits;
}

}  // namespace mapsim::check
