// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "costmodel/crossing.hpp"
#include "mapper/label_search/history_rebuild.hpp"
#include "mapper/label_search/history_search.hpp"
#include "mapper/label_search/relevant_dims.hpp"

// The steps from a label with imperfect factors: a loop, a boundary edge, a sliding-window edge, a
// fanout edge, or the end. Many orders of loops and keeps describe mappings of equal cost, so steps
// are left out if another order has the same or a better mapping (LoopHistory): a keep stands right
// below the loops that move its tensor, and loops between two points come in the order of dims.

namespace mapsim::imperfect {

using exact::kInfinity;
using exact::Node;
using exact::StateGraph;
using exact::Step;

namespace {

bool within(DimSet inner, DimSet outer) { return (inner & outer) == inner; }

}  // namespace

void HistorySearch::expand(Labels::Id id) {
  const Label from = labels()[id];
  const Node at = from.step.node;
  if (at.stage + 1 < graph_.stages()) {
    cross(id, from);
  } else if (at.tile == 0 && graph_.end(at.residency) &&
             tile_count_rules_.may_end(at.stage, from.region_start, at.tile)) {
    end(id, from);
  }
  const DimSet locked = graph_.locked(at.stage, at.residency) | from.no_loop_in_region;
  for (std::size_t i = from.next_dim; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (!locked.contains(d) && !from.no_loop_next.contains(d) && tiles_.digit(d, at.tile) > 0) {
      loop(id, from, d);
    }
  }
  keep(id, from);
  sliding_edge(id, from);
}

// A loop to the next smaller extent. In the first variant the loop goes on (kPassed). In the second
// one (kLeftStanding) it ends at a free tile boundary, and the chain goes on from there.
void HistorySearch::loop(Labels::Id id, const Label& from, DimId d) {
  const Node at = from.step.node;
  const auto residency = graph_.after_loop(at.stage, at.residency, d, 1);
  if (!residency) {
    return;
  }
  Label next = after(id, from, {Step::Kind::kLoop, {at.stage, *residency, at.tile}, kPassed});
  next.step.node.tile -= tiles_.stride(d);
  if (!tile_count_rules_.may_still_end(at.stage, from.region_start, next.step.node.tile)) {
    return;
  }
  next.loops_since_keep = from.kept_since_loop ? DimSet{} : from.loops_since_keep;
  next.loops_since_keep.insert(d);
  next.kept_since_loop = false;
  next.at_point = false;
  next.slide = SlidingLoop::kNone;
  next.next_dim = index_of(d);
  note_order(next, from, d, !has_chains());
  labels().add(next);
  offer();
  if (history_ == History::kLoopChains &&
      relevant_[at.stage * graph_.residencies() + at.residency].contains(d) &&
      tiles_.digit(d, next.step.node.tile) > 0) {
    next.step.move = kLeftStanding;
    next.loops[d] = chains_.loop(d, from.loops[d], tiles_.extent(d, next.step.node.tile));
    note_order(next, from, d, true);
    labels().add(next);
    offer();
  }
}

// If a rule orders the loops of a region, loops are written in the order of the steps. All parts of
// one loop must then be adjacent, a loop that ends at a free tile boundary must be the last one
// over its dim, and a keep can only be exchanged with the loop right above or below it.
void HistorySearch::note_order(Label& label, const Label& from, DimId last, bool stands) const {
  if (!is_ordered(label)) {
    return;
  }
  label.loops_since_keep = DimSet{last};
  label.no_loop_next = {};
  label.next_dim = 0;
  label.open_loops = from.open_loops;
  label.open_loops.erase(last);
  label.no_loop_in_region = label.open_loops;
  if (!stands) {
    label.open_loops.insert(last);
  }
}

Label HistorySearch::after(Labels::Id id, const Label& from, Step step) {
  Label next = from;
  next.step = step;
  next.before = id;
  next.dominated = false;
  next.next = Labels::kNone;
  next.next_dim = 0;
  return next;
}

void HistorySearch::end(Labels::Id id, const Label& from) {
  labels().add(after(id, from, {Step::Kind::kEnd, from.step.node, 0}));
  double* values = labels().values(static_cast<Labels::Id>(labels().size()) - 1);
  values[0] += graph_.problem().mac_energy().count() * static_cast<double>(graph_.problem().macs());
  for (const std::size_t edge : *graph_.end(from.step.node.residency)) {
    BoundaryFlow flow;
    cost(edge, 0, from.loops, {}, flow);
    if (!coefficients_[edge].cost.charge(flow, values, 1)) {
      labels().retract();
      return;
    }
  }
  offer();
}

// A point stands here, so chains end at the tile.
void HistorySearch::end_chains_at_point(Label& label) {
  for (const DimId d : label.loops.ids()) {
    if (has_chains()) {
      label.loops[d] = chains_.loop(d, label.loops[d], tiles_.extent(d, label.step.node.tile));
    }
  }
  label.at_point = true;
  label.kept_since_loop = true;
  label.no_loop_in_region = {};
  label.open_loops = {};
}

// A keep may as well stand below a loop over a dim that is alone in a rank of its tensor. Unless a
// rule restricts that extent of the keep, such a loop need not come next.
void HistorySearch::end_chains_at_keep(Label& label, std::size_t edge) {
  end_chains_at_point(label);
  const exact::BoundaryEdge& of = graph_.edges()[edge];
  label.no_loop_next = label.no_loop_next | single_dims(workload().tensors[of.tensor]);
  for (const ExtentRule& rule : graph_.space().constraints().extents) {
    if (rule.tensor == of.tensor && rule.level == graph_.residences(of.tensor)[of.to].level) {
      label.no_loop_next.erase(rule.dim);
    }
  }
}

void HistorySearch::drop_history(Label& label) {
  const Node& at = label.step.node;
  if (history_ == History::kNone) {
    return;
  }
  const DimSet relevant = relevant_[at.stage * graph_.residencies() + at.residency];
  for (const DimId d : label.loops.ids()) {
    if (!relevant.contains(d)) {
      label.loops[d] = has_chains() ? chains_.drop_loops(d, label.loops[d]) : chains_.none();
    }
  }
}

void HistorySearch::cross(Labels::Id id, const Label& from) {
  const Node at = from.step.node;
  const exact::StageEnd& stage_end = graph_.end_of(at.stage);
  const auto residency = graph_.after_stage(at.stage, at.residency);
  if (!residency || (graph_.ends_region(at.stage) &&
                     !tile_count_rules_.may_end(at.stage, from.region_start, at.tile))) {
    return;
  }
  Label next = after(id, from, {Step::Kind::kCross, at, 0});
  bool is_point = stage_end.fanout.has_value();
  for (const TensorId t : workload().tensors.ids()) {
    const exact::Residence& residence = graph_.residence(at.residency, t);
    is_point = is_point || (!residence.latch && residence.level == stage_end.level);
  }
  if (is_point) {
    end_chains_at_point(next);
    next.loops_since_keep = {};
    next.no_loop_next = {};
  }
  next.slide = SlidingLoop::kNone;
  ++next.step.node.stage;
  next.step.node.residency = *residency;
  if (stage_end.fanout) {
    const std::size_t tile = tiles_.crossings(*stage_end.fanout)[at.tile];
    if (tile == tiles_.size()) {
      return;
    }
    next.step.node.tile = tile;
    if (has_chains()) {
      for (const DimId d : next.loops.ids()) {
        next.loops[d] = chains_.cross(d, next.loops[d], *stage_end.fanout);
      }
      next.steps = std::max(next.steps, steps_of(next.loops, *stage_end.fanout + 1));
    }
  }
  if (graph_.ends_region(at.stage)) {
    next.region_start = tile_count_rules_.region_start(at.stage + 1, next.step.node.tile);
  }
  drop_history(next);
  labels().add(next);
  double* values = labels().values(static_cast<Labels::Id>(labels().size()) - 1);
  for (std::size_t r = 0; r < graph_.capacities().size(); ++r) {
    if (capacities_.slot(r) && r != query_.measured_capacity &&
        graph_.capacities()[r].last_stage <= at.stage) {
      values[*capacities_.slot(r)] = 0;  // no tensor can enter any more
    }
  }
  offer();
}

// Finds the flow of an edge. Returns false if the tile cannot cross the fanouts past which the keep
// is deferred.
bool HistorySearch::cost(std::size_t edge, std::size_t tile, const PerDim<LoopChains::Id>& chains,
                         SlidingLoop slide, BoundaryFlow& flow) {
  const BoundaryCoefficients& coefficients = coefficients_[edge];
  if (has_chains()) {
    return flows_.at(coefficients, tile, chains, slide, flow);
  }
  flow = costs_.least(edge, tile, slide, counts_, chains);
  return true;  // or its bits are infinite
}

// Adds an edge's costs and bits to the newest label. Returns false if its tile does not fit.
bool HistorySearch::charge(std::size_t edge, std::size_t tile, const PerDim<LoopChains::Id>& chains,
                           SlidingLoop slide) {
  double* values = labels().values(static_cast<Labels::Id>(labels().size()) - 1);
  const BoundaryCoefficients& coefficients = coefficients_[edge];
  const double bits = costs_.bits(edge).at(tile);
  BoundaryFlow flow;
  if (!(bits < kInfinity) || bits > coefficients.limit || !cost(edge, tile, chains, slide, flow) ||
      !coefficients.cost.charge(flow, values, 1)) {
    return false;
  }
  if (has_chains() && (flow.is_bound || coefficients.has_deferred_cost)) {
    std::vector<std::size_t> deferred_cost{labels().newest().deferred, edge, tile, slide.dim};
    deferred_cost.insert(deferred_cost.end(), chains.begin(), chains.end());
    labels().newest().deferred =
        deferred_costs_.try_emplace(deferred_cost, deferred_costs_.size() + 1).first->second;
  }
  return capacities_.add(edge, bits, values);
}

// Adds the label behind some edges, if their tiles fit and it may be of use.
void HistorySearch::add_after_charging(Label next, const PerDim<LoopChains::Id>& chains,
                                       const StepEdges& step_edges) {
  if (history_ == History::kTileCounts) {
    add_with_counts(next, step_edges, 0);
    return;
  }
  drop_history(next);
  labels().add(next);
  bool fits = true;
  for (const std::size_t edge : step_edges.edges) {
    fits = fits && charge(edge, step_edges.tile, chains, step_edges.slide);
  }
  if (fits) {
    offer();
  } else {
    labels().retract();
  }
}

// The same with tile counts: one label for each combination of counts, from `dim` on, of the dims
// that change what the edges move; the least first. Returns false if no combination is of use.
bool HistorySearch::add_with_counts(Label& next, const StepEdges& step_edges, std::size_t dim) {
  if (dim == tiles_.dims()) {
    Label label = next;
    drop_history(label);
    labels().add(label);
    bool fits = true;
    for (const std::size_t edge : step_edges.edges) {
      fits = fits && charge(edge, step_edges.tile, next.loops, step_edges.slide);
    }
    if (!fits) {
      labels().retract();
    }
    return fits && offer();
  }
  const auto d = static_cast<DimId>(dim);
  bool pays = false;
  for (const std::size_t edge : step_edges.edges) {
    pays = pays || !dims_of(graph_.edges()[edge].tensor).contains(d);
  }
  const std::size_t bin = tiles_.digit(d, step_edges.tile);
  if (!pays || bin + 1 == tiles_.domain(d).size()) {
    return add_with_counts(next, step_edges, dim + 1);
  }
  const LoopChains::Id known = next.loops[d];
  const std::size_t crossed = graph_.crossed(next.step.node.stage);
  bool any = false;
  const bool matters =
      relevant_[next.step.node.stage * graph_.residencies() + next.step.node.residency].contains(d);
  for (const TileCounts::Id count : counts_.choices(d, known, bin, crossed)) {
    next.loops[d] = count;
    if (!add_with_counts(next, step_edges, dim + 1)) {
      break;  // larger counts are of no use either
    }
    any = true;
    if (!matters) {
      break;
    }
  }
  next.loops[d] = known;
  return any;
}

// Does the keep of this edge stand at this point, or is it deferred?
bool HistorySearch::is_at_point(std::size_t edge, std::size_t stage) const {
  const exact::BoundaryEdge& of = graph_.edges()[edge];
  const exact::Residence& residence = graph_.residences(of.tensor)[of.to];
  return !residence.latch && residence.stage == stage;
}

void HistorySearch::keep(Labels::Id id, const Label& from) {
  const Node at = from.step.node;
  const auto& keeps = graph_.keep_moves(at.stage, at.residency);
  for (std::size_t m = 0; m < keeps.size(); ++m) {
    const std::size_t edge = keeps[m].edge;
    const TensorId t = graph_.edges()[edge].tensor;
    const bool moved_last =
        from.slide != SlidingLoop::kNone && dims_of(t).contains(static_cast<DimId>(from.slide));
    if (!moved_last && !within(from.loops_since_keep, dims_of(t))) {
      continue;  // the keep is at least as good above the loop that does not move its tile
    }
    Label next = after(id, from, {Step::Kind::kKeep, {at.stage, keeps[m].target, at.tile}, m});
    next.no_loop_next = next.at_point ? next.no_loop_next : DimSet{};
    next.kept_since_loop = true;
    if (is_at_point(edge, at.stage)) {
      end_chains_at_keep(next, edge);
    }
    add_after_charging(next, from.loops, {{&edge, 1}, at.tile, {}});
  }
}

void HistorySearch::sliding_edge(Labels::Id id, const Label& from) {
  const Node at = from.step.node;
  const auto& sliding_edges = graph_.sliding_edges(at.stage, at.residency);
  for (std::size_t m = 0; m < sliding_edges.size(); ++m) {
    const StateGraph::SlidingEdge& sliding_edge = sliding_edges[m];
    const DimSet above = from.kept_since_loop ? DimSet{} : from.loops_since_keep;
    const bool joins = has_chains() && above.contains(sliding_edge.dim) &&
                       chains_.extent(sliding_edge.dim, from.loops[sliding_edge.dim]) !=
                           tiles_.extent(sliding_edge.dim, at.tile);
    bool possible = !joins && !from.no_loop_in_region.contains(sliding_edge.dim) &&
                    !(above.empty() && from.no_loop_next.contains(sliding_edge.dim));
    bool stands = false;
    DimSet moving;
    for (const std::size_t edge : sliding_edge.edges) {
      moving = moving | dims_of(graph_.edges()[edge].tensor);
      stands = stands || is_at_point(edge, at.stage);
    }
    possible = possible && (is_ordered(from) || within(above, moving));
    for (std::size_t bin = tiles_.digit(sliding_edge.dim, at.tile); possible && bin-- > 0;) {
      const std::size_t tile = at.tile - (tiles_.digit(sliding_edge.dim, at.tile) - bin) *
                                             tiles_.stride(sliding_edge.dim);
      if (!tile_count_rules_.may_still_end(at.stage, from.region_start, tile)) {
        break;
      }
      const std::size_t target =
          *graph_.after_loop(at.stage, sliding_edge.target, sliding_edge.dim, 1);
      Label next = after(id, from, {Step::Kind::kSlidingEdge, {at.stage, target, tile}, m});
      next.loops_since_keep = above;
      next.loops_since_keep.insert(sliding_edge.dim);
      next.slide = index_of(sliding_edge.dim);
      next.at_point = false;
      next.no_loop_next = {};
      next.kept_since_loop = true;
      note_order(next, from, sliding_edge.dim, false);
      if (stands) {
        end_chains_at_point(next);
      }
      add_after_charging(next, from.loops,
                         {sliding_edge.edges, tile, {index_of(sliding_edge.dim), at.tile}});
    }
  }
}

}  // namespace mapsim::imperfect
