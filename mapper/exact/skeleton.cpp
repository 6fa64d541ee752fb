// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/skeleton.hpp"

#include <algorithm>
#include <variant>

#include "costmodel/boundary_cost.hpp"
#include "mapper/exact/volume.hpp"
#include "mapper/factor.hpp"

namespace mapsim::exact {

namespace {

bool may_keep(const Mapspace& space, LevelId level, TensorId t) {
  return space.keep_rule(level, t) != KeepRule::kBypass;
}

}  // namespace

Skeleton::Skeleton(const Mapspace& space, const std::vector<FanoutId>& used,
                   std::optional<TensorSet> may_stay)
    : space_{&space},
      used_{used},
      may_stay_{may_stay},
      regions_{space, used},
      stops_(problem().workload().tensors.size()),
      radix_(problem().workload().tensors.size()) {
  make_events();
  for (const TensorId t : stops_.ids()) {
    make_stops(t);
    radix_[t] = pointers_;
    pointers_ *= stops_[t].size();
  }
  stride_of_borders_ = pointers_;
  pointers_ <<= borders_.size();
  make_ends_of_loops();
  stride_of_ends_ = pointers_;
  pointers_ <<= loops_end_.size();
  stride_of_state_ = pointers_;
  std::size_t states = 1;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    states = std::max(states, regions_[r].states());
  }
  pointers_ *= states;
  make_rooms();
  ports_ = ports_of(problem().arch());
  make_moves();
  make_least_paid();
  for (const TensorId t : stops_.ids()) {
    tensor_moves_.push_back(moves_of(*this, t));
  }
}

void Skeleton::make_events() {
  const Arch& arch = problem().arch();
  std::size_t f = 0;
  for (std::size_t l = 1; l <= arch.levels.size(); ++l) {
    for (; f < used_.size() && arch.levels_above[used_[f]] == l; ++f) {
      events_.push_back({f, LevelId{}});
    }
    if (space_->constraints().even && l < arch.levels.size()) {
      events_.push_back({std::nullopt, static_cast<LevelId>(l)});
    }
  }
  region_.push_back(0);
  for (const Event& event : events_) {
    const bool is_border = event.fanout || regions_.is_border(event.level);
    region_.push_back(region_.back() + (is_border ? 1 : 0));
    bool must = !is_border || event.fanout;
    for (const TensorId t : stops_.ids()) {
      must = must || space_->keep_rule(event.level, t) == KeepRule::kKeep;
    }
    if (!must) {
      borders_.push_back(event.level);
    }
  }
}

void Skeleton::make_stops(TensorId t) {
  const Arch& arch = problem().arch();
  const Tensor& tensor = problem().workload().tensors[t];
  const bool widths = tensor.bits != tensor.partial_bits;
  std::size_t phase = 0;
  for (const LevelId l : arch.levels.ids()) {
    std::size_t fanouts = 0;
    while (fanouts < used_.size() && !arch.is_above(l, used_[fanouts])) {
      ++fanouts;
    }
    if (space_->constraints().even) {
      phase = index_of(l) == 0 ? 0 : index_of(l) + fanouts;  // its own closing event is above it
    } else {
      phase = fanouts;
    }
    if (may_keep(*space_, l, t)) {
      stops_[t].push_back({l, false, false, phase, fanouts});
      if (widths) {
        stops_[t].push_back({l, false, true, phase, fanouts});
      }
    }
  }
  if (arch.compute.register_reuse.contains(tensor.role)) {
    stops_[t].push_back({LevelId{}, true, false, events_.size(), used_.size()});
  }
}

void Skeleton::make_ends_of_loops() {
  if (!space_->constraints().factors.balanced) {
    return;
  }
  for (const LevelId l : problem().arch().levels.ids()) {
    for (const TensorId t : stops_.ids()) {
      const DimSet dims = done_below(space_->constraints().extents, l, TensorSet{t});
      if (!dims.empty() && may_keep(*space_, l, t)) {
        loops_end_.push_back({l, t, dims});
      }
    }
  }
}

void Skeleton::make_rooms() {
  const Arch& arch = problem().arch();
  const Workload& workload = problem().workload();
  for (const LevelId l : arch.levels.ids()) {
    const Capacity& capacity = arch.levels[l].capacity;
    std::vector<std::optional<Role>> roles;
    if (capacity.shared) {
      roles.emplace_back(std::nullopt);
    }
    for (const auto& partition : capacity.per_role) {
      roles.emplace_back(partition.first);
    }
    for (const auto& role : roles) {
      Room room{l, role, kInfinity, false, 0};
      room.bits = static_cast<double>(problem().room(l, role.value_or(Role::kInput))->count());
      int tenants = 0;
      for (const TensorId t : workload.tensors.ids()) {
        const bool fits_role = !role || workload.tensors[t].role == *role;
        tenants += fits_role && may_keep(*space_, l, t) ? 1 : 0;
        for (const Stop& stop : stops_[t]) {
          if (!stop.latch && stop.level == l) {
            const bool closes = space_->constraints().even && index_of(l) > 0;
            room.last_phase = closes ? stop.phase - 1 : stop.phase;
          }
        }
      }
      room.contended = tenants > 1;
      rooms_.push_back(room);
    }
  }
}

std::optional<std::size_t> Skeleton::room_of(const Placing& placing) const {
  if (placing.to == Placing::kMac || stops_[placing.tensor][placing.to].latch) {
    return std::nullopt;
  }
  const Stop& stop = stops_[placing.tensor][placing.to];
  for (std::size_t r = 0; r < rooms_.size(); ++r) {
    const bool same_role =
        !rooms_[r].role || *rooms_[r].role == problem().workload().tensors[placing.tensor].role;
    if (rooms_[r].level == stop.level && same_role) {
      return r;
    }
  }
  return std::nullopt;
}

DimSet Skeleton::frozen(std::size_t phase, std::size_t pointers) const {
  DimSet dims;
  for (const TensorId t : stops_.ids()) {
    if (stop(pointers, t).phase > phase) {
      dims = dims | problem().workload().tensors[t].dims();
    }
  }
  for (std::size_t e = 0; e < loops_end_.size(); ++e) {
    const bool kept = (pointers / stride_of_ends_ >> e & 1U) != 0;
    dims = kept ? dims | loops_end_[e].dims : dims;
  }
  return dims;
}

// No level that the tensor must be kept at lies between the stops; `to` null: the compute units.
bool Skeleton::may_pass(TensorId t, const Stop& from, const Stop* to) const {
  if (from.latch) {
    return to == nullptr;
  }
  const bool latched = stops_[t].back().latch;
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

bool Skeleton::may_place(std::size_t phase, const Stop& to) const {
  const bool closes = space_->constraints().even && !to.latch;
  return closes ? phase < to.phase : phase <= to.phase;
}

std::size_t Skeleton::crossed(std::size_t phase) const {
  std::size_t crossed = 0;
  for (std::size_t p = 0; p < phase; ++p) {
    crossed += events_[p].fanout ? 1 : 0;
  }
  return crossed;
}

std::size_t Skeleton::find_placing(const Placing& placing) {
  const auto [entry, is_new] = placing_index_.try_emplace(placing, placings_.size());
  if (is_new) {
    placings_.push_back(placing);
  }
  return entry->second;
}

// Where a tensor may be placed from a stop, whatever the others do.
const std::vector<NextStop>& Skeleton::next_stops(std::size_t phase, TensorId t, std::size_t from) {
  std::optional<std::vector<NextStop>>& next = next_stops_[t][phase * stops_[t].size() + from];
  if (!next) {
    next.emplace();
    const Stop& above = stops_[t][from];
    for (std::size_t to = from + 1; to < stops_[t].size() && !above.latch; ++to) {
      const Stop& below = stops_[t][to];
      const bool inwards = below.latch || index_of(below.level) > index_of(above.level);
      if (inwards && may_place(phase, below) && may_pass(t, above, &below)) {
        next->push_back({to, find_placing({t, from, to, crossed(phase)})});
      }
    }
  }
  return *next;
}

// Calls visit(Place) for every next stop of a tensor.
template <class Visit>
void Skeleton::for_each_step(std::size_t phase, std::size_t pointers, TensorId t,
                             const Visit& visit) {
  const std::size_t from = stop_index(pointers, t);
  for (const auto& [to, placing] : next_stops(phase, t, from)) {
    const Stop& below = stops_[t][to];
    std::size_t target = pointers + (to - from) * radix_[t];
    for (std::size_t b = 0; b < borders_.size(); ++b) {
      const bool kept = (target / stride_of_borders_ >> b & 1U) != 0;
      target += !below.latch && below.level == borders_[b] && !kept ? stride_of_borders_ << b : 0;
    }
    for (std::size_t e = 0; e < loops_end_.size(); ++e) {
      const bool ends =
          !below.latch && loops_end_[e].level == below.level && loops_end_[e].tensor == t;
      target += ends ? stride_of_ends_ << e : 0;  // a tensor is kept at a level once
    }
    visit(Place{placing, target});
  }
}

// Adds to `found` every way to place tensors from t on that slide along `dim`, one or several
// levels each. `so_far` is left as it is.
void Skeleton::extend_jump(std::size_t phase, DimId dim, TensorId t, Jump& so_far,
                           std::vector<Jump>& found) {
  if (index_of(t) == stops_.size()) {
    if (!so_far.placings.empty()) {
      found.push_back(so_far);
    }
    return;
  }
  const std::size_t target = so_far.target;
  if (sliding_[dim].contains(t)) {
    for_each_step(phase, target, t, [&](const Place& place) {
      so_far.placings.push_back(place.placing);
      so_far.target = place.target;
      extend_jump(phase, dim, t, so_far, found);
      so_far.placings.pop_back();
    });
    so_far.target = target;
  }
  extend_jump(phase, dim, static_cast<TensorId>(index_of(t) + 1), so_far, found);
}

bool Skeleton::is_in_array(TensorId t, const Stop& stop) const {
  const auto* timing = std::get_if<SystolicTiming>(&problem().arch().compute.timing);
  return timing != nullptr && may_stay_ && may_stay_->contains(t) &&
         (stop.latch || index_of(stop.level) >= problem().arch().levels_above[timing->array]);
}

void Skeleton::make_end(std::size_t pointers) {
  std::vector<std::size_t> accesses;
  if (!region(phases() - 1).may_end(state(pointers))) {
    return;
  }
  bool runs = !may_stay_;
  for (const TensorId t : stops_.ids()) {
    runs = runs || is_in_array(t, stop(pointers, t));
  }
  if (!runs) {
    return;
  }
  for (const TensorId t : stops_.ids()) {
    if (!may_pass(t, stop(pointers, t), nullptr)) {
      return;
    }
    if (!stop(pointers, t).latch) {
      accesses.push_back(find_placing({t, stop_index(pointers, t), Placing::kMac, used_.size()}));
    }
  }
  ends_[pointers] = std::move(accesses);
}

std::optional<std::size_t> Skeleton::after_loop(std::size_t phase, std::size_t pointers, DimId dim,
                                                std::int64_t factor) const {
  const auto next = region(phase).after(state(pointers), dim, factor);
  return next ? std::optional(pointers % stride_of_state_ + *next * stride_of_state_)
              : std::nullopt;
}

bool Skeleton::is_neutral(std::size_t phase, std::size_t pointers, DimId dim) const {
  return !region(phase).tracks(dim) && after_loop(phase, pointers, dim, 1) == pointers;
}

std::optional<std::size_t> Skeleton::after_event(std::size_t phase, std::size_t pointers) const {
  if (region_[phase] == region_[phase + 1]) {
    return pointers;
  }
  std::size_t next = pointers % stride_of_state_;
  for (std::size_t b = 0; b < borders_.size(); ++b) {
    if (!events_[phase].fanout && borders_[b] == events_[phase].level) {
      if ((next / stride_of_borders_ >> b & 1U) == 0) {
        return std::nullopt;
      }
      next -= stride_of_borders_ << b;
    }
  }
  return region(phase).may_end(state(pointers)) ? std::optional(next) : std::nullopt;
}

// Moves go to a later phase or to larger pointers: one sweep in that order sees all that a nest can
// reach.
void Skeleton::make_moves() {
  sliding_.resize(problem().workload().dims.size());
  factors_.resize(sliding_.size());
  for (const DimId d : sliding_.ids()) {
    factors_[d] = divisors(problem().workload().dims[d].bound);
    for (const TensorId t : stops_.ids()) {
      if (slides_along(problem().workload(), problem().workload().tensors[t], d)) {
        sliding_[d].insert(t);
      }
    }
  }
  next_stops_.resize(stops_.size());
  for (const TensorId t : stops_.ids()) {
    next_stops_[t].resize(phases() * stops_[t].size());
  }
  places_.resize(phases() * pointers_);
  jumps_.resize(phases() * pointers_);
  ends_.resize(pointers_);
  reachable_.assign(phases() * pointers_, false);
  for (std::size_t pointers = 0; pointers < stride_of_borders_; ++pointers) {
    bool start = true;
    for (const TensorId t : stops_.ids()) {
      start = start && !stop(pointers, t).latch && index_of(stop(pointers, t).level) == 0;
    }
    if (start) {
      starts_.push_back(pointers);
      reachable_[pointers] = true;
    }
  }
  for (std::size_t phase = 0; phase < phases(); ++phase) {
    for (std::size_t pointers = 0; pointers < pointers_; ++pointers) {
      if (reachable_[phase * pointers_ + pointers]) {
        make_moves(phase, pointers);
      }
    }
  }
}

void Skeleton::make_moves(std::size_t phase, std::size_t pointers) {
  const std::size_t node = phase * pointers_ + pointers;
  const auto reach = [&](std::size_t at_phase, std::optional<std::size_t> at) {
    if (at) {
      reachable_[at_phase * pointers_ + *at] = true;
    }
  };
  if (phase + 1 < phases()) {
    reach(phase + 1, after_event(phase, pointers));
  } else {
    make_end(pointers);
  }
  for (const TensorId t : stops_.ids()) {
    for_each_step(phase, pointers, t, [&](const Place& place) {
      places_[node].push_back(place);
      reach(phase, place.target);
    });
  }
  const DimSet fixed = frozen(phase, pointers);
  for (const DimId d : sliding_.ids()) {
    if (fixed.contains(d) || !after_loop(phase, pointers, d, 1)) {
      continue;
    }
    const std::size_t first = jumps_[node].size();
    if (!sliding_[d].empty()) {
      Jump none{d, {}, pointers};
      extend_jump(phase, d, TensorId{0}, none, jumps_[node]);
    }
    // Loops of all factors lead to one place if they are neutral.
    const std::size_t kinds = is_neutral(phase, pointers, d) ? 1 : factors_[d].size();
    for (std::size_t i = 0; i < kinds; ++i) {
      reach(phase, after_loop(phase, pointers, d, factors_[d][i]));
      for (std::size_t j = first; j < jumps_[node].size(); ++j) {
        reach(phase, after_loop(phase, jumps_[node][j].target, d, factors_[d][i]));
      }
    }
  }
}

// Placings lead to stops further on. Sums may move at either width.
void Skeleton::make_least_paid() {
  const Arch& arch = problem().arch();
  least_paid_.resize(stops_.size());
  for (const TensorId t : stops_.ids()) {
    const Tensor& tensor = problem().workload().tensors[t];
    const bool output = t == problem().workload().output();
    const double bits = static_cast<double>(footprint(tensor, bounds_of(problem().workload()))) *
                        std::min(problem().moved_bits(t, tensor.bits),
                                 problem().moved_bits(t, tensor.partial_bits));
    least_paid_[t].resize(stops_[t].size(), kInfinity);
    for (std::size_t to = 0; to < stops_[t].size(); ++to) {
      const Stop& stop = stops_[t][to];
      double& least = least_paid_[t][to];
      least = !stop.latch && stop.level == LevelId{0} ? 0 : kInfinity;
      for (const Placing& placing : placings_) {
        if (placing.tensor == t && placing.to == to) {
          const Storage& parent = arch.levels[stops_[t][placing.from].level];
          const double leaves = parent_energy(parent, output).crossing_pj;
          const double arrives =
              stop.latch ? 0 : child_energy(arch.levels[stop.level], output).crossing_pj;
          least = std::min(least, least_paid_[t][placing.from] + bits * (leaves + arrives));
        }
      }
    }
  }
}

double Skeleton::least_paid(std::size_t pointers) const {
  double paid = 0;
  for (const TensorId t : stops_.ids()) {
    paid += least_paid_[t][stop_index(pointers, t)];
  }
  return paid;
}

}  // namespace mapsim::exact
