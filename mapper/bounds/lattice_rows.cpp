// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/lattice_rows.hpp"

#include <algorithm>
#include <optional>

#include "mapper/graph/sweeps.hpp"

namespace mapsim::exact {

namespace {

// A row with less than one tile of interest in so many is filled tile by tile, any other by
// vectors.
constexpr std::size_t kFew = 8;

// The steps to the rows behind the loops. `rests`: of the table with their costs.
std::vector<LoopTo> steps_to(const std::vector<const double*>& behind,
                             const std::vector<DivisorLattice::Loop>& loops, std::size_t rests) {
  std::vector<LoopTo> steps;
  for (std::size_t loop = 0; loop < behind.size(); ++loop) {
    if (behind[loop] != nullptr) {
      steps.push_back({loops[loop].from, loops[loop].to, behind[loop], loop * rests});
    }
  }
  return steps;
}

}  // namespace

bool LatticeRows::fill(const BoundRow& row, const CompletionBound& behind) {
  const bool few = !row.tiles.empty() && row.tiles.size() < tiles(row.stage) / kFew;
  return few ? fill_listed(row, behind) : fill_all(row, behind);
}

// Copies the cost to go of the nodes behind the end of the stage. Returns false if there are none
// of interest.
bool LatticeRows::copy_behind(const BoundRow& row, const CompletionBound& behind) const {
  const auto residency = graph_.after_stage(row.stage, row.residency);
  if (!residency || !behind.is_live(row.stage + 1, *residency)) {
    return false;
  }
  const double* next = behind.row(row.component, row.stage + 1, *residency);
  if (const auto fanout = graph_.end_of(row.stage).fanout) {
    const std::vector<std::size_t>& crossing = unrolled_.crossings[*fanout];
    std::transform(crossing.begin(), crossing.end(), row.values,
                   [next](std::size_t tile) { return next[tile]; });
  } else {
    std::copy_n(next, tiles(row.stage), row.values);
  }
  return true;
}

// The rows to which the loops lead from the residency; null: not of interest.
std::vector<const double*> LatticeRows::rows_behind(
    const BoundRow& row, const CompletionBound& behind, DimId dim, std::size_t residency,
    const std::vector<DivisorLattice::Loop>& loops) const {
  const auto find = [&](std::optional<std::size_t> target) {
    return target && behind.is_live(row.stage, *target)
               ? behind.row(row.component, row.stage, *target)
               : nullptr;
  };
  std::vector<const double*> rows;
  if (graph_.is_neutral(row.stage, residency, dim)) {
    if (const double* there = find(residency)) {
      rows.assign(loops.size(), there);
    }
    return rows;
  }
  bool any = false;
  for (const DivisorLattice::Loop& loop : loops) {
    rows.push_back(
        find(graph_.after_loop(row.stage, residency, dim, lattice(row.stage).factor(dim, loop))));
    any = any || rows.back() != nullptr;
  }
  return any ? rows : std::vector<const double*>{};
}

// Loops that lead to another residency, whose rows are complete; the other dims are `neutral`.
// Returns false if none leads to a node of interest.
bool LatticeRows::relax_loops(const BoundRow& row, const CompletionBound& behind,
                              DimSet& neutral) const {
  bool leads_on = false;
  const DivisorLattice& lattice = this->lattice(row.stage);
  const DimSet locked = graph_.locked(row.stage, row.residency);
  for (const DimId d : lattice.ids()) {
    if (locked.contains(d)) {
      continue;
    }
    if (graph_.is_neutral(row.stage, row.residency, d)) {
      neutral.insert(d);
      continue;
    }
    const auto& loops = lattice.steps(d);
    const auto rows = rows_behind(row, behind, d, row.residency, loops);
    leads_on = leads_on || !rows.empty();
    relax(lattice, d, steps_to(rows, loops, 0), {}, row.values);
  }
  return leads_on;
}

// The cost tables of its edges.
std::vector<const double*> LatticeRows::loop_costs(const StateGraph::SlidingEdge& sliding_edge,
                                                   std::size_t component) {
  std::vector<const double*> costs;
  for (const std::size_t edge : sliding_edge.edges) {
    const std::vector<double>& cost = costs_.sliding(edge, sliding_edge.dim);
    costs.push_back(cost.data() + cost.size() / costs_.components() * component);
  }
  return costs;
}

// The loops of a sliding-window edge. Returns false if none leads to a node of interest.
bool LatticeRows::relax_sliding_edge(const BoundRow& row, const CompletionBound& behind,
                                     const StateGraph::SlidingEdge& sliding_edge) {
  const DivisorLattice& lattice = this->lattice(row.stage);
  const auto& loops = lattice.loops(sliding_edge.dim);
  const auto rows = rows_behind(row, behind, sliding_edge.dim, sliding_edge.target, loops);
  if (rows.empty()) {
    return false;
  }
  const std::vector<const double*> costs = loop_costs(sliding_edge, row.component);
  const std::size_t rests = lattice.size() / lattice.positions(sliding_edge.dim).size();
  relax(lattice, sliding_edge.dim, steps_to(rows, loops, rests), costs, row.values);
  return true;
}

// Returns false if no move leads to a node of interest.
bool LatticeRows::fill_all(const BoundRow& row, const CompletionBound& behind) {
  const DivisorLattice& lattice = this->lattice(row.stage);
  bool leads_on = false;
  if (row.stage + 1 < graph_.stages()) {
    leads_on = copy_behind(row, behind);
  } else if (graph_.end(row.residency)) {
    leads_on = true;
    for (const std::size_t tile : lattice.ones()) {
      row.values[tile] = costs_.mac(*graph_.end(row.residency), tile)[row.component];
    }
  }
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(row.stage, row.residency)) {
    if (behind.is_live(row.stage, keep.target)) {
      leads_on = true;
      take_least_sum(row.values, behind.row(row.component, row.stage, keep.target),
                     &costs_.plain(keep.edge)[row.component * lattice.size()], lattice.size());
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph_.sliding_edges(row.stage, row.residency)) {
    leads_on = relax_sliding_edge(row, behind, sliding_edge) || leads_on;
  }
  DimSet neutral;
  leads_on = relax_loops(row, behind, neutral) || leads_on;
  for (std::size_t d = 0; leads_on && d < lattice.dims(); ++d) {
    if (neutral.contains(static_cast<DimId>(d))) {
      relax_neutral(lattice, static_cast<DimId>(d), row.values);
    }
  }
  keep_listed(row, lattice.size());
  return leads_on;
}

CompletionBound complete_on_lattice(const StateGraph& graph, const Unrolled& unrolled,
                                    EdgeCosts& costs, const CompletionBound::Scope& scope) {
  LatticeRows rows(graph, unrolled, costs);
  if (scope.per_tensor != nullptr) {
    rows.list_digits();
  }
  return CompletionBound(graph, rows, scope, costs.deadline());
}

}  // namespace mapsim::exact
