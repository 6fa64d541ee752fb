// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/least_costs.hpp"

#include <algorithm>
#include <array>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"

namespace mapsim::imperfect {

using exact::kInfinity;
using exact::Sharing;

namespace {

// A lower bound of the instances that work on the largest piece, of the parallel loops from `first`
// inwards.
std::int64_t busy_of(const std::vector<std::int64_t>& split, std::size_t first) {
  std::int64_t busy = 1;
  for (std::size_t i = split.size(); i-- > first;) {
    busy = (split[i] - 1) * busy + 1;
  }
  return busy;
}

// Distinct coordinates of a window of two dims, summed over tiles with these extents. If the blocks
// of instances lie apart, the coordinates are at least those of a window with unit strides whose
// blocks do not.
double window_points(const Rank& rank, const std::array<std::int64_t, 2>& bounds,
                     const std::array<std::int64_t, 2>& extents, bool apart) {
  const auto points = [&](std::int64_t a, std::int64_t b) {
    if (apart) {
      return a + b - 1;
    }
    PerDim<std::int64_t> tile(kMaxDims, 1);
    tile[rank.terms[0].dim] = a;
    tile[rank.terms[1].dim] = b;
    return rank_points(rank, tile);
  };
  const auto over_second = [&](std::int64_t a) {
    const std::int64_t rest = bounds[1] % extents[1];
    return bounds[1] / extents[1] * points(a, extents[1]) + (rest > 0 ? points(a, rest) : 0);
  };
  const std::int64_t rest = bounds[0] % extents[0];
  return static_cast<double>(bounds[0] / extents[0] * over_second(extents[0]) +
                             (rest > 0 ? over_second(rest) : 0));
}

}  // namespace

LeastCosts::LeastCosts(const exact::StateGraph& graph, const ExtentLattice& tiles,
                       const std::vector<BoundaryCoefficients>& coefficients,
                       std::size_t components, const Deadline& deadline)
    : graph_{graph},
      tiles_{tiles},
      coefficients_{coefficients},
      components_{components},
      held_{&deadline},
      projections_(graph.problem().workload().tensors.size()),
      footprint_projections_(projections_.size()),
      footprints_(coefficients.size()) {}

void LeastCosts::grow(Row& row, std::size_t size, double value) { held_.fill(row, size, value); }

void LeastCosts::prepare() {
  for (std::size_t stage = 0; stage < graph_.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph_.residencies(); ++residency) {
      if (!graph_.reachable(stage, residency)) {
        continue;
      }
      for (const exact::StateGraph::KeepMove& keep : graph_.keep_moves(stage, residency)) {
        footprint(keep.edge);
        costs(keep.edge, SlidingLoop::kNone);
      }
      for (const auto& sliding_edge : graph_.sliding_edges(stage, residency)) {
        for (const std::size_t edge : sliding_edge.edges) {
          footprint(edge);
          costs(edge, index_of(sliding_edge.dim));
        }
      }
      if (const auto& end = graph_.end(residency); end && stage + 1 == graph_.stages()) {
        for (const std::size_t edge : *end) {
          costs(edge, SlidingLoop::kNone);
        }
      }
    }
  }
}

void LeastCosts::forget_tables() {
  costs_.clear();
  flows_.clear();
}

// The extents that rules allow for the tile of an edge; nullopt: none.
std::optional<Allowed> LeastCosts::allowed(std::size_t edge, DimId d) const {
  const exact::BoundaryEdge& of = graph_.edges()[edge];
  std::optional<Allowed> all = Allowed{};
  if (of.to == exact::BoundaryEdge::kMac || graph_.residences(of.tensor)[of.to].latch) {
    return all;
  }
  for (const ExtentRule& rule : graph_.space().constraints().extents) {
    if (rule.level == graph_.residences(of.tensor)[of.to].level && rule.tensor == of.tensor &&
        rule.dim == d) {
      all = all ? both(*all, rule.extents) : all;
    }
  }
  return all;
}

// The bits of a tile depend on its tensor's dims only.
const Projection& LeastCosts::footprint_projection(TensorId t) {
  return make_projection(footprint_projections_[t], graph_.problem().workload().tensors[t].dims());
}

const LeastCosts::Row& LeastCosts::footprint(std::size_t edge) {
  Row& bits = footprints_[edge];
  if (!bits.empty()) {
    return bits;
  }
  const BoundaryCoefficients& coefficients = coefficients_[edge];
  const Projection& seen = footprint_projection(coefficients.tensor);
  grow(bits, seen.size(), coefficients.stored_bits);
  PerDim<std::vector<std::int64_t>> known(tiles_.dims());  // extents per bin; 0: it cannot cross
  for (const DimId d : known.ids()) {
    const std::optional<Allowed> rule = allowed(edge, d);
    for (std::size_t bin = 0; bin < tiles_.domain(d).size(); ++bin) {
      known[d].push_back(rule ? tiles_.least_behind(d, bin, coefficients.parent.crossed,
                                                    coefficients.fanouts, *rule)
                              : 0);
    }
  }
  for (const Rank& rank : graph_.problem().workload().tensors[coefficients.tensor].ranks) {
    PerDim<std::int64_t> extents(tiles_.dims(), 1);
    const auto points = [&] {
      const bool crosses = std::ranges::find(extents, 0) == extents.end();
      return crosses ? static_cast<double>(rank_points(rank, extents)) : kInfinity;
    };
    const DimId d = rank.terms.front().dim;
    if (rank.terms.size() == 1) {
      seen.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
        extents[d] = known[d][bin];
        const double here = points();
        for (std::size_t i = first; i < last; ++i) {
          bits[i] *= here;
        }
      });
    } else if (rank.terms.size() == 2) {
      multiply(seen, rank, bits, [&](std::size_t first, std::size_t second) {
        extents[d] = known[d][first];
        extents[rank.terms[1].dim] = known[rank.terms[1].dim][second];
        return points();
      });
    } else {
      for (std::size_t i = 0; i < seen.size(); ++i) {
        for (const Term& term : rank.terms) {
          extents[term.dim] = known[term.dim][seen.digit(term.dim, i)];
        }
        bits[i] *= points();
      }
    }
  }
  return bits;
}

LeastCosts::Table LeastCosts::bits(std::size_t edge) {
  return {footprint(edge).data(), &footprint_projection(coefficients_[edge].tensor)};
}

LeastCosts::Table LeastCosts::table(std::size_t edge, std::size_t slide, std::size_t component) {
  const Projection& seen = projection(coefficients_[edge].tensor);
  return {charged(edge, slide).data() + component * seen.size(), &seen};
}

void LeastCosts::keep_fitting(std::size_t edge, double* row) {
  const Table bits = this->bits(edge);
  const double most = limit(edge);
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    row[tile] = bits.at(tile) <= most ? row[tile] : kInfinity;
  }
}

// Elements along the dims that are alone in their rank; for the first instance its share.
double LeastCosts::constant(TensorId t, const Sharing& sharing) const {
  double points = 1;
  for (const Rank& rank : graph_.problem().workload().tensors[t].ranks) {
    for (const Term& term : rank.terms) {
      points *= rank.terms.size() == 1 ? static_cast<double>(tiles_.bound(term.dim)) : 1;
      for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
        if (sharing.uses[f] == LoopUse::kFirst) {
          points /= static_cast<double>(tiles_.factor(f, term.dim));
        }
      }
    }
  }
  return points;
}

// The distinct sums that instances meet in the whole run. Exact without windows.
double LeastCosts::met(TensorId t, const Sharing& sharing) const {
  double points = constant(t, sharing);
  const DimSet relevant = graph_.problem().workload().tensors[t].dims();
  for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
    for (const DimId d : tiles_.ids()) {
      if (!relevant.contains(d) && sharing.uses[f] == LoopUse::kSum) {
        points *= static_cast<double>(tiles_.factor(f, d));
      }
    }
  }
  return points;
}

// Instances of fanouts above the loops that share a visit of their tiles.
std::int64_t LeastCosts::together(DimId d, const Sharing& sharing) const {
  std::int64_t together = 1;
  for (std::size_t f = 0; f < std::min(sharing.crossed, sharing.uses.size()); ++f) {
    together *= sharing.uses[f] == LoopUse::kSum ? 1 : tiles_.factor(f, d);
  }
  return together;
}

// The least number of visits: D over the elements that one visit covers. Fanouts that are not
// crossed yet may have some of their parallel loops above, and some below, the loops that lead to
// the tile. Above, a block is no larger than its share of the tile. Below, the largest piece keeps
// at least busy_of() instances at work, since the last instance of each loop has at least one
// working instance below it. The least over all such positions counts.
std::int64_t LeastCosts::visits(DimId d, std::int64_t extent, const Sharing& sharing) const {
  const std::int64_t together = this->together(d, sharing);
  std::vector<std::int64_t> split;  // instances per parallel loop, outermost first
  for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
    if (f >= sharing.crossed && sharing.uses[f] == LoopUse::kSum) {
      for (const auto& loop : tiles_.unrolls(f)) {
        if (loop.dim == d) {
          split.push_back(loop.factor);
        }
      }
    }
  }
  std::int64_t block = extent;
  std::int64_t least = ceil_div(tiles_.bound(d) * busy_of(split, 0), together * block);
  for (std::size_t i = 0; i < split.size(); ++i) {
    block = ceil_div(block, split[i]);
    least = std::min(least, ceil_div(tiles_.bound(d) * busy_of(split, i + 1), together * block));
  }
  return least;
}

void LeastCosts::multiply_visits(TensorId t, const Sharing& sharing, Row& flow) {
  const DimSet relevant = graph_.problem().workload().tensors[t].dims();
  for (const DimId d : tiles_.ids()) {
    if (relevant.contains(d) || tiles_.domain(d).size() == 1) {
      continue;
    }
    std::vector<double> times_of;  // by extent
    for (const std::int64_t extent : tiles_.domain(d)) {
      times_of.push_back(static_cast<double>(visits(d, extent, sharing)));
    }
    projection(t).sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const double times = times_of[bin];
      for (std::size_t tile = first; tile < last; ++tile) {
        flow[tile] *= times;
      }
    });
  }
}

// Points of a rank with a window, summed over tiles with these bins of its first two dims.
double LeastCosts::window(const Rank& rank, const Sharing& sharing, std::size_t slide,
                          const std::array<std::size_t, 2>& bins) const {
  if (rank.terms.size() > 2) {  // every point once
    return static_cast<double>(rank_points(rank, bounds_of(graph_.problem().workload())));
  }
  std::array<std::int64_t, 2> bounds{};
  std::array<std::int64_t, 2> extents{};
  bool apart = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const DimId d = rank.terms[i].dim;
    bounds[i] = tiles_.bound(d);
    extents[i] = tiles_.domain(d)[bins[i]];
    for (std::size_t f = 0; f < sharing.uses.size(); ++f) {
      const bool merged = sharing.uses[f] == LoopUse::kMerge;
      if (f < sharing.crossed && merged) {
        extents[i] *= tiles_.factor(f, d);
        apart = apart || tiles_.factor(f, d) > 1;
      } else if (f >= sharing.crossed && !merged && index_of(d) != slide) {
        extents[i] = ceil_div(extents[i], tiles_.factor(f, d));
      }
    }
    extents[i] = std::min(extents[i], bounds[i]);
  }
  return window_points(rank, bounds, extents, apart);
}

// Multiplies each tile's entry by a value for its extents (by index) along a window's two dims.
template <class Value>
void LeastCosts::multiply(const exact::TileIndex& tiles, const Rank& rank, Row& row,
                          const Value& value) const {
  const bool in_order = tiles.stride(rank.terms[0].dim) > tiles.stride(rank.terms[1].dim);
  const DimId outer = rank.terms[in_order ? 0 : 1].dim;
  const DimId inner = rank.terms[in_order ? 1 : 0].dim;
  std::vector<double> known(tiles_.domain(outer).size() * tiles_.domain(inner).size());
  const std::size_t width = tiles_.domain(inner).size();
  for (std::size_t k = 0; k < known.size(); ++k) {
    known[k] = in_order ? value(k / width, k % width) : value(k % width, k / width);
  }
  tiles.sweep(outer, [&](std::size_t index, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; tile < last;) {
      for (std::size_t i = 0; i < width; ++i) {
        for (const std::size_t end = tile + tiles.stride(inner); tile < end; ++tile) {
          row[tile] *= known[index * width + i];
        }
      }
    }
  });
}

// The elements that cross at one tile.
double LeastCosts::crossing(TensorId t, const Sharing& sharing, std::size_t slide, std::size_t tile,
                            const TileCounts& counts, const PerDim<TileCounts::Id>& known) const {
  const Tensor& tensor = graph_.problem().workload().tensors[t];
  double elements = constant(t, sharing);
  for (const DimId d : tiles_.ids()) {
    if (!tensor.dims().contains(d)) {
      const std::int64_t extent = tiles_.extent(d, tile);
      const std::int64_t counted = counts.least(d, known[d], extent * together(d, sharing));
      elements *= static_cast<double>(std::max(visits(d, extent, sharing), counted));
    }
  }
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() > 1) {
      elements *=
          window(rank, sharing, slide,
                 {tiles_.digit(rank.terms[0].dim, tile), tiles_.digit(rank.terms[1].dim, tile)});
    }
  }
  return elements;
}

// The elements that cross depend on the dims that the tensor does not have, and on the dims of its
// windows.
const Projection& LeastCosts::projection(TensorId t) {
  if (projections_[t]) {
    return *projections_[t];
  }
  const Workload& workload = graph_.problem().workload();
  DimSet dims;
  for (const DimId d : workload.dims.ids()) {
    if (!workload.tensors[t].dims().contains(d)) {
      dims.insert(d);
    }
  }
  for (const Rank& rank : workload.tensors[t].ranks) {
    for (std::size_t i = 0; i < 2 && rank.terms.size() > 1; ++i) {
      dims.insert(rank.terms[i].dim);
    }
  }
  return make_projection(projections_[t], dims);
}

const Projection& LeastCosts::make_projection(std::optional<Projection>& projection, DimSet dims) {
  if (!projection) {
    held_.take(tiles_.size() * sizeof(std::uint32_t));
    projection.emplace(tiles_, dims);
  }
  return *projection;
}

const LeastCosts::Row& LeastCosts::flow(TensorId t, const Sharing& sharing, std::size_t slide) {
  Row& flow = flows_[{t, sharing, slide}];
  if (flow.empty()) {
    grow(flow, projection(t).size(), constant(t, sharing));
    multiply_visits(t, sharing, flow);
    for (const Rank& rank : graph_.problem().workload().tensors[t].ranks) {
      if (rank.terms.size() > 1) {
        multiply(projection(t), rank, flow, [&](std::size_t first, std::size_t second) {
          return window(rank, sharing, slide, {first, second});
        });
      }
    }
  }
  return flow;
}

// Distinct sums, which are not read back when they are met first. With windows no read-back is
// charged.
LeastCosts::Met LeastCosts::met(const BoundaryCoefficients& coefficients) const {
  const Tensor& tensor = graph_.problem().workload().tensors[coefficients.tensor];
  const bool windowless = std::all_of(tensor.ranks.begin(), tensor.ranks.end(),
                                      [](const Rank& rank) { return rank.terms.size() == 1; });
  if (!coefficients.output || !windowless) {
    return {kInfinity, kInfinity, kInfinity, kInfinity};
  }
  return {met(coefficients.tensor, coefficients.met_parent),
          met(coefficients.tensor, coefficients.met_child),
          met(coefficients.tensor, coefficients.met_busy_parent),
          met(coefficients.tensor, coefficients.met_busy_child)};
}

// Sums that enter the networks and do not leave them are added there. A sum that is not added there
// is one update more at the outer level. If both are charged the lesser price, the cost falls
// neither in the number that enters nor in the number that leaves, so lower bounds of both may be
// used. For sums with a window the number met is unknown, and nothing is charged.
double LeastCosts::least_reduction_energy(const BoundaryCoefficients& coefficients, const Met& met,
                                          const BoundaryFlow& flow) {
  if (coefficients.reductions.empty() || !(met.parent < kInfinity)) {
    return 0;
  }
  double price = coefficients.cost.least_crossing_pj();
  for (const auto& [per_addition, sharing] : coefficients.reductions) {
    price = std::min(price, per_addition);
  }
  return price * std::max(0.0, flow.child.crossing - flow.parent.crossing);
}

BoundaryFlow LeastCosts::bound(const BoundaryCoefficients& coefficients, const Met& met,
                               BoundaryFlow flow) {
  flow.is_bound = true;
  if (coefficients.output) {
    const auto set = [](EndFlow& end, double once) {
      end.returning = std::max(0.0, end.crossing - once);
    };
    set(flow.parent, met.parent);
    set(flow.child, met.child);
    set(flow.busy_parent, met.busy_parent);
    set(flow.busy_child, met.busy_child);
    flow.networks_pj = least_reduction_energy(coefficients, met, flow);
  }
  return flow;
}

BoundaryFlow LeastCosts::least(std::size_t edge, std::size_t tile, SlidingLoop slide,
                               const TileCounts& counts,
                               const PerDim<TileCounts::Id>& known) const {
  const BoundaryCoefficients& coefficients = coefficients_[edge];
  const std::size_t at = slide.dim == SlidingLoop::kNone ? tile : slide.from;
  const auto flow_at = [&](const Sharing& sharing) {
    return EndFlow{crossing(coefficients.tensor, sharing, slide.dim, at, counts, known)};
  };
  BoundaryFlow flow;
  flow.parent = flow_at(coefficients.parent);
  flow.child = flow_at(coefficients.child);
  if (components_ > 1) {
    flow.busy_parent = flow_at(coefficients.busy_parent);
    flow.busy_child = flow_at(coefficients.busy_child);
  }
  return bound(coefficients, met(coefficients), flow);
}

const LeastCosts::Row& LeastCosts::charged(std::size_t edge, std::size_t slide) {
  Row& charged = charged_[{edge, slide}];
  if (!charged.empty()) {
    return charged;
  }
  const BoundaryCoefficients& coefficients = coefficients_[edge];
  const Row& parent = flow(coefficients.tensor, coefficients.parent, slide);
  const Row& child = flow(coefficients.tensor, coefficients.child, slide);
  const Row& busy_parent =
      components_ > 1 ? flow(coefficients.tensor, coefficients.busy_parent, slide) : parent;
  const Row& busy_child =
      components_ > 1 ? flow(coefficients.tensor, coefficients.busy_child, slide) : child;
  const Met met = this->met(coefficients);
  const std::size_t size = projection(coefficients.tensor).size();
  grow(charged, components_ * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    const BoundaryFlow flow =
        bound(coefficients, met, {{parent[i]}, {child[i]}, {busy_parent[i]}, {busy_child[i]}});
    if (!coefficients.cost.charge(flow, &charged[i], size)) {
      for (std::size_t k = 0; k < components_; ++k) {
        charged[k * size + i] = kInfinity;
      }
    }
  }
  return charged;
}

const LeastCosts::Row& LeastCosts::costs(std::size_t edge, std::size_t slide) {
  Row& costs = costs_[{edge, slide}];
  if (!costs.empty()) {
    return costs;
  }
  const Row& charged = this->charged(edge, slide);
  const Projection& seen = projection(coefficients_[edge].tensor);
  const bool fits =
      slide != SlidingLoop::kNone || graph_.edges()[edge].to == exact::BoundaryEdge::kMac;
  grow(costs, components_ * tiles_.size(), 0.0);
  for (std::size_t k = 0; k < components_; ++k) {
    const double* from = &charged[k * seen.size()];
    double* to = &costs[k * tiles_.size()];
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      to[tile] = from[seen.of_tile(tile)];
    }
    if (!fits) {
      keep_fitting(edge, to);
    }
  }
  return costs;
}

}  // namespace mapsim::imperfect
