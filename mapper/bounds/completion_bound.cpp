// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/completion_bound.hpp"

#include <omp.h>

#include <algorithm>
#include <optional>
#include <span>

#include "core/caught.hpp"
#include "mapper/graph/sweeps.hpp"

namespace mapsim::exact {

std::optional<Node> cross(const StateGraph& graph, const Unrolled& unrolled, const Node& node) {
  const auto residency = graph.after_stage(node.stage, node.residency);
  if (!residency) {
    return std::nullopt;
  }
  const auto fanout = graph.end_of(node.stage).fanout;
  return Node{node.stage + 1, *residency,
              fanout ? unrolled.crossings[*fanout][node.tile] : node.tile};
}

NodeIndex::NodeIndex(const StateGraph& graph, const Unrolled& unrolled)
    : residencies_{graph.residencies()}, rows_(graph.stages() * graph.residencies(), 0) {
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < residencies_; ++residency) {
      if (graph.reachable(stage, residency)) {
        rows_[stage * residencies_ + residency] = size_;
        size_ += unrolled.lattices[graph.crossed(stage)].size();
      }
    }
  }
}

namespace {

// The other components follow the first at a distance of so much. A part of fewer nodes is not
// worth a task.
constexpr std::size_t kParts = 6;
constexpr std::size_t kNodesOfPart = 4'000;

// Later stages first, and within one the residency that moves lead to.
std::vector<RowId> inside_out(const StateGraph& graph) {
  std::vector<RowId> rows;
  for (std::size_t stage = graph.stages(); stage-- > 0;) {
    for (std::size_t residency = graph.residencies(); residency-- > 0;) {
      if (graph.reachable(stage, residency)) {
        rows.push_back({stage, residency});
      }
    }
  }
  return rows;
}

// About as many nodes each.
std::vector<std::span<const RowId>> parts(const StateGraph& graph, const Unrolled& unrolled,
                                          std::size_t nodes, std::span<const RowId> rows) {
  const std::size_t count = std::min(nodes / kNodesOfPart, kParts);
  std::vector<std::span<const RowId>> split;
  std::size_t before = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    before += unrolled.lattices[graph.crossed(rows[i].stage)].size();
    if (i + 1 == rows.size() || before * count >= (split.size() + 1) * nodes) {
      split.push_back(rows.subspan(first, i + 1 - first));
      first = i + 1;
    }
  }
  return split;
}

// A row of which less than one in so many tiles is of interest is found tile by tile, others in
// vectors.
constexpr std::size_t kFew = 8;

// To the rows behind the runs. `rests`: of the table that has their costs.
std::vector<Leg> legs_to(const std::vector<const double*>& behind,
                         const std::vector<Lattice::Run>& runs, std::size_t rests) {
  std::vector<Leg> legs;
  for (std::size_t run = 0; run < behind.size(); ++run) {
    if (behind[run] != nullptr) {
      legs.push_back({runs[run].from, runs[run].to, behind[run], run * rests});
    }
  }
  return legs;
}

}  // namespace

CompletionBound::CompletionBound(const StateGraph& graph, const Unrolled& unrolled,
                                 EdgeCosts& costs, const Scope& scope)
    : held_{costs.deadline()},
      nodes_(graph, unrolled),
      live_(!scope.reachable.empty() ? scope.reachable
                                     : std::vector<char>(graph.stages() * graph.residencies(), 1)),
      offsets_(graph.stages() * graph.residencies(), 0),
      to_go_(costs.components()) {
  for (const Lattice& lattice : unrolled.lattices) {
    longest_ = std::max(longest_, lattice.size());
  }
  if (scope.alone != nullptr) {
    ranges_.resize(offsets_.size());
    make_digits(unrolled);
  }
  filled_ = longest_;
  make_room(0, longest_ + nodes_.size());
  const std::vector<RowId> all = inside_out(graph);
  if (omp_get_num_threads() > 1 && to_go_.size() > 1 && nodes_.size() >= 2 * kNodesOfPart) {
    fill_together(graph, unrolled, costs, scope, all);
    return;
  }
  std::optional<Alone::Selection> selection;
  if (scope.alone != nullptr) {
    selection.emplace(*scope.alone, scope.most);
  }
  settle(graph, unrolled, costs, scope, selection ? &*selection : nullptr, all);
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    make_room(component, filled_);
    follow(graph, unrolled, costs, component, all);
  }
}

// With threads to share the work with: the other components follow the first, part by part.
void CompletionBound::fill_together(const StateGraph& graph, const Unrolled& unrolled,
                                    EdgeCosts& costs, const Scope& scope,
                                    std::span<const RowId> rows) {
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    make_room(component, longest_ + nodes_.size());
  }
  std::optional<Alone::Selection> chosen;
  if (scope.alone != nullptr) {
    chosen.emplace(*scope.alone, scope.most);
    tiles_.reserve(nodes_.size());  // followers read what stands there
  }
  Alone::Selection* selection = chosen ? &*chosen : nullptr;
  const auto split = parts(graph, unrolled, nodes_.size(), rows);
  // What tasks wait for: parts of the first component; a component's part before.
  std::vector<char> marks(split.size() + to_go_.size());
  [[maybe_unused]] char* mark = marks.data();
  Caught caught;
#pragma omp taskgroup
  for (std::size_t part = 0; part < split.size(); ++part) {
    [[maybe_unused]] const std::size_t first = split.size();
#pragma omp task depend(inout : mark[first]) depend(out : mark[part]) \
    shared(graph, unrolled, costs, scope, split, caught)
    caught.run([&] { settle(graph, unrolled, costs, scope, selection, split[part]); });
    for (std::size_t component = 1; component < to_go_.size(); ++component) {
#pragma omp task depend(inout : mark[first + component]) depend(in : mark[part]) \
    shared(graph, unrolled, costs, split, caught)
      caught.run([&] { follow(graph, unrolled, costs, component, split[part]); });
    }
  }
  caught.rethrow();
}

// Not initialised: what is left out need not even be touched.
void CompletionBound::make_room(std::size_t component, std::size_t size) {
  to_go_[component].reset(new double[size]);
  std::fill_n(to_go_[component].get(), longest_, kInfinity);
}

// The energies, which settle which rows there are.
void CompletionBound::settle(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                             const Scope& scope, Alone::Selection* selection,
                             std::span<const RowId> rows) {
  for (const auto& [stage, residency] : rows) {
    const std::size_t at = index(stage, residency);
    held_.check();
    if (live_[at] == 0) {
      continue;
    }
    if (selection != nullptr && !list(at, selection->tiles(stage, residency))) {
      live_[at] = 0;
      continue;
    }
    offsets_[at] = filled_;
    const Lattice& lattice = unrolled.lattices[graph.crossed(stage)];
    const Row row{0, stage, residency, lattice, listed(at)};
    const bool leads_on = fill(graph, unrolled, costs, row) && keep_near(graph, row, scope);
    live_[at] = leads_on ? 1 : 0;
    offsets_[at] = leads_on ? offsets_[at] : 0;
    filled_ += leads_on ? lattice.size() : 0;
    held_.grow_to(to_go_.size() * filled_ * sizeof(double));
  }
}

// Another component, of rows that are settled.
void CompletionBound::follow(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                             std::size_t component, std::span<const RowId> rows) {
  for (const auto& [stage, residency] : rows) {
    held_.check();
    if (is_live(stage, residency)) {
      const Lattice& lattice = unrolled.lattices[graph.crossed(stage)];
      fill(graph, unrolled, costs,
           {component, stage, residency, lattice, listed(index(stage, residency))});
    }
  }
}

bool CompletionBound::fill(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                           const Row& row) {
  std::fill_n(begin(row), row.lattice.size(), kInfinity);
  const bool few = !row.tiles.empty() && row.tiles.size() < row.lattice.size() / kFew;
  return few ? fill_tiles(graph, unrolled, costs, row) : fill_row(graph, unrolled, costs, row);
}

// Lists the tiles of interest of a row. False: there are none.
bool CompletionBound::list(std::size_t index, std::span<const std::uint32_t> tiles) {
  ranges_[index] = {tiles_.size(), tiles_.size() + tiles.size()};
  tiles_.insert(tiles_.end(), tiles.begin(), tiles.end());
  return !tiles.empty();
}

// Of the listed tiles of a row, known now, only those stay to which no tensor has to pay too much,
// and which lead on; of a row without a list all or none. False: none.
bool CompletionBound::keep_near(const StateGraph& graph, const Row& row, const Scope& scope) {
  if (scope.alone == nullptr) {
    return !(scope.most < kInfinity &&
             graph.least_paid(row.residency) + least_of(begin(row), row.lattice.size()) >
                 scope.most);
  }
  Lattice::Range& range = ranges_[index(row.stage, row.residency)];
  double* to_go = begin(row);
  std::size_t kept = range.first;
  scope.alone->add_paid(row.stage, row.residency, row.tiles, paid_);
  for (std::size_t i = 0; i < row.tiles.size(); ++i) {
    const std::uint32_t tile = row.tiles[i];
    const bool near = to_go[tile] < kInfinity && paid_[i] + to_go[tile] <= scope.most;
    to_go[tile] = near ? to_go[tile] : kInfinity;
    tiles_[kept] = tile;
    kept += near ? 1 : 0;
  }
  tiles_.resize(kept);
  range.last = kept;
  return kept > range.first;
}

// Leaves tiles at infinity that are not listed.
void CompletionBound::keep_listed(const Row& row) {
  double* to_go = begin(row);
  std::size_t next = 0;
  for (const std::uint32_t tile : row.tiles) {
    std::fill(to_go + next, to_go + tile, kInfinity);
    next = tile + 1;
  }
  if (!row.tiles.empty()) {
    std::fill(to_go + next, to_go + row.lattice.size(), kInfinity);
  }
}

// What the nodes behind the stage_end that ends the stage have to go. False: there are none, or
// none worth looking at.
bool CompletionBound::copy_behind(const StateGraph& graph, const Unrolled& unrolled,
                                  const Row& row) {
  const auto behind = graph.after_stage(row.stage, row.residency);
  if (!behind || !is_live(row.stage + 1, *behind)) {
    return false;
  }
  double* here = begin(row);
  const double* next = begin(row.component, row.stage + 1, *behind);
  if (const auto fanout = graph.end_of(row.stage).fanout) {
    const std::vector<std::size_t>& crossing = unrolled.crossings[*fanout];
    std::transform(crossing.begin(), crossing.end(), here,
                   [next](std::size_t tile) { return next[tile]; });
  } else {
    std::copy_n(next, row.lattice.size(), here);
  }
  return true;
}

// The rows that loops over the runs lead to from the residency; null: none worth looking at.
std::vector<const double*> CompletionBound::rows_behind(
    const StateGraph& graph, const Row& row, DimId dim, std::size_t residency,
    const std::vector<Lattice::Run>& runs) const {
  const auto behind = [&](std::optional<std::size_t> target) {
    return target && is_live(row.stage, *target) ? begin(row.component, row.stage, *target)
                                                 : nullptr;
  };
  std::vector<const double*> rows;
  if (graph.is_neutral(row.stage, residency, dim)) {
    if (const double* there = behind(residency)) {
      rows.assign(runs.size(), there);
    }
    return rows;
  }
  bool any = false;
  for (const Lattice::Run& run : runs) {
    rows.push_back(
        behind(graph.after_loop(row.stage, residency, dim, row.lattice.factor(dim, run))));
    any = any || rows.back() != nullptr;
  }
  return any ? rows : std::vector<const double*>{};
}

// Loops that lead to other residency, which have been bounded before; those that do not are
// `neutral`. False: none leads to a node worth looking at.
bool CompletionBound::relax_loops(const StateGraph& graph, const Row& row, DimSet& neutral) {
  bool leads_on = false;
  const DimSet locked = graph.locked(row.stage, row.residency);
  for (std::size_t i = 0; i < row.lattice.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (locked.contains(d)) {
      continue;
    }
    if (graph.is_neutral(row.stage, row.residency, d)) {
      neutral.insert(d);
      continue;
    }
    const auto& runs = row.lattice.primes(d);
    const auto behind = rows_behind(graph, row, d, row.residency, runs);
    leads_on = leads_on || !behind.empty();
    relax(row.lattice, d, legs_to(behind, runs, 0), {}, begin(row));
  }
  return leads_on;
}

// The runs of a sliding_edge. False: none leads to a node worth looking at.
bool CompletionBound::relax_sliding_edge(const StateGraph& graph, EdgeCosts& costs, const Row& row,
                                         const StateGraph::SlidingEdge& sliding_edge) {
  const auto& runs = row.lattice.runs(sliding_edge.dim);
  const auto behind = rows_behind(graph, row, sliding_edge.dim, sliding_edge.target, runs);
  if (behind.empty()) {
    return false;
  }
  std::vector<const double*> paid;
  for (const std::size_t edge : sliding_edge.edges) {
    const std::vector<double>& cost = costs.sliding(edge, sliding_edge.dim);
    paid.push_back(cost.data() + cost.size() / costs.components() * row.component);
  }
  const std::size_t rests = row.lattice.size() / row.lattice.positions(sliding_edge.dim).size();
  relax(row.lattice, sliding_edge.dim, legs_to(behind, runs, rests), paid, begin(row));
  return true;
}

// False: no move leads to a node worth looking at.
bool CompletionBound::fill_row(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                               const Row& row) {
  double* here = begin(row);
  bool leads_on = false;
  if (row.stage + 1 < graph.stages()) {
    leads_on = copy_behind(graph, unrolled, row);
  } else if (graph.end(row.residency)) {
    leads_on = true;
    for (const std::size_t tile : row.lattice.ones()) {
      here[tile] = costs.mac(*graph.end(row.residency), tile)[row.component];
    }
  }
  for (const StateGraph::Place& place : graph.places(row.stage, row.residency)) {
    if (is_live(row.stage, place.target)) {
      leads_on = true;
      const double* below = begin(row.component, row.stage, place.target);
      const double* cost = &costs.plain(place.edge)[row.component * row.lattice.size()];
      take_least_sum(here, below, cost, row.lattice.size());
    }
  }
  for (const StateGraph::SlidingEdge& sliding_edge :
       graph.sliding_edges(row.stage, row.residency)) {
    leads_on = relax_sliding_edge(graph, costs, row, sliding_edge) || leads_on;
  }
  DimSet neutral;
  leads_on = relax_loops(graph, row, neutral) || leads_on;
  for (std::size_t d = 0; leads_on && d < row.lattice.dims(); ++d) {
    if (neutral.contains(static_cast<DimId>(d))) {
      relax_neutral(row.lattice, static_cast<DimId>(d), here);
    }
  }
  keep_listed(row);
  return leads_on;
}

}  // namespace mapsim::exact
