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

NodeIndex::NodeIndex(const StateGraph& graph, std::span<const std::size_t> tiles)
    : residencies_{graph.residencies()}, rows_(graph.stages() * graph.residencies(), 0) {
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < residencies_; ++residency) {
      if (graph.reachable(stage, residency)) {
        rows_[stage * residencies_ + residency] = size_;
        size_ += tiles[stage];
      }
    }
  }
}

namespace {

// If threads help, rows are split into so many parts; other components are computed one part behind
// the energy. A part with fewer nodes is not worth a task.
constexpr std::size_t kParts = 6;
constexpr std::size_t kNodesOfPart = 4'000;

// The order of the backward pass: later stages first, and in a stage larger residencies first, to
// which moves lead.
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

std::vector<std::size_t> tiles_of_stages(const StateGraph& graph, const BoundRows& rows) {
  std::vector<std::size_t> tiles;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    tiles.push_back(rows.tiles(stage));
  }
  return tiles;
}

}  // namespace

CompletionBound::CompletionBound(const StateGraph& graph, BoundRows& rows, const Scope& scope,
                                 const Deadline* deadline)
    : graph_{graph},
      held_{deadline},
      tiles_of_stage_{tiles_of_stages(graph, rows)},
      nodes_(graph, tiles_of_stage_),
      live_(!scope.reachable.empty() ? scope.reachable
                                     : std::vector<char>(graph.stages() * graph.residencies(), 1)),
      offsets_(graph.stages() * graph.residencies(), 0),
      to_go_(rows.components()) {
  longest_ = *std::max_element(tiles_of_stage_.begin(), tiles_of_stage_.end());
  if (scope.per_tensor != nullptr || scope.listed != nullptr) {
    ranges_.resize(offsets_.size());
  }
  filled_ = longest_;
  held_.grow_to(to_go_.size() * filled_ * sizeof(double));
  grow(0, longest_ + nodes_.size());
  const std::vector<RowId> order = inside_out(graph);
  if (omp_get_num_threads() > 1 && to_go_.size() > 1 && nodes_.size() >= 2 * kNodesOfPart) {
    fill_together(rows, scope, order);
    return;
  }
  std::optional<PerTensorBound::Selection> selection;
  if (scope.per_tensor != nullptr) {
    selection.emplace(*scope.per_tensor, scope.most);
  }
  fill_energies(rows, scope, selection ? &*selection : nullptr, order);
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    grow(component, filled_);
    follow(rows, component, order);
  }
}

// Parts with about equally many nodes.
std::vector<std::span<const RowId>> CompletionBound::parts(std::span<const RowId> order) const {
  const std::size_t nodes = nodes_.size();
  const std::size_t count = std::min(nodes / kNodesOfPart, kParts);
  std::vector<std::span<const RowId>> split;
  std::size_t before = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    before += tiles_of_stage_[order[i].stage];
    if (i + 1 == order.size() || before * count >= (split.size() + 1) * nodes) {
      split.push_back(order.subspan(first, i + 1 - first));
      first = i + 1;
    }
  }
  return split;
}

// With idle threads: the other components follow the energy, part by part.
void CompletionBound::fill_together(BoundRows& rows, const Scope& scope,
                                    std::span<const RowId> order) {
  for (std::size_t component = 1; component < to_go_.size(); ++component) {
    grow(component, longest_ + nodes_.size());
  }
  std::optional<PerTensorBound::Selection> chosen;
  if (scope.per_tensor != nullptr) {
    chosen.emplace(*scope.per_tensor, scope.most);
  }
  if (!ranges_.empty()) {
    tiles_.reserve(nodes_.size());  // followers read what stands there
  }
  PerTensorBound::Selection* selection = chosen ? &*chosen : nullptr;
  const auto split = parts(order);
  // Dependences of tasks: the parts of the energy, and per component its previous part.
  std::vector<char> marks(split.size() + to_go_.size());
  [[maybe_unused]] char* mark = marks.data();
  Caught caught;
#pragma omp taskgroup
  for (std::size_t part = 0; part < split.size(); ++part) {
    [[maybe_unused]] const std::size_t first = split.size();
#pragma omp task depend(inout : mark[first]) depend(out : mark[part]) \
    shared(rows, scope, split, caught)
    caught.run([&] { fill_energies(rows, scope, selection, split[part]); });
    for (std::size_t component = 1; component < to_go_.size(); ++component) {
#pragma omp task depend(inout : mark[first + component]) depend(in : mark[part]) \
    shared(rows, split, caught)
      caught.run([&] { follow(rows, component, split[part]); });
    }
  }
  caught.rethrow();
}

// Not initialised, so that rows that are left out are never touched.
void CompletionBound::grow(std::size_t component, std::size_t size) {
  to_go_[component].reset(new double[size]);
  std::fill_n(to_go_[component].get(), longest_, kInfinity);
}

BoundRow CompletionBound::begin(std::size_t component, const RowId& row) {
  const std::size_t at = index(row.stage, row.residency);
  const Range range = ranges_.empty() ? Range{} : ranges_[at];
  double* values = to_go_[component].get() + offsets_[at];
  std::fill_n(values, tiles_of_stage_[row.stage], kInfinity);
  return {component, row.stage, row.residency, values,
          std::span(tiles_.data() + range.first, range.last - range.first)};
}

// Computes the energies, which determine the live rows.
void CompletionBound::fill_energies(BoundRows& rows, const Scope& scope,
                                    PerTensorBound::Selection* selection,
                                    std::span<const RowId> order) {
  for (const RowId& id : order) {
    const std::size_t at = index(id.stage, id.residency);
    held_.check();
    if (live_[at] == 0) {
      continue;
    }
    if (!ranges_.empty() &&
        !list(at, selection != nullptr ? selection->tiles(id.stage, id.residency)
                                       : std::span<const std::uint32_t>((*scope.listed)[at]))) {
      live_[at] = 0;
      continue;
    }
    offsets_[at] = filled_;
    const BoundRow row = begin(0, id);
    const bool leads_on = rows.fill(row, *this) && keep_near(row, scope);
    live_[at] = leads_on ? 1 : 0;
    offsets_[at] = leads_on ? offsets_[at] : 0;
    filled_ += leads_on ? tiles_of_stage_[id.stage] : 0;
    held_.grow_to((to_go_.size() * filled_ + so_far_.capacity()) * sizeof(double) +
                  tiles_.capacity() * sizeof(std::uint32_t));
  }
}

// Computes another component of the live rows.
void CompletionBound::follow(BoundRows& rows, std::size_t component, std::span<const RowId> order) {
  for (const RowId& id : order) {
    held_.check();
    if (is_live(id.stage, id.residency)) {
      rows.fill(begin(component, id), *this);
    }
  }
}

void keep_listed(const BoundRow& row, std::size_t tiles) {
  std::size_t next = 0;
  for (const std::uint32_t tile : row.tiles) {
    std::fill(row.values + next, row.values + tile, kInfinity);
    next = tile + 1;
  }
  if (!row.tiles.empty()) {
    std::fill(row.values + next, row.values + tiles, kInfinity);
  }
}

// Stores the tiles of interest of a row. Returns false if there are none.
bool CompletionBound::list(std::size_t index, std::span<const std::uint32_t> tiles) {
  ranges_[index] = {tiles_.size(), tiles_.size() + tiles.size()};
  tiles_.insert(tiles_.end(), tiles.begin(), tiles.end());
  return !tiles.empty();
}

// Of the tiles of a row, whose energies to go are known now, keeps those within the cutoff: cost so
// far plus cost to go is at most scope.most. A row without a list is kept as a whole or dropped.
// Returns false if nothing is kept.
bool CompletionBound::keep_near(const BoundRow& row, const Scope& scope) {
  if (ranges_.empty()) {
    return !(scope.most < kInfinity &&
             graph_.least_so_far(row.residency) + least_of(row.values, tiles_of_stage_[row.stage]) >
                 scope.most);
  }
  Range& range = ranges_[index(row.stage, row.residency)];
  std::size_t kept = range.first;
  if (scope.per_tensor != nullptr) {
    scope.per_tensor->add_cost_so_far(row.stage, row.residency, row.tiles, so_far_);
  } else {
    so_far_.assign(row.tiles.size(), graph_.least_so_far(row.residency));
  }
  for (std::size_t i = 0; i < row.tiles.size(); ++i) {
    const std::uint32_t tile = row.tiles[i];
    double& to_go = row.values[tile];
    const bool near = to_go < kInfinity && so_far_[i] + to_go <= scope.most;
    to_go = near ? to_go : kInfinity;
    tiles_[kept] = tile;
    kept += near ? 1 : 0;
  }
  tiles_.resize(kept);
  range.last = kept;
  return kept > range.first;
}

}  // namespace mapsim::exact
