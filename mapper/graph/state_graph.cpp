// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/state_graph.hpp"

#include <algorithm>

#include "arch/capacities.hpp"
#include "arch/timing/array.hpp"
#include "core/factor.hpp"
#include "costmodel/boundary_cost.hpp"
#include "mapper/graph/volume.hpp"

// A residency is a number in mixed radix. Its digits are, from the lowest to the highest:
//
// 1. per tensor: the index of the residence where it was last kept;
// 2. one bit per level that ends a region and must keep some tensor, though no particular one
//    (borders_): has it kept one?
// 3. with imperfect factors, one bit per keep below which rules forbid loops (loops_end_): has it
//    been made?
// 4. the state of the loop-order automaton of the current region.

namespace mapsim::exact {

namespace {

constexpr std::size_t kLevelsWithDetours = 9;

bool may_keep(const Mapspace& space, LevelId level, TensorId t) {
  return space.keep_rule(level, t) != KeepRule::kBypass;
}

// On machines of many levels: does a sliding-window edge that keeps a tensor at two residences in
// turn cost at least as much as one that leaves out the first? It does if no rule demands the first
// and no fanout lies between them: the same tile then moves to the second from further out, over
// the same fanouts, and the first's reads and writes come on top. Of ramped latency this is not so:
// it charges an edge in addition to the ports unless its own port is slower. Without this, machines
// of n levels have some 2^n sliding-window edges.
bool is_detour(const Mapspace& space, TensorId t, const Residence& first, const Residence& second) {
  const Arch& arch = space.problem().arch();
  return arch.levels.size() >= kLevelsWithDetours && !space.constraints().even && !arch.sparsity &&
         !second.latch && first.fanouts == second.fanouts && first.narrow == second.narrow &&
         space.keep_rule(first.level, t) == KeepRule::kFree;
}

}  // namespace

StateGraph::StateGraph(const Mapspace& space, const std::vector<FanoutId>& used,
                       std::optional<TensorSet> may_stay, bool ramped)
    : space_{&space},
      used_{used},
      may_stay_{may_stay},
      ramped_{ramped},
      regions_{space, used},
      residences_(problem().workload().tensors.size()),
      radix_(problem().workload().tensors.size()) {
  make_stage_ends();
  for (const TensorId t : residences_.ids()) {
    make_residences(t);
    radix_[t] = residencies_;
    residencies_ *= residences_[t].size();
  }
  stride_of_borders_ = residencies_;
  residencies_ <<= borders_.size();
  make_ends_of_loops();
  stride_of_ends_ = residencies_;
  residencies_ <<= loops_end_.size();
  stride_of_state_ = residencies_;
  std::size_t states = 1;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    states = std::max(states, regions_[r].states());
  }
  residencies_ *= states;
  make_capacities();
  ports_ = ports_of(problem().arch());
  make_moves();
  make_least_so_far();
  for (const TensorId t : residences_.ids()) {
    tensor_moves_.push_back(moves_of(*this, t));
  }
}

void StateGraph::make_stage_ends() {
  const Arch& arch = problem().arch();
  std::size_t f = 0;
  for (std::size_t l = 1; l <= arch.levels.size(); ++l) {
    for (; f < used_.size() && arch.levels_above[used_[f]] == l; ++f) {
      stage_ends_.push_back({f, LevelId{}});
    }
    if (space_->constraints().even && l < arch.levels.size()) {
      stage_ends_.push_back({std::nullopt, static_cast<LevelId>(l)});
    }
  }
  region_.push_back(0);
  for (const StageEnd& stage_end : stage_ends_) {
    const bool is_border = stage_end.fanout || regions_.is_border(stage_end.level);
    region_.push_back(region_.back() + (is_border ? 1 : 0));
    bool must = !is_border || stage_end.fanout;
    for (const TensorId t : residences_.ids()) {
      must = must || space_->keep_rule(stage_end.level, t) == KeepRule::kKeep;
    }
    if (!must) {
      borders_.push_back(stage_end.level);
    }
  }
}

void StateGraph::make_residences(TensorId t) {
  const Arch& arch = problem().arch();
  const Tensor& tensor = problem().workload().tensors[t];
  const bool widths = tensor.bits != tensor.partial_bits;
  std::size_t stage = 0;
  for (const LevelId l : arch.levels.ids()) {
    std::size_t fanouts = 0;
    while (fanouts < used_.size() && !arch.is_above(l, used_[fanouts])) {
      ++fanouts;
    }
    if (space_->constraints().even) {
      stage =
          index_of(l) == 0 ? 0 : index_of(l) + fanouts;  // its own closing stage_end is above it
    } else {
      stage = fanouts;
    }
    if (may_keep(*space_, l, t)) {
      residences_[t].push_back({l, false, false, stage, fanouts});
      if (widths) {
        residences_[t].push_back({l, false, true, stage, fanouts});
      }
    }
  }
  if (arch.compute.register_reuse.contains(tensor.role)) {
    residences_[t].push_back({LevelId{}, true, false, stage_ends_.size(), used_.size()});
  }
}

void StateGraph::make_ends_of_loops() {
  if (!space_->constraints().factors.imperfect) {
    return;
  }
  for (const LevelId l : problem().arch().levels.ids()) {
    for (const TensorId t : residences_.ids()) {
      const DimSet dims = done_below(space_->constraints().extents, l, TensorSet{t});
      if (!dims.empty() && may_keep(*space_, l, t)) {
        loops_end_.push_back({l, t, dims});
      }
    }
  }
}

void StateGraph::make_capacities() {
  const Workload& workload = problem().workload();
  for (const auto& [l, role, bits] : capacities_of(problem().arch())) {
    CapacityConstraint capacity{l, role, static_cast<double>(bits.count()), false, 0};
    int sharers = 0;
    for (const TensorId t : workload.tensors.ids()) {
      const bool fits_role = !role || workload.tensors[t].role == *role;
      sharers += fits_role && may_keep(*space_, l, t) ? 1 : 0;
      for (const Residence& residence : residences_[t]) {
        if (!residence.latch && residence.level == l) {
          const bool closes = space_->constraints().even && index_of(l) > 0;
          capacity.last_stage = closes ? residence.stage - 1 : residence.stage;
        }
      }
    }
    capacity.is_shared = sharers > 1;
    capacities_.push_back(capacity);
  }
}

std::optional<std::size_t> StateGraph::capacity_of(const BoundaryEdge& edge) const {
  if (edge.to == BoundaryEdge::kMac || residences_[edge.tensor][edge.to].latch) {
    return std::nullopt;
  }
  const Residence& residence = residences_[edge.tensor][edge.to];
  for (std::size_t r = 0; r < capacities_.size(); ++r) {
    const bool same_role = !capacities_[r].role ||
                           *capacities_[r].role == problem().workload().tensors[edge.tensor].role;
    if (capacities_[r].level == residence.level && same_role) {
      return r;
    }
  }
  return std::nullopt;
}

DimSet StateGraph::locked(std::size_t stage, std::size_t residency) const {
  DimSet dims;
  for (const TensorId t : residences_.ids()) {
    if (residence(residency, t).stage > stage) {
      dims = dims | problem().workload().tensors[t].dims();
    }
  }
  for (std::size_t e = 0; e < loops_end_.size(); ++e) {
    const bool kept = (residency / stride_of_ends_ >> e & 1U) != 0;
    dims = kept ? dims | loops_end_[e].dims : dims;
  }
  return dims;
}

// Is there no level between the residences at which the tensor must be kept? `to` null: the compute
// units.
bool StateGraph::may_pass(TensorId t, const Residence& from, const Residence* to) const {
  if (from.latch) {
    return to == nullptr;
  }
  const bool latched = residences_[t].back().latch;
  if (to == nullptr && latched) {
    return false;
  }
  const std::size_t end =
      to != nullptr && !to->latch ? index_of(to->level) : problem().arch().levels.size();
  for (std::size_t l = index_of(from.level) + 1; l < end; ++l) {
    if (space_->keep_rule(static_cast<LevelId>(l), t) == KeepRule::kKeep) {
      return false;
    }
  }
  return true;
}

bool StateGraph::may_place(std::size_t stage, const Residence& to) const {
  const bool closes = space_->constraints().even && !to.latch;
  return closes ? stage < to.stage : stage <= to.stage;
}

std::size_t StateGraph::crossed(std::size_t stage) const {
  std::size_t crossed = 0;
  for (std::size_t p = 0; p < stage; ++p) {
    crossed += stage_ends_[p].fanout ? 1 : 0;
  }
  return crossed;
}

std::size_t StateGraph::find_edge(const BoundaryEdge& edge) {
  const auto [entry, is_new] = edge_index_.try_emplace(edge, edges_.size());
  if (is_new) {
    edges_.push_back(edge);
  }
  return entry->second;
}

// The residences at which a tensor can be kept next, whatever the other tensors do.
const std::vector<NextResidence>& StateGraph::next_residences(std::size_t stage, TensorId t,
                                                              std::size_t from) {
  std::optional<std::vector<NextResidence>>& next =
      next_residences_[t][stage * residences_[t].size() + from];
  if (!next) {
    next.emplace();
    const Residence& above = residences_[t][from];
    for (std::size_t to = from + 1; to < residences_[t].size() && !above.latch; ++to) {
      const Residence& below = residences_[t][to];
      const bool inwards = below.latch || index_of(below.level) > index_of(above.level);
      if (inwards && may_place(stage, below) && may_pass(t, above, &below)) {
        next->push_back({to, find_edge({t, from, to, crossed(stage)})});
      }
    }
  }
  return *next;
}

// Calls visit(KeepMove) for every next residence of a tensor.
template <class Visit>
void StateGraph::for_each_step(std::size_t stage, std::size_t residency, TensorId t,
                               const Visit& visit) {
  const std::size_t from = residence_index(residency, t);
  for (const auto& [to, edge] : next_residences(stage, t, from)) {
    const Residence& below = residences_[t][to];
    std::size_t target = residency + (to - from) * radix_[t];
    for (std::size_t b = 0; b < borders_.size(); ++b) {
      const bool kept = (target / stride_of_borders_ >> b & 1U) != 0;
      target += !below.latch && below.level == borders_[b] && !kept ? stride_of_borders_ << b : 0;
    }
    for (std::size_t e = 0; e < loops_end_.size(); ++e) {
      const bool ends =
          !below.latch && loops_end_[e].level == below.level && loops_end_[e].tensor == t;
      target += ends ? stride_of_ends_ << e : 0;  // a tensor is kept at a level once
    }
    visit(KeepMove{edge, target});
  }
}

// Adds to `found` every way to keep some of the tensors from t on that slide along `dim`, each at
// one or several levels. `so_far` is restored.
void StateGraph::extend_sliding_edge(std::size_t stage, DimId dim, TensorId t, SlidingEdge& so_far,
                                     std::vector<SlidingEdge>& found) {
  if (index_of(t) == residences_.size()) {
    if (!so_far.edges.empty()) {
      found.push_back(so_far);
    }
    return;
  }
  const std::size_t target = so_far.target;
  if (sliding_[dim].contains(t)) {
    for_each_step(stage, target, t, [&](const KeepMove& keep) {
      const BoundaryEdge* last = so_far.edges.empty() ? nullptr : &edges_[so_far.edges.back()];
      if (!ramped_ && last != nullptr && last->tensor == t &&
          is_detour(*space_, t, residences_[t][last->to], residences_[t][edges_[keep.edge].to])) {
        return;
      }
      so_far.edges.push_back(keep.edge);
      so_far.target = keep.target;
      extend_sliding_edge(stage, dim, t, so_far, found);
      so_far.edges.pop_back();
    });
    so_far.target = target;
  }
  extend_sliding_edge(stage, dim, static_cast<TensorId>(index_of(t) + 1), so_far, found);
}

bool StateGraph::is_in_array(TensorId t, const Residence& residence) const {
  return may_stay_ && may_stay_->contains(t) &&
         (residence.latch || mapsim::is_in_array(problem().arch(), residence.level));
}

void StateGraph::make_end(std::size_t residency) {
  std::vector<std::size_t> accesses;
  if (!region(stages() - 1).may_end(state(residency))) {
    return;
  }
  bool runs = !may_stay_;
  for (const TensorId t : residences_.ids()) {
    runs = runs || is_in_array(t, residence(residency, t));
  }
  if (!runs) {
    return;
  }
  for (const TensorId t : residences_.ids()) {
    if (!may_pass(t, residence(residency, t), nullptr)) {
      return;
    }
    if (!residence(residency, t).latch) {
      accesses.push_back(
          find_edge({t, residence_index(residency, t), BoundaryEdge::kMac, used_.size()}));
    }
  }
  ends_[residency] = std::move(accesses);
}

std::optional<std::size_t> StateGraph::after_loop(std::size_t stage, std::size_t residency,
                                                  DimId dim, std::int64_t factor) const {
  const auto next = region(stage).after(state(residency), dim, factor);
  return next ? std::optional(residency % stride_of_state_ + *next * stride_of_state_)
              : std::nullopt;
}

bool StateGraph::is_neutral(std::size_t stage, std::size_t residency, DimId dim) const {
  return !region(stage).tracks(dim) && after_loop(stage, residency, dim, 1) == residency;
}

std::optional<std::size_t> StateGraph::after_stage(std::size_t stage, std::size_t residency) const {
  if (region_[stage] == region_[stage + 1]) {
    return residency;
  }
  std::size_t next = residency % stride_of_state_;
  for (std::size_t b = 0; b < borders_.size(); ++b) {
    if (!stage_ends_[stage].fanout && borders_[b] == stage_ends_[stage].level) {
      if ((next / stride_of_borders_ >> b & 1U) == 0) {
        return std::nullopt;
      }
      next -= stride_of_borders_ << b;
    }
  }
  return region(stage).may_end(state(residency)) ? std::optional(next) : std::nullopt;
}

// Moves lead to a later stage or a larger residency, so a single sweep in that order reaches all
// that a nest can reach.
void StateGraph::make_moves() {
  sliding_.resize(problem().workload().dims.size());
  factors_.resize(sliding_.size());
  for (const DimId d : sliding_.ids()) {
    factors_[d] = divisors_of(problem().workload().dims[d].bound);
    for (const TensorId t : residences_.ids()) {
      if (slides_along(problem().workload(), problem().workload().tensors[t], d)) {
        sliding_[d].insert(t);
      }
    }
  }
  next_residences_.resize(residences_.size());
  for (const TensorId t : residences_.ids()) {
    next_residences_[t].resize(stages() * residences_[t].size());
  }
  keep_moves_.resize(stages() * residencies_);
  sliding_edges_.resize(stages() * residencies_);
  ends_.resize(residencies_);
  reachable_.assign(stages() * residencies_, false);
  for (std::size_t residency = 0; residency < stride_of_borders_; ++residency) {
    bool start = true;
    for (const TensorId t : residences_.ids()) {
      start = start && !residence(residency, t).latch &&
              residence(residency, t).level == space_->entry().source(t) &&
              (t != problem().workload().output() ||
               space_->entry().final_sums.value_or(residence(residency, t).narrow) ==
                   residence(residency, t).narrow);
    }
    if (start) {
      starts_.push_back(residency);
      reachable_[residency] = true;
    }
  }
  for (std::size_t stage = 0; stage < stages(); ++stage) {
    for (std::size_t residency = 0; residency < residencies_; ++residency) {
      if (reachable_[stage * residencies_ + residency]) {
        make_moves(stage, residency);
      }
    }
  }
}

void StateGraph::make_moves(std::size_t stage, std::size_t residency) {
  const std::size_t row = stage * residencies_ + residency;
  if (stage + 1 == stages()) {
    make_end(residency);
  }
  for (const TensorId t : residences_.ids()) {
    for_each_step(stage, residency, t,
                  [&](const KeepMove& keep) { keep_moves_[row].push_back(keep); });
  }
  const DimSet fixed = locked(stage, residency);
  for (const DimId d : sliding_.ids()) {
    if (!fixed.contains(d) && !sliding_[d].empty() && after_loop(stage, residency, d, 1)) {
      SlidingEdge none{d, {}, residency};
      extend_sliding_edge(stage, d, TensorId{0}, none, sliding_edges_[row]);
    }
  }
  for (const std::size_t target : targets(row, {})) {
    reachable_[target] = true;
  }
}

// Edges lead to residences with a larger index. Sums may move at either width.
void StateGraph::make_least_so_far() {
  const Arch& arch = problem().arch();
  least_so_far_.resize(residences_.size());
  double share = 1;  // a lower bound of the mean entry's points per point of the largest entry
  for (const DimId d : problem().workload().dims.ids()) {
    const std::int64_t bound = problem().workload().dims[d].bound;
    share *= space_->entry().mean_size(d, bound) / static_cast<double>(bound);
  }
  for (const TensorId t : residences_.ids()) {
    const Tensor& tensor = problem().workload().tensors[t];
    const bool output = t == problem().workload().output();
    const double bits = share *
                        static_cast<double>(footprint(tensor, bounds_of(problem().workload()))) *
                        std::min(problem().moved_bits(t, tensor.bits),
                                 problem().moved_bits(t, tensor.partial_bits));
    least_so_far_[t].resize(residences_[t].size(), kInfinity);
    for (std::size_t to = 0; to < residences_[t].size(); ++to) {
      const Residence& residence = residences_[t][to];
      double& least = least_so_far_[t][to];
      least = !residence.latch && residence.level == space_->entry().source(t) ? 0 : kInfinity;
      for (const BoundaryEdge& edge : edges_) {
        if (edge.tensor == t && edge.to == to) {
          const Storage& parent = arch.levels[residences_[t][edge.from].level];
          const double leaves = parent_energy(parent, output).crossing_pj;
          const double arrives =
              residence.latch ? 0 : child_energy(arch.levels[residence.level], output).crossing_pj;
          least = std::min(least, least_so_far_[t][edge.from] + bits * (leaves + arrives));
        }
      }
    }
  }
}

double StateGraph::least_so_far(std::size_t residency) const {
  double sum = 0;
  for (const TensorId t : residences_.ids()) {
    sum += least_so_far_[t][residence_index(residency, t)];
  }
  return sum;
}

}  // namespace mapsim::exact
