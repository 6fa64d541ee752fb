// SPDX-License-Identifier: Apache-2.0
#include "check/graph.hpp"

#include <algorithm>
#include <utility>

#include "arch/capacities.hpp"
#include "check/spatial.hpp"
#include "core/factor.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

// Does the tensor lie there when the nest is entered?
bool is_source(const Problem& problem, const BranchEntry& entry, TensorId t,
               const Residence& residence) {
  const Tensor& tensor = problem.workload().tensors[t];
  const bool is_as_wide = t != problem.workload().output() || tensor.bits == tensor.partial_bits ||
                          entry.final_sums.value_or(residence.final) == residence.final;
  return !residence.latch && residence.level == entry.source(t) && is_as_wide;
}

}  // namespace

Graph::Graph(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used,
             std::optional<TensorSet> may_stay, BranchEntry entry)
    : problem_{&problem},
      rules_{&rules},
      used_{used},
      may_stay_{may_stay},
      entry_{std::move(entry)},
      regions_{problem, rules, used},
      is_free_{rules.loops.empty()},
      residences_(problem.workload().tensors.size()),
      radix_(problem.workload().tensors.size()) {
  list_residences();
  list_capacities();
  ports_ = ports_of(problem.arch());
  list_moves();
  mark_alive();
}

// The order is from the outside in. In an even space a level, except the outermost one, closes when
// all its keeps stand; keeps that are made earlier wait for that.
void Graph::list_residences() {
  const Arch& arch = problem_->arch();
  const Workload& workload = problem_->workload();
  std::size_t above = 0;
  for (const LevelId l : arch.levels.ids()) {
    for (; above < used_.size() && !arch.is_above(l, used_[above]); ++above) {
      stage_ends_.push_back({above, {}});
    }
    bool must = false;
    if (rules_->even && l != LevelId{0}) {
      stage_ends_.push_back({std::nullopt, l});
    }
    // Uneven: loops may cut the tile once every fanout above its level has been crossed.
    for (const TensorId t : workload.tensors.ids()) {
      must = must || must_keep(*problem_, *rules_, l, t);
      // A branch begins where its intermediate is held, whatever that level keeps by itself.
      if (may_keep(*problem_, *rules_, l, t) || entry_.source(t) == l) {
        residences_[t].push_back({l, false, false, stage_ends_.size(), above});
        if (workload.tensors[t].bits != workload.tensors[t].partial_bits) {
          residences_[t].push_back({l, false, true, stage_ends_.size(), above});
        }
      }
    }
    if (regions_.ends_at(l) && !must) {
      flags_.push_back(l);
    }
  }
  for (; above < used_.size(); ++above) {
    stage_ends_.push_back({above, {}});
  }
  for (const TensorId t : workload.tensors.ids()) {
    if (arch.compute.register_reuse.contains(workload.tensors[t].role)) {
      residences_[t].push_back({LevelId{}, true, false, stage_ends_.size(), used_.size()});
    }
    radix_[t] = places_;
    places_ *= residences_[t].size();
  }
  std::size_t readings = 1;
  region_of_.push_back(0);
  for (const StageEnd& event : stage_ends_) {
    const bool ends = event.fanout || regions_.ends_at(event.level);
    region_of_.push_back(region_of_.back() + (ends ? 1 : 0));
  }
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    readings = std::max(readings, regions_[r].states());
  }
  residencies_ = (places_ << flags_.size()) * readings;
}

std::size_t Graph::flag_of(LevelId level) const {
  const auto found = std::find(flags_.begin(), flags_.end(), level);
  return found == flags_.end() ? 0 : places_ << (found - flags_.begin());
}

void Graph::list_capacities() {
  const Workload& workload = problem_->workload();
  for (const auto& [l, role, bits] : capacities_of(problem_->arch())) {
    CapacityConstraint capacity{l, role, static_cast<double>(bits.count()), {}};
    for (const TensorId t : workload.tensors.ids()) {
      if ((!role || workload.tensors[t].role == *role) && may_keep(*problem_, *rules_, l, t)) {
        capacity.sharers.insert(t);
      }
    }
    capacities_.push_back(capacity);
  }
}

std::optional<std::size_t> Graph::capacity_of(const BoundaryEdge& edge) const {
  if (edge.inner == BoundaryEdge::kMac || residences_[edge.tensor][edge.inner].latch) {
    return std::nullopt;
  }
  for (std::size_t r = 0; r < capacities_.size(); ++r) {
    if (capacities_[r].level == residences_[edge.tensor][edge.inner].level &&
        capacities_[r].sharers.contains(edge.tensor)) {
      return r;
    }
  }
  return std::nullopt;
}

bool Graph::counts_tiles() const {
  bool counts = false;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    counts = counts || regions_[r].counts();
  }
  return rules_->imperfect && !is_free_ && counts;
}

std::size_t Graph::crossed(std::size_t stage) const {
  return static_cast<std::size_t>(
      std::count_if(stage_ends_.begin(), stage_ends_.begin() + static_cast<std::ptrdiff_t>(stage),
                    [](const StageEnd& event) { return event.fanout.has_value(); }));
}

DimSet Graph::locked(std::size_t stage, std::size_t residency) const {
  DimSet dims;
  for (const TensorId t : residences_.ids()) {
    if (residences_[t][residence_at(residency, t)].stage > stage) {
      dims = dims | problem_->workload().tensors[t].dims();
    }
  }
  return dims;
}

// A tensor moves strictly inwards, and past no level that must keep it. The register, if there is
// one, is last.
bool Graph::may_step(TensorId t, const Residence& outer, const Residence* inner) const {
  if (outer.latch || (inner == nullptr && residences_[t].back().latch)) {
    return outer.latch && inner == nullptr;
  }
  const bool to_level = inner != nullptr && !inner->latch;
  if (to_level && inner->level <= outer.level) {
    return false;
  }
  const std::size_t end = to_level ? index_of(inner->level) : problem_->arch().levels.size();
  for (std::size_t l = index_of(outer.level) + 1; l < end; ++l) {
    if (must_keep(*problem_, *rules_, static_cast<LevelId>(l), t)) {
      return false;
    }
  }
  return true;
}

bool Graph::slides(const BoundaryEdge& edge) const {
  if (edge.inner == BoundaryEdge::kMac) {
    return false;
  }
  const Residence& inner = residences_[edge.tensor][edge.inner];
  return inner.latch || problem_->arch().levels[inner.level].sliding;
}

std::size_t Graph::number_of(const BoundaryEdge& edge) {
  const auto found = std::find(edges_.begin(), edges_.end(), edge);
  if (found == edges_.end()) {
    edges_.push_back(edge);
    return edges_.size() - 1;
  }
  return static_cast<std::size_t>(found - edges_.begin());
}

void Graph::list_moves() {
  moves_.resize(stages() * residencies_);
  loops_.resize(stages() * residencies_);
  sliding_edges_.resize(stages() * residencies_);
  crossings_.resize(stages() * residencies_);
  ends_.resize(residencies_);
  for (std::size_t residency = 0; residency < residencies_; ++residency) {
    list_moves_to(residency);
  }
  for (std::size_t stage = 0; stage < stages(); ++stage) {
    for (std::size_t residency = 0; residency < residencies_; ++residency) {
      if (reading_at(residency) < region(stage).states()) {
        list_loops(stage, residency);
        list_crossings(stage, residency);
      }
    }
  }
}

bool Graph::is_in_array(TensorId t, const Residence& residence) const {
  return may_stay_ && may_stay_->contains(t) &&
         (residence.latch || mapsim::is_in_array(problem_->arch(), residence.level));
}

bool Graph::can_run(std::size_t residency) const {
  bool can = !may_stay_;
  for (const TensorId t : residences_.ids()) {
    can = can || is_in_array(t, residences_[t][residence_at(residency, t)]);
  }
  return can;
}

// Keeping a tensor at a level that ends a region sets the level's flag.
void Graph::list_moves_to(std::size_t residency) {
  bool start = residency < places_;
  const std::size_t reading = reading_at(residency);
  std::optional<std::vector<std::size_t>> end;
  if (reading < region(stages() - 1).states() && region(stages() - 1).may_end(reading) &&
      can_run(residency)) {
    end.emplace();
  }
  for (const TensorId t : residences_.ids()) {
    const std::size_t to = residence_at(residency, t);
    const Residence& inner = residences_[t][to];
    start = start && is_source(*problem_, entry_, t, inner);
    if (end && !may_step(t, inner, nullptr)) {
      end.reset();
    } else if (end && !inner.latch) {
      end->push_back(number_of({t, to, BoundaryEdge::kMac, used_.size()}));
    }
    const std::size_t flag = inner.latch ? 0 : flag_of(inner.level);
    if (flag != 0 && residency / flag % 2 == 0) {
      continue;
    }
    const bool closes = rules_->even && !inner.latch;
    const std::size_t last = closes ? inner.stage : inner.stage + 1;
    for (std::size_t from = 0; from < to; ++from) {
      for (std::size_t stage = 0; stage < last && may_step(t, residences_[t][from], &inner);
           ++stage) {
        const std::size_t place = residency - (to - from) * radix_[t];
        const std::size_t edge = number_of({t, from, to, crossed(stage)});
        moves_[stage * residencies_ + residency].push_back({place, edge});
        if (flag != 0) {
          moves_[stage * residencies_ + residency].push_back({place - flag, edge});
        }
      }
    }
  }
  if (start) {
    starts_.push_back(residency);
  }
  ends_[residency] = end;
}

// Is a loop allowed for some factor?
bool Graph::is_possible(std::size_t stage, const Loop& loop) const {
  if (is_free_) {
    return true;
  }
  const std::int64_t bound = problem_->workload().dims[loop.dim].bound;
  const std::vector<std::int64_t> factors =
      divisors_of(rules_->imperfect ? std::min(bound, Region::kAnyFactor) : bound);
  return std::any_of(factors.begin() + 1, factors.end(),
                     [&](std::int64_t factor) { return passes(stage, loop, factor); });
}

void Graph::list_loops(std::size_t stage, std::size_t residency) {
  for (const DimId d : problem_->workload().dims.ids()) {
    list_slides(stage, residency, problem_->workload().tensors.size(), {{d, 0, residency}, {}});
  }
}

// Adds the loops and sliding-window edges into `target` that end with the edges of `so_far`. Edges
// of the tensors up to `tensors` come before these, from the inside out. An edge whose tile does
// not slide costs the same anywhere; it is left to a boundary edge of its own, unless the tensor
// goes on from there and slides.
void Graph::list_slides(std::size_t stage, std::size_t target, std::size_t tensors,
                        const SlidingEdge& so_far) {
  const std::size_t to = so_far.loop.to;
  const DimId dim = so_far.loop.dim;
  for (std::size_t reading = 0; reading <= reading_at(to); ++reading) {
    SlidingEdge slide = so_far;
    slide.loop.from = with_reading(to, reading);
    const bool leads = !locked(stage, to).contains(dim) && is_possible(stage, slide.loop);
    if (leads && so_far.edges.empty()) {
      loops_[stage * residencies_ + target].push_back(slide.loop);
    } else if (leads) {
      sliding_edges_[stage * residencies_ + target].push_back(slide);
    }
  }
  for (const Move& move : moves_to(stage, to)) {
    const TensorId t = edges_[move.edge].tensor;
    const bool further_in =
        !so_far.edges.empty() && edges_[so_far.edges.back()].tensor == t;  // its later edge slides
    if (index_of(t) < tensors && (further_in || slides(edges_[move.edge])) &&
        is_in_window(problem_->workload().tensors[t], dim)) {
      SlidingEdge longer = so_far;
      longer.loop.to = move.from;
      longer.edges.push_back(move.edge);
      list_slides(stage, target, index_of(t) + 1, longer);
    }
  }
}

// A region may end only if its automaton allows it, and if the level that ends it keeps something.
// Afterwards both are forgotten.
void Graph::list_crossings(std::size_t stage, std::size_t residency) {
  if (stage == 0) {
    return;
  }
  std::vector<std::size_t>& from = crossings_[stage * residencies_ + residency];
  const StageEnd& event = stage_ends_[stage - 1];
  const std::size_t flag = event.fanout ? 0 : flag_of(event.level);
  if (region_of_[stage] == region_of_[stage - 1]) {
    from.push_back(residency);
  } else if (reading_at(residency) == 0 && (flag == 0 || residency / flag % 2 == 0)) {
    for (std::size_t reading = 0; reading < region(stage - 1).states(); ++reading) {
      if (region(stage - 1).may_end(reading)) {
        from.push_back(with_reading(residency, reading) + flag);
      }
    }
  }
}

// Moves lead to larger residencies or later stages, so one sweep forwards and one back suffice.
void Graph::mark_alive() {
  std::vector<bool> forth(stages() * residencies_, false);
  for (const std::size_t start : starts_) {
    forth[start] = true;
  }
  for (std::size_t stage = 0; stage < stages(); ++stage) {
    for (std::size_t residency = 0; residency < residencies_; ++residency) {
      const std::size_t at = stage * residencies_ + residency;
      for (const std::size_t from : crossings_[at]) {
        forth[at] = forth[at] || forth[(stage - 1) * residencies_ + from];
      }
      for (const Move& move : moves_[at]) {
        forth[at] = forth[at] || forth[stage * residencies_ + move.from];
      }
      for (const Loop& loop : loops_[at]) {
        forth[at] = forth[at] || forth[stage * residencies_ + loop.from];
      }
    }
  }
  alive_.assign(stages() * residencies_, false);
  for (std::size_t stage = stages(); stage-- > 0;) {
    for (std::size_t residency = residencies_; residency-- > 0;) {
      const std::size_t at = stage * residencies_ + residency;
      alive_[at] = alive_[at] || (stage + 1 == stages() && ends_[residency]);
      if (!alive_[at]) {
        continue;
      }
      for (const std::size_t from : crossings_[at]) {
        alive_[(stage - 1) * residencies_ + from] = true;
      }
      for (const Move& move : moves_[at]) {
        alive_[stage * residencies_ + move.from] = true;
      }
      for (const Loop& loop : loops_[at]) {
        alive_[stage * residencies_ + loop.from] = true;
      }
    }
  }
  for (std::size_t at = 0; at < alive_.size(); ++at) {
    alive_[at] = alive_[at] && forth[at];
  }
}

}  // namespace mapsim::check
