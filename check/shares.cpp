// SPDX-License-Identifier: Apache-2.0
#include "check/shares.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "check/geometry.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Coordinates of a window over tiles of these extents of its two dims. Of tiles that do not lie
// together no fewer than of unit strides.
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

BoundaryUse boundary_of(const Graph& graph, const BoundaryEdge& edge, Tracked tracked) {
  const Problem& problem = graph.problem();
  const Tensor& tensor = problem.workload().tensors[edge.tensor];
  const Residence& outer = graph.residences(edge.tensor)[edge.outer];
  const bool mac = edge.inner == BoundaryEdge::kMac;
  const Residence inner = mac ? Residence{} : graph.residences(edge.tensor)[edge.inner];
  const bool has_child = !mac && !inner.latch;
  BoundaryUse made;
  made.tensor = edge.tensor;
  made.slides = inner.latch || (has_child && problem.arch().levels[inner.level].sliding);
  made.above = mac ? graph.used().size() : inner.above;
  made.crossed = std::min(edge.crossed, made.above);
  made.outer_fanouts = outer.above;
  made.distinct = 1;
  made.returns = edge.tensor == problem.workload().output();
  for (const Rank& rank : tensor.ranks) {
    made.distinct *= static_cast<double>(count_coordinates(rank, bounds_of(problem.workload())));
    made.returns = made.returns && rank.terms.size() < 2;
  }
  made.inner.assign(made.above, Use::kSum);
  made.busy_inner.assign(made.above, Use::kFirst);
  made.outer = made.inner;
  for (std::size_t f = outer.above; f < made.above; ++f) {
    made.outer[f] = problem.is_merged(graph.used()[f], edge.tensor) ? Use::kMerge : Use::kSum;
  }
  made.busy_outer = made.outer;
  std::fill_n(made.busy_outer.begin(), outer.above, Use::kFirst);
  Boundary boundary{edge.tensor, outer.level, std::nullopt, outer.final, made.distinct};
  if (has_child) {
    boundary.child = inner.level;
    made.tile_width =
        static_cast<double>((inner.final ? tensor.bits : tensor.partial_bits).count());
  }
  made.cost = BoundaryCost{problem, boundary, graph.ports(), tracked};
  return made;
}

// A tile of r elements out of up to T that parallel loops split, whose instances all work where it
// is as large as the loops before left it: at least `busy` of them then, and otherwise as many as
// each block's share, since no block is larger than that of T. So r times the least of both rates.
std::int64_t least_visits(const std::vector<Spread>& spreads, DimId d, std::int64_t size,
                          std::int64_t extent, std::size_t crossed, const std::vector<Use>& uses) {
  std::vector<std::int64_t> loops;  // still to come, each instance counted
  std::int64_t shared = 1;          // instances whose tiles are one visit
  for (std::size_t f = 0; f < uses.size(); ++f) {
    if (f < crossed) {
      shared *= uses[f] == Use::kSum ? 1 : spreads[f].factor(d);
      continue;
    }
    for (const auto& [dim, instances] : spreads[f].loops) {
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

Shares::Shares(const Graph& graph, const ExtentBins& bins, Tracked tracked)
    : graph_{graph},
      bins_{bins},
      tracked_{tracked},
      components_{resources(tracked, graph.ports().size())} {
  for (const BoundaryEdge& edge : graph.edges()) {
    boundaries_.push_back(boundary_of(graph, edge, tracked));
  }
  for (const Tensor& tensor : graph.problem().workload().tensors) {
    for (const Rank& rank : tensor.ranks) {
      std::vector<std::uint32_t>& index = index_[&rank];
      index.assign(bins.size(), 0);
      for (const Term& term : rank.terms) {
        const std::size_t count = bins.count(term.dim);
        bins.sweep(term.dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
          for (std::size_t tile = first; tile < last; ++tile) {
            index[tile] = static_cast<std::uint32_t>(index[tile] * count + bin);
          }
        });
      }
    }
  }
}

// At most how many distinct sums instances meet, over all or the first one; without windows.
double Shares::met(const BoundaryUse& of, std::size_t fanouts, bool first) const {
  const DimSet relevant = graph_.problem().workload().tensors[of.tensor].dims();
  double met = of.distinct;
  for (std::size_t f = 0; f < fanouts; ++f) {
    for (const auto& [dim, instances] : bins_.spreads()[f].loops) {
      const auto factor = static_cast<double>(instances);
      met = relevant.contains(dim) ? (first ? met / factor : met) : first ? met : met * factor;
    }
  }
  return met;
}

// Every step of the loops over a window's dims moves what instances have together then. Tiles of at
// most so many elements, all together as many as the dim has, have the fewest coordinates if they
// are as large as can be: each further element of a tile brings no more than the one before.
void Shares::multiply_window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                             std::optional<DimId> run, std::vector<double>& values) const {
  const std::array<DimId, 2> dims{rank.terms[0].dim, rank.terms[1].dim};
  bool apart = false;
  std::array<std::vector<std::int64_t>, 2> together;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t bin = 0; bin < bins_.count(dims[i]); ++bin) {
      std::int64_t extent = bins_.high(dims[i], bin);
      for (std::size_t f = 0; f < uses.size(); ++f) {
        const std::int64_t factor = bins_.spreads()[f].factor(dims[i]);
        if (f < of.crossed && uses[f] == Use::kMerge) {
          extent *= factor;
          apart = apart || factor > 1;
        } else if (f >= of.crossed && uses[f] != Use::kMerge && run != dims[i]) {
          extent = bins_.spreads()[f].block(dims[i], extent);
        }
      }
      together[i].push_back(std::min(extent, bins_.bound(dims[i])));
    }
  }
  const std::array<std::int64_t, 2> bounds{bins_.bound(dims[0]), bins_.bound(dims[1])};
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

// At least so many elements pass an end, per tile from the smallest on.
std::vector<double> Shares::volumes(const BoundaryUse& of, const std::vector<Use>& uses,
                                    std::optional<DimId> run, std::size_t tiles) const {
  const Workload& workload = graph_.problem().workload();
  const Tensor& tensor = workload.tensors[of.tensor];
  const DimSet relevant = tensor.dims();
  double constant = 1;  // the first instance's share is the largest
  for (std::size_t f = 0; f < uses.size(); ++f) {
    for (const auto& [dim, instances] : bins_.spreads()[f].loops) {
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
    if (relevant.contains(d) || bins_.count(d) == 1) {
      continue;
    }
    std::vector<double> visits;
    for (std::size_t bin = 0; bin < bins_.count(d); ++bin) {
      visits.push_back(static_cast<double>(
          least_visits(bins_.spreads(), d, bins_.bound(d), bins_.high(d, bin), of.crossed, uses)));
    }
    bins_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < std::min(last, tiles); ++tile) {
        values[tile] *= visits[bin];
      }
    });
  }
  return values;
}

std::vector<double> Shares::costs(std::size_t edge, std::optional<DimId> run,
                                  const std::vector<double>& bits) const {
  const BoundaryUse& of = boundaries_[edge];
  const std::size_t tiles = bits.size();
  const std::vector<double> outer = volumes(of, of.outer, run, tiles);
  const std::vector<double> inner = volumes(of, of.inner, run, tiles);
  const bool ports = tracked_.ports;
  const std::vector<double> busy_outer = ports ? volumes(of, of.busy_outer, run, tiles) : outer;
  const std::vector<double> busy_inner = ports ? volumes(of, of.busy_inner, run, tiles) : inner;
  const double met_outer = met(of, of.outer_fanouts, false);
  const double met_inner = met(of, of.above, false);
  const double met_busy_outer = met(of, of.outer_fanouts, true);
  const double met_busy_inner = met(of, of.above, true);
  std::vector<double> costs(components_ * tiles, 0.0);
  BoundaryFlow flow;
  flow.is_bound = true;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    flow.parent = of.flow(outer[tile], met_outer);
    flow.child = of.flow(inner[tile], met_inner);
    flow.busy_parent = of.flow(busy_outer[tile], met_busy_outer);
    flow.busy_child = of.flow(busy_inner[tile], met_busy_inner);
    flow.tile = bits[tile] / of.tile_width;
    if (!of.cost.charge(flow, &costs[tile], tiles)) {
      costs[tile] = kInfinity;
    }
  }
  return costs;
}

std::vector<double> Shares::plain(std::size_t edge, const std::vector<double>& bits) const {
  return costs(edge, std::nullopt, bits);
}

// The tile in which the run ends may be the smallest.
std::vector<double> Shares::sliding(std::size_t edge, DimId dim) const {
  return costs(edge, dim, std::vector<double>(bins_.size(), 0.0));
}

// Extents of the smallest tile of a bin behind the fanouts that the edge waits for; 0: the
// rules forbid them.
std::vector<std::int64_t> Shares::tile_extents(const BoundaryEdge& of, DimId d) const {
  const Residence& residence = graph_.residences(of.tensor)[of.inner];
  std::vector<std::int64_t> extents;
  for (std::size_t bin = 0; bin < bins_.count(d); ++bin) {
    std::int64_t extent = bins_.low(d, bin);
    for (std::size_t f = of.crossed; f < residence.above; ++f) {
      extent = bins_.spreads()[f].block(d, extent);
    }
    const bool known = bins_.low(d, bin) == bins_.high(d, bin) && !residence.latch;
    bool allowed = true;
    for (const ExtentRule& rule : graph_.rules().extents) {
      allowed = allowed && (!known || rule.level != residence.level || rule.tensor != of.tensor ||
                            rule.dim != d || rule.extents.contains(extent));
    }
    extents.push_back(allowed ? extent : 0);
  }
  return extents;
}

std::vector<double> Shares::bits(std::size_t edge) const {
  const BoundaryEdge& of = graph_.edges()[edge];
  const Residence& residence = graph_.residences(of.tensor)[of.inner];
  const Tensor& tensor = graph_.problem().workload().tensors[of.tensor];
  const auto width =
      static_cast<double>((residence.final ? tensor.bits : tensor.partial_bits).count());
  const auto room = graph_.room_of(of);
  const double most = residence.latch ? width : room ? graph_.rooms()[*room].bits : kInfinity;
  std::vector<double> bits(bins_.size(), width);
  for (const Rank& rank : tensor.ranks) {
    // Points per tile of the rank, the first dim's bins outermost.
    std::vector<PerDim<std::int64_t>> tiles{PerDim<std::int64_t>(bins_.dims(), 1)};
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

std::vector<double> Shares::end(const std::vector<std::size_t>& edges) const {
  std::vector<double> sum(components_, 0.0);
  for (const std::size_t edge : edges) {
    const std::vector<double> one = costs(edge, std::nullopt, {0.0});
    for (std::size_t k = 0; k < components_; ++k) {
      sum[k] += one[k];
    }
  }
  const Problem& problem = graph_.problem();
  sum[0] += problem.mac_energy().count() * static_cast<double>(problem.macs());
  return sum;
}

}  // namespace mapsim::check
