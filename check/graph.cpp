// SPDX-License-Identifier: Apache-2.0
#include "check/graph.hpp"

#include <algorithm>

namespace mapsim::check {

namespace {

bool slides_along(const Tensor& tensor, DimId d) {
  return std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [d](const Rank& rank) {
    return rank.terms.size() > 1 && std::any_of(rank.terms.begin(), rank.terms.end(),
                                                [d](const Term& term) { return term.dim == d; });
  });
}

}  // namespace

Graph::Graph(const Problem& problem, const Rules& rules, const std::vector<FanoutId>& used)
    : problem_{&problem},
      rules_{&rules},
      used_{used},
      stands_(problem.workload().tensors.size()),
      radix_(problem.workload().tensors.size()) {
  list_stands();
  list_rooms();
  list_ports();
  list_moves();
  mark_alive();
}

// Levels and used fanouts from the outside in. In an even space a level that is not the outermost
// closes once its keeps stand; what is placed there earlier waits for that.
void Graph::list_stands() {
  const Arch& arch = problem_->arch();
  const Workload& workload = problem_->workload();
  std::size_t above = 0;
  for (const LevelId l : arch.levels.ids()) {
    for (; above < used_.size() && !arch.is_above(l, used_[above]); ++above) {
      events_.emplace_back(above);
    }
    if (rules_->even && l != LevelId{0}) {
      events_.emplace_back(std::nullopt);
    }
    // Uneven: free once every fanout above has been crossed, whenever that was.
    for (const TensorId t : workload.tensors.ids()) {
      if (may_keep(*problem_, *rules_, l, t)) {
        stands_[t].push_back({l, false, false, events_.size(), above});
        if (workload.tensors[t].bits != workload.tensors[t].partial_bits) {
          stands_[t].push_back({l, false, true, events_.size(), above});
        }
      }
    }
  }
  for (; above < used_.size(); ++above) {
    events_.emplace_back(above);
  }
  for (const TensorId t : workload.tensors.ids()) {
    if (arch.compute.register_reuse.contains(workload.tensors[t].role)) {
      stands_[t].push_back({LevelId{}, true, false, events_.size(), used_.size()});
    }
    radix_[t] = spots_;
    spots_ *= stands_[t].size();
  }
}

void Graph::list_rooms() {
  const Workload& workload = problem_->workload();
  for (const LevelId l : problem_->arch().levels.ids()) {
    const Capacity& capacity = problem_->arch().levels[l].capacity;
    std::vector<std::optional<Role>> roles;
    if (capacity.shared) {
      roles.emplace_back(std::nullopt);
    }
    for (const auto& partition : capacity.per_role) {
      roles.emplace_back(partition.first);
    }
    for (const std::optional<Role>& role : roles) {
      const Bits bits = *problem_->room(l, role.value_or(Role::kInput));
      Room room{l, role, static_cast<double>(bits.count()), {}};
      for (const TensorId t : workload.tensors.ids()) {
        if ((!role || workload.tensors[t].role == *role) && may_keep(*problem_, *rules_, l, t)) {
          room.tenants.insert(t);
        }
      }
      rooms_.push_back(room);
    }
  }
}

std::optional<std::size_t> Graph::room_of(const Placing& placing) const {
  if (placing.inner == Placing::kMac || stands_[placing.tensor][placing.inner].latch) {
    return std::nullopt;
  }
  for (std::size_t r = 0; r < rooms_.size(); ++r) {
    if (rooms_[r].level == stands_[placing.tensor][placing.inner].level &&
        rooms_[r].tenants.contains(placing.tensor)) {
      return r;
    }
  }
  return std::nullopt;
}

void Graph::list_ports() {
  for (const LevelId l : problem_->arch().levels.ids()) {
    const Bandwidth& bandwidth = problem_->arch().levels[l].bandwidth;
    const auto add = [&](const std::optional<BitsPerCycle>& rate, bool reads, bool writes) {
      if (rate) {
        ports_.push_back({l, reads, writes, rate->count()});
      }
    };
    add(bandwidth.read, true, false);
    add(bandwidth.write, false, true);
    add(bandwidth.shared, true, true);
  }
}

std::optional<std::size_t> Graph::port(LevelId level, bool reads) const {
  for (std::size_t q = 0; q < ports_.size(); ++q) {
    if (ports_[q].level == level && (reads ? ports_[q].reads : ports_[q].writes)) {
      return q;
    }
  }
  return std::nullopt;
}

std::size_t Graph::crossed(std::size_t phase) const {
  return static_cast<std::size_t>(
      std::count_if(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(phase),
                    [](const auto& event) { return event.has_value(); }));
}

DimSet Graph::frozen(std::size_t phase, std::size_t spot) const {
  DimSet dims;
  for (const TensorId t : stands_.ids()) {
    if (stands_[t][stand_at(spot, t)].gate > phase) {
      dims = dims | problem_->workload().tensors[t].dims();
    }
  }
  return dims;
}

// Strictly inwards, past no level that must keep the tensor; the latch, if there is one, is last.
bool Graph::may_step(TensorId t, const Stand& outer, const Stand* inner) const {
  if (outer.latch || (inner == nullptr && stands_[t].back().latch)) {
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

std::size_t Graph::number_of(const Placing& placing) {
  const auto found = std::find(placings_.begin(), placings_.end(), placing);
  if (found == placings_.end()) {
    placings_.push_back(placing);
    return placings_.size() - 1;
  }
  return static_cast<std::size_t>(found - placings_.begin());
}

void Graph::list_moves() {
  moves_.resize(phases() * spots_);
  slides_.resize(phases() * spots_);
  ends_.resize(spots_);
  for (std::size_t spot = 0; spot < spots_; ++spot) {
    bool start = true;
    std::optional<std::vector<std::size_t>> end = std::vector<std::size_t>{};
    for (const TensorId t : stands_.ids()) {
      const std::size_t to = stand_at(spot, t);
      const Stand& inner = stands_[t][to];
      start = start && !inner.latch && inner.level == LevelId{0};
      if (end && !may_step(t, inner, nullptr)) {
        end.reset();
      } else if (end && !inner.latch) {
        end->push_back(number_of({t, to, Placing::kMac, used_.size()}));
      }
      const bool closes = rules_->even && !inner.latch;
      const std::size_t last = closes ? inner.gate : inner.gate + 1;
      for (std::size_t from = 0; from < to; ++from) {
        for (std::size_t phase = 0; phase < last && may_step(t, stands_[t][from], &inner);
             ++phase) {
          moves_[phase * spots_ + spot].push_back(
              {spot - (to - from) * radix_[t], number_of({t, from, to, crossed(phase)})});
        }
      }
    }
    if (start) {
      starts_.push_back(spot);
    }
    ends_[spot] = end;
  }
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (std::size_t spot = 0; spot < spots_; ++spot) {
      for (const DimId d : problem_->workload().dims.ids()) {
        list_slides(phase, spot, problem_->workload().tensors.size(), {d, spot, {}});
      }
    }
  }
}

// Adds to the slides into `target` those that end with `so_far`: before it come placings of the
// tensors up to `tensor`, from the inside out.
void Graph::list_slides(std::size_t phase, std::size_t target, std::size_t tensors,
                        const Slide& so_far) {
  if (!so_far.placings.empty() && !frozen(phase, so_far.from).contains(so_far.dim)) {
    slides_[phase * spots_ + target].push_back(so_far);
  }
  for (const Move& move : moves_to(phase, so_far.from)) {
    const TensorId t = placings_[move.placing].tensor;
    if (index_of(t) < tensors && slides_along(problem_->workload().tensors[t], so_far.dim)) {
      Slide longer = so_far;
      longer.from = move.from;
      longer.placings.push_back(move.placing);
      list_slides(phase, target, index_of(t) + 1, longer);
    }
  }
}

// Moves lead to larger spots or later phases: one sweep forth, one back.
void Graph::mark_alive() {
  std::vector<bool> forth(phases() * spots_, false);
  for (const std::size_t start : starts_) {
    forth[start] = true;
  }
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (std::size_t spot = 0; spot < spots_; ++spot) {
      const std::size_t at = phase * spots_ + spot;
      forth[at] = forth[at] || (phase > 0 && forth[at - spots_]);
      for (const Move& move : moves_[at]) {
        forth[at] = forth[at] || forth[phase * spots_ + move.from];
      }
    }
  }
  alive_.assign(phases() * spots_, false);
  for (std::size_t phase = phases(); phase-- > 0;) {
    for (std::size_t spot = spots_; spot-- > 0;) {
      const std::size_t at = phase * spots_ + spot;
      const bool ends = phase + 1 == phases() ? ends_[spot].has_value() : alive_[at + spots_];
      alive_[at] = alive_[at] || ends;
      for (const Move& move : moves_[at]) {
        if (alive_[at]) {
          alive_[phase * spots_ + move.from] = true;
        }
      }
    }
  }
  for (std::size_t at = 0; at < alive_.size(); ++at) {
    alive_[at] = alive_[at] && forth[at];
  }
}

}  // namespace mapsim::check
