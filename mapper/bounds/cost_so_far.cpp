// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/cost_so_far.hpp"

#include <algorithm>

#include "mapper/graph/sweeps.hpp"

namespace mapsim::imperfect {

using exact::CompletionBound;
using exact::kInfinity;
using exact::StateGraph;

CostSoFar::CostSoFar(const StateGraph& graph, const ExtentLattice& tiles,
                     const TileCountRules& tile_count_rules, LeastCosts& costs,
                     const CompletionBound& to_go, std::size_t component, const Deadline& deadline)
    : graph_{graph},
      tiles_{tiles},
      tile_count_rules_{tile_count_rules},
      costs_{costs},
      to_go_{to_go},
      component_{component},
      rows_(graph.stages() * graph.residencies()),
      held_{&deadline} {
  for (const std::size_t residency : graph.starts()) {
    if (double* start = row(0, residency)) {
      start[tiles.size() - 1] = 0;
    }
  }
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      if (!rows_[stage * graph.residencies() + residency].empty()) {
        deadline.check();
        spread(stage, residency);
      }
    }
  }
}

// The cost of the edge at all tiles, for this component.
const double* CostSoFar::costs(std::size_t edge, std::size_t slide) {
  return &costs_.costs(edge, slide)[component_ * tiles_.size()];
}

// Null: no node of interest lies in the row.
double* CostSoFar::row(std::size_t stage, std::size_t residency) {
  if (!graph_.reachable(stage, residency) || !to_go_.is_live(stage, residency)) {
    return nullptr;
  }
  Row& row = rows_[stage * graph_.residencies() + residency];
  if (row.empty()) {
    held_.fill(row, tiles_.size(), kInfinity);
  }
  return row.data();
}

// Passes the values of a row on to the rows to which its edges lead.
void CostSoFar::spread(std::size_t stage, std::size_t residency) {
  double* here = rows_[stage * graph_.residencies() + residency].data();
  const DimSet locked = graph_.locked(stage, residency);
  for (const DimId d : tiles_.ids()) {
    const auto target = graph_.after_loop(stage, residency, d, 1);
    if (!locked.contains(d) && target == residency) {
      spread_loops(d, here);
    }
  }
  for (const DimId d : tiles_.ids()) {
    const auto target = graph_.after_loop(stage, residency, d, 1);
    double* there =
        locked.contains(d) || !target || *target == residency ? nullptr : row(stage, *target);
    if (there != nullptr) {
      shift(d, here, there);
    }
  }
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(stage, residency)) {
    if (double* there = row(stage, keep.target)) {
      exact::take_least_sum(there, here, costs(keep.edge, SlidingLoop::kNone), tiles_.size());
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge : graph_.sliding_edges(stage, residency)) {
    const auto target = graph_.after_loop(stage, sliding_edge.target, sliding_edge.dim, 1);
    if (double* there = row(stage, *target)) {
      slide(sliding_edge, here, there);
    }
  }
  if (stage + 1 < graph_.stages()) {
    end_stage(stage, residency, here);
  }
}

void CostSoFar::spread_loops(DimId d, double* row) const { exact::spread_neutral(tiles_, d, row); }

// A loop to the next smaller bin, or within a bin that several extents share.
void CostSoFar::shift(DimId d, const double* here, double* there) const {
  const std::size_t stride = tiles_.stride(d);
  tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
    const std::size_t step = tiles_.is_shared(d, bin) ? 0 : stride;
    for (std::size_t tile = first; tile < last && bin > 0; ++tile) {
      there[tile - step] = std::min(there[tile - step], here[tile]);
    }
  });
}

// One loop from a bin to any below it; the bin determines the cost of the edges.
void CostSoFar::slide(const StateGraph::SlidingEdge& sliding_edge, const double* here,
                      double* there) {
  Row from(here, here + tiles_.size());
  for (const std::size_t edge : sliding_edge.edges) {
    const double* cost = costs(edge, index_of(sliding_edge.dim));
    for (std::size_t tile = 0; tile < from.size(); ++tile) {
      from[tile] += cost[tile];
    }
  }
  spread_loops(sliding_edge.dim, from.data());
  Row to(tiles_.size(), kInfinity);
  const std::size_t stride = tiles_.stride(sliding_edge.dim);
  const std::size_t bins = tiles_.domain(sliding_edge.dim).size();
  tiles_.sweep(sliding_edge.dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    const std::size_t step = tiles_.is_shared(sliding_edge.dim, bin) ? 0 : stride;
    if (step == 0 || bin + 1 < bins) {
      std::copy(from.data() + first + step, from.data() + last + step, to.data() + first);
    }
  });
  for (const std::size_t edge : sliding_edge.edges) {
    costs_.keep_fitting(edge, to.data());
  }
  for (std::size_t tile = 0; tile < to.size(); ++tile) {
    there[tile] = std::min(there[tile], to[tile]);
  }
}

void CostSoFar::end_stage(std::size_t stage, std::size_t residency, const double* here) {
  const auto target = graph_.after_stage(stage, residency);
  double* there = target ? row(stage + 1, *target) : nullptr;
  if (there == nullptr) {
    return;
  }
  Row values(here, here + tiles_.size());
  if (graph_.ends_region(stage)) {
    tile_count_rules_.close_ends(stage, values.data());
  }
  if (const auto fanout = graph_.end_of(stage).fanout) {
    cross(*fanout, values);
  }
  if (graph_.ends_region(stage)) {
    tile_count_rules_.close_beginnings(stage + 1, values.data());
  }
  for (std::size_t tile = 0; tile < values.size(); ++tile) {
    there[tile] = std::min(there[tile], values[tile]);
  }
}

// Dim by dim, to all bins to which the extents may lead.
void CostSoFar::cross(std::size_t fanout, Row& values) const {
  Row behind;
  for (const DimId d : tiles_.ids()) {
    if (tiles_.factor(fanout, d) == 1) {
      continue;
    }
    behind.assign(values.size(), kInfinity);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const ExtentLattice::Behind& range = tiles_.behind(fanout, d, bin);
      for (std::size_t r = range.first; range.last != ExtentLattice::kNone && r <= range.last;
           ++r) {
        for (std::size_t tile = first; tile < last; ++tile) {
          double& there = behind[tile - (bin - r) * stride];
          there = std::min(there, values[tile]);
        }
      }
    });
    values.swap(behind);
  }
}

}  // namespace mapsim::imperfect
