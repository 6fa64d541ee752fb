// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/imperfect_rows.hpp"

#include <algorithm>
#include <functional>

#include "mapper/graph/sweeps.hpp"

namespace mapsim::imperfect {

using exact::BoundRow;
using exact::CompletionBound;
using exact::kInfinity;
using exact::StateGraph;

namespace {

// A row with less than one tile of interest in so many is filled tile by tile.
constexpr std::size_t kFew = 8;

}  // namespace

// The deadline is polled between passes over the tiles, which take a good part of a second for a
// large lattice.
bool ImperfectRows::fill(const BoundRow& row, const CompletionBound& behind) {
  const bool few = !row.tiles.empty() && row.tiles.size() < tiles_.size() / kFew;
  if (few) {
    return fill_listed(row, behind);
  }
  const bool leads_on = fill_all(row, behind);
  exact::keep_listed(row, tiles_.size());
  return leads_on;
}

bool ImperfectRows::fill_all(const BoundRow& row, const CompletionBound& behind) {
  const std::size_t tiles = tiles_.size();
  bool leads_on = row.stage + 1 < graph_.stages() ? relax_stage_end(row, behind) : relax_end(row);
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(row.stage, row.residency)) {
    if (!behind.is_live(row.stage, keep.target)) {
      continue;
    }
    deadline_.check();
    leads_on = true;
    exact::take_least_sum(row.values, behind.row(row.component, row.stage, keep.target),
                          &costs_.costs(keep.edge, SlidingLoop::kNone)[row.component * tiles],
                          tiles);
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph_.sliding_edges(row.stage, row.residency)) {
    const auto target = graph_.after_loop(row.stage, sliding_edge.target, sliding_edge.dim, 1);
    if (behind.is_live(row.stage, *target)) {
      deadline_.check();
      leads_on = true;
      relax_sliding_edge(row, sliding_edge, behind.row(row.component, row.stage, *target));
    }
  }
  return relax_loops(row, behind) || leads_on;
}

bool ImperfectRows::relax_stage_end(const BoundRow& row, const CompletionBound& behind) const {
  const auto residency = graph_.after_stage(row.stage, row.residency);
  if (!residency || !behind.is_live(row.stage + 1, *residency)) {
    return false;
  }
  std::copy_n(behind.row(row.component, row.stage + 1, *residency), tiles_.size(), row.values);
  if (graph_.ends_region(row.stage)) {
    tile_count_rules_.close_beginnings(row.stage + 1, row.values);
  }
  if (const auto fanout = graph_.end_of(row.stage).fanout) {
    relax_crossing(*fanout, row.values);
  }
  if (graph_.ends_region(row.stage)) {
    tile_count_rules_.close_ends(row.stage, row.values);
  }
  return true;
}

bool ImperfectRows::relax_end(const BoundRow& row) {
  const auto& end = graph_.end(row.residency);
  if (!end) {
    return false;
  }
  const Problem& problem = graph_.problem();
  row.values[0] =
      row.component == 0 ? problem.mac_energy().count() * static_cast<double>(problem.macs()) : 0.0;
  for (const std::size_t edge : *end) {
    row.values[0] += costs_.table(edge, SlidingLoop::kNone, row.component).at(0);
  }
  return true;
}

// Loops that lead to a later group of the region's order come first; the rows behind them are
// complete. Returns false if none leads to another row of interest.
bool ImperfectRows::relax_loops(const BoundRow& row, const CompletionBound& behind) const {
  const DimSet locked = graph_.locked(row.stage, row.residency);
  DimSet staying;
  bool leads_on = false;
  for (const DimId d : tiles_.ids()) {
    const auto target = graph_.after_loop(row.stage, row.residency, d, 1);
    if (locked.contains(d) || !target) {
      continue;
    }
    if (*target == row.residency) {
      staying.insert(d);
      continue;
    }
    if (!behind.is_live(row.stage, *target)) {
      continue;
    }
    leads_on = true;
    const double* below = behind.row(row.component, row.stage, *target);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const std::size_t step = tiles_.is_shared(d, bin) ? 0 : stride;
      for (std::size_t tile = first; tile < last && bin > 0; ++tile) {
        row.values[tile] = std::min(row.values[tile], below[tile - step]);
      }
    });
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    if (staying.contains(static_cast<DimId>(i))) {
      relax_loops(static_cast<DimId>(i), row.values);
    }
  }
  return leads_on;
}

// The least value behind a fanout; of a coarse lattice, over all bins to which the extents may
// lead.
void ImperfectRows::relax_crossing(std::size_t fanout, double* row) const {
  std::vector<double> behind;
  behind.reserve(tiles_.size() + 1);
  tiles_.in_pieces([&](std::size_t first, std::size_t last) {
    behind.insert(behind.end(), row + first, row + last);
  });
  if (!tiles_.is_coarse()) {
    behind.push_back(kInfinity);  // ExtentLattice::crossings() leads here where it leads nowhere
    const std::vector<std::uint32_t>& crossings = tiles_.crossings(fanout);
    tiles_.in_pieces([&](std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        row[tile] = behind[crossings[tile]];
      }
    });
    return;
  }
  for (const DimId d : tiles_.ids()) {
    if (tiles_.factor(fanout, d) == 1) {
      continue;
    }
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const ExtentLattice::Behind& range = tiles_.behind(fanout, d, bin);
      for (std::size_t tile = first; tile < last; ++tile) {
        double least = kInfinity;
        for (std::size_t r = range.first; range.last != ExtentLattice::kNone && r <= range.last;
             ++r) {
          least = std::min(least, behind[tile - bin * stride + r * stride]);
        }
        row[tile] = least;
      }
    });
    behind.assign(row, row + tiles_.size());
  }
}

// A loop from one bin to any smaller one is charged by its start. Extents that share a bin have
// loops between them, too.
void ImperfectRows::relax_sliding_edge(const BoundRow& row,
                                       const StateGraph::SlidingEdge& sliding_edge,
                                       const double* below) {
  const std::size_t tiles = tiles_.size();
  const auto cost_of = [&](std::size_t edge) {
    return &costs_.costs(edge, index_of(sliding_edge.dim))[row.component * tiles];
  };
  std::vector<double> least(below, below + tiles);
  std::vector<double> sum;
  for (const std::size_t edge : sliding_edge.edges) {
    costs_.keep_fitting(edge, least.data());
  }
  relax_loops(sliding_edge.dim, least.data());
  const double* cost = cost_of(sliding_edge.edges.front());
  if (sliding_edge.edges.size() > 1) {
    sum.assign(cost, cost + tiles);
    for (std::size_t i = 1; i < sliding_edge.edges.size(); ++i) {
      const double* more = cost_of(sliding_edge.edges[i]);
      std::transform(sum.begin(), sum.end(), more, sum.begin(), std::plus<>{});
    }
    cost = sum.data();
  }
  const std::size_t stride = tiles_.stride(sliding_edge.dim);
  tiles_.sweep(sliding_edge.dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    if (bin > 0) {
      const std::size_t step = tiles_.is_shared(sliding_edge.dim, bin) ? 0 : stride;
      exact::take_least_sum(row.values + first, &least[first - step], cost + first, last - first);
    }
  });
}

// Loops cost nothing: the value of a tile is the least of the tiles to which loops lead.
void ImperfectRows::relax_loops(DimId dim, double* row) const {
  exact::relax_neutral(tiles_, dim, row);
}

// The tiles behind a fanout, for one tile.
void ImperfectRows::list_behind(std::size_t fanout, std::size_t tile,
                                std::vector<std::size_t>& behind) const {
  behind.assign(1, tile);
  for (std::size_t i = 0; i < tiles_.dims() && !behind.empty(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (tiles_.factor(fanout, d) == 1) {
      continue;
    }
    const std::size_t bin = tiles_.digit(d, tile);
    const ExtentLattice::Behind& range = tiles_.behind(fanout, d, bin);
    std::vector<std::size_t> longer;
    for (std::size_t r = range.first; range.last != ExtentLattice::kNone && r <= range.last; ++r) {
      for (const std::size_t each : behind) {
        longer.push_back(each - (bin - r) * tiles_.stride(d));
      }
    }
    behind = std::move(longer);
  }
}

// fill_all() for the listed tiles alone.
bool ImperfectRows::fill_listed(const BoundRow& row, const CompletionBound& behind) {
  bool leads_on = row.stage + 1 < graph_.stages() ? end_stage_of_listed(row, behind)
                                                  : relax_end(row) && row.tiles.front() == 0;
  if (row.tiles.front() != 0 && row.stage + 1 == graph_.stages()) {
    row.values[0] = kInfinity;
  }
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(row.stage, row.residency)) {
    if (!behind.is_live(row.stage, keep.target)) {
      continue;
    }
    leads_on = true;
    const double* below = behind.row(row.component, row.stage, keep.target);
    const LeastCosts::Table cost = costs_.table(keep.edge, SlidingLoop::kNone, row.component);
    const LeastCosts::Table bits = costs_.bits(keep.edge);
    const double most = costs_.limit(keep.edge);
    for (const std::uint32_t tile : row.tiles) {
      if (below[tile] < row.values[tile] && bits.at(tile) <= most) {
        row.values[tile] = std::min(row.values[tile], cost.at(tile) + below[tile]);
      }
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph_.sliding_edges(row.stage, row.residency)) {
    const auto target = graph_.after_loop(row.stage, sliding_edge.target, sliding_edge.dim, 1);
    if (behind.is_live(row.stage, *target)) {
      leads_on = true;
      slide_listed(row, sliding_edge, behind.row(row.component, row.stage, *target));
    }
  }
  return loop_over_listed(row, behind) || leads_on;
}

bool ImperfectRows::end_stage_of_listed(const BoundRow& row, const CompletionBound& behind) const {
  const auto residency = graph_.after_stage(row.stage, row.residency);
  if (!residency || !behind.is_live(row.stage + 1, *residency)) {
    return false;
  }
  const double* next = behind.row(row.component, row.stage + 1, *residency);
  const auto fanout = graph_.end_of(row.stage).fanout;
  const bool ends = graph_.ends_region(row.stage);
  std::vector<std::size_t> there;
  for (const std::uint32_t tile : row.tiles) {
    if (ends && !tile_count_rules_.is_end(row.stage, tile)) {
      continue;
    }
    there.assign(1, tile);
    if (fanout) {
      list_behind(*fanout, tile, there);
    }
    for (const std::size_t each : there) {
      if (!ends || tile_count_rules_.is_beginning(row.stage + 1, each)) {
        row.values[tile] = std::min(row.values[tile], next[each]);
      }
    }
  }
  return true;
}

void ImperfectRows::slide_listed(const BoundRow& row, const StateGraph::SlidingEdge& sliding_edge,
                                 const double* below) {
  struct EdgeCost {
    LeastCosts::Table cost, bits;
    double most = 0;
  };
  std::vector<EdgeCost> edges;
  for (const std::size_t edge : sliding_edge.edges) {
    edges.push_back({costs_.table(edge, index_of(sliding_edge.dim), row.component),
                     costs_.bits(edge), costs_.limit(edge)});
  }
  const std::size_t stride = tiles_.stride(sliding_edge.dim);
  for (const std::uint32_t tile : row.tiles) {
    double cost = 0;
    for (const EdgeCost& each : edges) {
      cost += each.cost.at(tile);
    }
    const std::size_t bin = tiles_.digit(sliding_edge.dim, tile);
    const bool is_shared = tiles_.is_shared(sliding_edge.dim, bin);
    for (std::size_t steps = is_shared ? 0 : 1; steps <= bin; ++steps) {
      const std::size_t to = tile - steps * stride;
      const bool fits = std::all_of(edges.begin(), edges.end(), [&](const EdgeCost& each) {
        return each.bits.at(to) <= each.most;
      });
      if (fits && bin > 0) {
        row.values[tile] = std::min(row.values[tile], cost + below[to]);
      }
    }
  }
}

bool ImperfectRows::loop_over_listed(const BoundRow& row, const CompletionBound& behind) const {
  struct LoopsOver {
    const std::uint16_t* digits = nullptr;
    DimId dim{};
    const double* there = nullptr;
  };
  std::vector<LoopsOver> all_loops;
  const DimSet locked = graph_.locked(row.stage, row.residency);
  bool leads_on = false;
  for (const DimId d : tiles_.ids()) {
    const auto target = graph_.after_loop(row.stage, row.residency, d, 1);
    if (locked.contains(d) || !target || tiles_.domain(d).size() == 1) {
      continue;
    }
    const bool stays = *target == row.residency;
    if (stays || behind.is_live(row.stage, *target)) {
      leads_on = leads_on || !stays;
      all_loops.push_back({tiles_.digits(d).data(), d,
                           stays ? row.values : behind.row(row.component, row.stage, *target)});
    }
  }
  for (const std::uint32_t tile : row.tiles) {
    for (const LoopsOver& loops : all_loops) {
      const std::size_t bin = loops.digits[tile];
      const bool in_place = loops.there != row.values && tiles_.is_shared(loops.dim, bin);
      if (bin > 0) {
        const std::size_t to = tile - (in_place ? 0 : tiles_.stride(loops.dim));
        row.values[tile] = std::min(row.values[tile], loops.there[to]);
      }
    }
  }
  return leads_on;
}

}  // namespace mapsim::imperfect
