// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// One step of a path through the state graph, from the outermost level inwards.
struct Step {
  enum class Kind : std::uint8_t { kStart, kLoop, kCross, kKeep, kSlidingEdge, kEnd };
  Kind kind = Kind::kStart;
  Node node;             // the node that the step leads to
  std::size_t move = 0;  // kKeep, kSlidingEdge: index in the graph's lists at the node before
};

// The cost of a boundary edge in a step: component k is cost[k * step]. `edge` is
// BoundaryEdge::kMac for the operations and accesses of the compute units.
struct StepCost {
  std::size_t edge = BoundaryEdge::kMac;
  const double* cost = nullptr;
  std::size_t step = 1;
  std::size_t tile = 0;
};

// The part of for_each_move() for sliding-window edges.
template <class CostTables, class OfInterest, class Visit>
void for_each_sliding_edge(const StateGraph& graph, const DivisorLattice& tiles, CostTables& costs,
                           const Node& at, const OfInterest& of_interest, const Visit& visit) {
  const auto& sliding_edges = graph.sliding_edges(at.stage, at.residency);
  std::vector<StepCost> costs_of_edges;
  for (std::size_t m = 0; m < sliding_edges.size(); ++m) {
    const DimId dim = sliding_edges[m].dim;
    const std::size_t digit = tiles.digit(dim, at.tile);
    const auto& loops = tiles.loops(dim);
    const std::size_t rests = tiles.size() / tiles.positions(dim).size();
    const DivisorLattice::Range range = tiles.loops_from(dim, digit);
    const bool neutral = graph.is_neutral(at.stage, sliding_edges[m].target, dim);
    for (std::size_t loop = range.first; loop < range.last; ++loop) {
      const auto target = neutral ? std::optional(sliding_edges[m].target)
                                  : graph.after_loop(at.stage, sliding_edges[m].target, dim,
                                                     tiles.factor(dim, loops[loop]));
      const std::size_t tile = at.tile - (digit - loops[loop].to) * tiles.stride(dim);
      if (!target || !of_interest(Node{at.stage, *target, tile})) {
        continue;
      }
      costs_of_edges.clear();
      for (const std::size_t edge : sliding_edges[m].edges) {
        const double* cost = &costs.sliding(edge, dim)[loop * rests + tiles.rest(dim, tile)];
        costs_of_edges.push_back({edge, cost, loops.size() * rests, tile});
      }
      visit(Step{Step::Kind::kSlidingEdge, {at.stage, *target, tile}, m},
            std::span{costs_of_edges});
    }
  }
}

// Calls visit(Step, std::span<const StepCost>) for every step from a node to a node of interest or
// to the end, in a fixed order. Costs may be infinite. `CostTables` has the tables of EdgeCosts.
// `of_interest` is bool(Node).
template <class CostTables, class OfInterest, class Visit>
void for_each_move(const StateGraph& graph, const Unrolled& unrolled, CostTables& costs,
                   const Node& at, const OfInterest& of_interest, const Visit& visit) {
  const DivisorLattice& tiles = unrolled.lattices[graph.crossed(at.stage)];
  if (at.stage + 1 < graph.stages()) {
    if (const auto behind = cross(graph, unrolled, at); behind && of_interest(*behind)) {
      visit(Step{Step::Kind::kCross, *behind, 0}, std::span<const StepCost>{});
    }
  } else if (graph.end(at.residency) &&
             std::binary_search(tiles.ones().begin(), tiles.ones().end(), at.tile)) {
    const std::vector<double> mac = costs.mac(*graph.end(at.residency), at.tile);
    const StepCost step_cost{BoundaryEdge::kMac, mac.data(), 1, at.tile};
    visit(Step{Step::Kind::kEnd, at, 0}, std::span(&step_cost, 1));
  }
  const DimSet locked = graph.locked(at.stage, at.residency);
  for (const DimId dim : tiles.ids()) {
    if (locked.contains(dim)) {
      continue;
    }
    const DivisorLattice::Range range = tiles.steps_from(dim, tiles.digit(dim, at.tile));
    for (std::size_t r = range.first; r < range.last; ++r) {
      const DivisorLattice::Loop& loop = tiles.steps(dim)[r];
      const auto residency = graph.after_loop(at.stage, at.residency, dim, tiles.factor(dim, loop));
      const std::size_t tile = at.tile - (loop.from - loop.to) * tiles.stride(dim);
      if (residency && of_interest(Node{at.stage, *residency, tile})) {
        visit(Step{Step::Kind::kLoop, {at.stage, *residency, tile}, 0},
              std::span<const StepCost>{});
      }
    }
  }
  const auto& keeps = graph.keep_moves(at.stage, at.residency);
  for (std::size_t m = 0; m < keeps.size(); ++m) {
    if (!of_interest(Node{at.stage, keeps[m].target, at.tile})) {
      continue;
    }
    const double* cost = &costs.plain(keeps[m].edge)[at.tile];
    const StepCost step_cost{keeps[m].edge, cost, tiles.size(), at.tile};
    visit(Step{Step::Kind::kKeep, {at.stage, keeps[m].target, at.tile}, m},
          std::span(&step_cost, 1));
  }
  for_each_sliding_edge(graph, tiles, costs, at, of_interest, visit);
}

}  // namespace mapsim::exact
