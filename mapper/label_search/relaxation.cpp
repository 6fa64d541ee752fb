// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/relaxation.hpp"

#include <algorithm>

namespace mapsim::imperfect {

using exact::kInfinity;
using exact::Node;
using exact::StateGraph;

Relaxation::Relaxation(const StateGraph& graph, const Tiles& tiles, const Gates& gates,
                       const std::vector<Terms>& terms, std::size_t components,
                       const Deadline& deadline)
    : graph_{graph},
      tiles_{tiles},
      gates_{gates},
      terms_{terms},
      components_{components},
      held_{&deadline},
      rows_(graph.stages() * graph.residencies(), 0),
      to_go_(components),
      bits_(terms.size()) {
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      if (graph.reachable(stage, residency)) {
        rows_[stage * graph.residencies() + residency] = nodes_;
        nodes_ += tiles.size();
      }
    }
  }
  held_.take(components * nodes_ * sizeof(double));
  for (std::size_t component = 0; component < components && complete_; ++component) {
    to_go_[component].assign(nodes_, kInfinity);
    complete_ = fill(component, deadline);
  }
  costs_.clear();
  flows_.clear();
}

// Inside out: later stages first, and within one the residency that moves lead to.
// False: deadline is over.
bool Relaxation::fill(std::size_t component, const Deadline& deadline) {
  for (std::size_t stage = graph_.stages(); stage-- > 0;) {
    for (std::size_t residency = graph_.residencies(); residency-- > 0;) {
      if (graph_.reachable(stage, residency) && !fill_row(component, stage, residency, deadline)) {
        return false;
      }
    }
  }
  return true;
}

// False: deadline is over, which is asked after each pass over the tiles: of a large lattice one
// takes a good part of a second.
bool Relaxation::fill_row(std::size_t component, std::size_t stage, std::size_t residency,
                          const Deadline& deadline) {
  double* to_go = to_go_[component].data();
  double* row = to_go + this->row(stage, residency);
  const std::size_t tiles = tiles_.size();
  if (stage + 1 < graph_.stages()) {
    relax_stage_end(component, stage, residency, row);
  } else {
    relax_end(component, residency, row);
  }
  for (const StateGraph::Place& place : graph_.places(stage, residency)) {
    if (deadline.over()) {
      return false;
    }
    const double* below = to_go + this->row(stage, place.target);
    const double* cost = &costs(place.edge, Run::kNone)[component * tiles];
    const double* taken = bits(place.edge).data();
    const double limit = terms_[place.edge].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double value =
          taken[tile] <= limit && taken[tile] < kInfinity ? cost[tile] + below[tile] : kInfinity;
      row[tile] = std::min(row[tile], value);
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge : graph_.sliding_edges(stage, residency)) {
    if (deadline.over()) {
      return false;
    }
    const auto target = graph_.after_loop(stage, sliding_edge.target, sliding_edge.dim, 1);
    relax_sliding_edge(component, sliding_edge, to_go + this->row(stage, *target), row);
  }
  relax_loops(component, stage, residency, row);
  return !deadline.over();
}

void Relaxation::relax_stage_end(std::size_t component, std::size_t stage, std::size_t residency,
                                 double* row) const {
  const auto behind = graph_.after_stage(stage, residency);
  if (!behind) {
    return;
  }
  const double* below = to_go_[component].data() + this->row(stage + 1, *behind);
  std::copy_n(below, tiles_.size(), row);
  if (graph_.ends_region(stage)) {
    gates_.close_beginnings(stage + 1, row);
  }
  if (const auto fanout = graph_.end_of(stage).fanout) {
    relax_crossing(*fanout, row);
  }
  if (graph_.ends_region(stage)) {
    gates_.close_ends(stage, row);
  }
}

void Relaxation::relax_end(std::size_t component, std::size_t residency, double* row) {
  const auto& end = graph_.end(residency);
  if (!end) {
    return;
  }
  row[0] = component == 0 ? graph_.problem().mac_energy().count() *
                                static_cast<double>(graph_.problem().macs())
                          : 0.0;
  for (const std::size_t edge : *end) {
    row[0] += costs(edge, Run::kNone)[component * tiles_.size()];
  }
}

// Loops that lead to a later group of the region's order go first: what lies behind them is done.
void Relaxation::relax_loops(std::size_t component, std::size_t stage, std::size_t residency,
                             double* row) const {
  const DimSet locked = graph_.locked(stage, residency);
  DimSet staying;
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    const auto target = graph_.after_loop(stage, residency, d, 1);
    if (locked.contains(d) || !target) {
      continue;
    }
    if (*target == residency) {
      staying.insert(d);
      continue;
    }
    const double* below = to_go_[component].data() + this->row(stage, *target);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const std::size_t step = tiles_.is_shared(d, bin) ? 0 : stride;
      for (std::size_t tile = first; tile < last && bin > 0; ++tile) {
        row[tile] = std::min(row[tile], below[tile - step]);
      }
    });
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    if (staying.contains(static_cast<DimId>(i))) {
      relax_loops(static_cast<DimId>(i), row);
    }
  }
}

// The least of what lies behind: of a coarse lattice, of all bins that the extents may lead to.
void Relaxation::relax_crossing(std::size_t fanout, double* row) const {
  Row behind(row, row + tiles_.size());
  if (!tiles_.is_coarse()) {
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      const std::size_t crossed = tiles_.cross(fanout, tile);
      row[tile] = crossed == Tiles::kNone ? kInfinity : behind[crossed];
    }
    return;
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (tiles_.factor(fanout, d) == 1) {
      continue;
    }
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const Tiles::Behind& range = tiles_.behind(fanout, d, bin);
      for (std::size_t tile = first; tile < last; ++tile) {
        double least = kInfinity;
        for (std::size_t r = range.first; range.last != Tiles::kNone && r <= range.last; ++r) {
          least = std::min(least, behind[tile - bin * stride + r * stride]);
        }
        row[tile] = least;
      }
    });
    behind.assign(row, row + tiles_.size());
  }
}

// A run from one bin to any below it costs what its start says; between extents that share a bin
// there are runs, too.
void Relaxation::relax_sliding_edge(std::size_t component,
                                    const StateGraph::SlidingEdge& sliding_edge,
                                    const double* below, double* row) {
  const std::size_t tiles = tiles_.size();
  Row least(below, below + tiles);
  Row cost(tiles, 0.0);
  for (const std::size_t edge : sliding_edge.edges) {
    const double* one = &costs(edge, index_of(sliding_edge.dim))[component * tiles];
    const double* taken = bits(edge).data();
    const double limit = terms_[edge].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      cost[tile] += one[tile];
      least[tile] = taken[tile] <= limit && taken[tile] < kInfinity ? least[tile] : kInfinity;
    }
  }
  relax_loops(sliding_edge.dim, least.data());
  const std::size_t stride = tiles_.stride(sliding_edge.dim);
  tiles_.sweep(sliding_edge.dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    const std::size_t step = tiles_.is_shared(sliding_edge.dim, bin) ? 0 : stride;
    for (std::size_t tile = first; tile < last && bin > 0; ++tile) {
      row[tile] = std::min(row[tile], cost[tile] + least[tile - step]);
    }
  });
}

// A loop costs nothing: the value of a tile is the least over the tiles that loops lead to.
void Relaxation::relax_loops(DimId dim, double* row) const {
  const std::size_t stride = tiles_.stride(dim);
  tiles_.sweep(dim, [&](std::size_t bin, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; tile < last && bin > 0; ++tile) {
      row[tile] = std::min(row[tile], row[tile - stride]);
    }
  });
}

}  // namespace mapsim::imperfect
