// SPDX-License-Identifier: Apache-2.0
#include "mapper/front.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <variant>

#include "arch/buffering.hpp"
#include "core/threads.hpp"
#include "mapper/balanced/search.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/infeasible.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/few.hpp"
#include "mapper/front_points.hpp"
#include "mapper/group_search.hpp"
#include "mapper/nvdla/front.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

using exact::Key;

// More than any tile takes, and a whole number of bits as a double.
constexpr Bits kPlenty{std::int64_t{1} << 52};

class FrontSearch {
 public:
  using Measure = std::function<std::int64_t(const Cost&)>;

  // `room`: what the second figure measures; none: latency.
  FrontSearch(const Mapspace& space, const SearchOptions& options,
              const std::optional<CurveRoom>& room, Measure measure, const Patience& patience,
              std::int64_t trial_labels)
      : space_{space},
        options_{options},
        room_{room},
        measure_{std::move(measure)},
        patience_{patience},
        trial_labels_{trial_labels},
        groups_(space, options.objective, &patience),
        points_{room.has_value()},
        most_labels_{labels_worth(count_if_few(space))} {}

  // Points that are known to be of the space: what they cover is not looked at.
  void start_from(const std::vector<FrontPoint>& points, const Statistics& statistics) {
    spent_ += statistics.labels;
    front_.statistics.evaluations += statistics.evaluations;
    for (const FrontPoint& point : points) {
      points_.insert(key_of(point), point);
    }
  }

  // The fast end, of which one objective is enough: so the energies of all others are limited.
  void start_from_fastest() {
    SearchOptions fast = options_;
    fast.objective.function = Objective::kLatency.function;
    fast.objective.exact_ties = false;
    fast.progress = nullptr;
    fast.budget.labels = std::max<std::int64_t>(1, fast.budget.labels / 2);
    SearchResult found = search_groups(space_, fast, patience_);
    std::vector<FrontPoint> points;
    if (found.cost && is_within_limits(options_.objective, *found.cost)) {
      points.push_back({objective_value(options_.objective, *found.cost), measure_(*found.cost),
                        *found.best, *found.cost});
    }
    start_from(points, found.statistics);
    front_.statistics.labels += found.statistics.labels;
    front_.statistics.states += found.statistics.states;
  }

  Front run() {
    bool first = true;
    front_.complete = true;
    std::vector<std::size_t> order = groups_.by_floor();
    std::erase_if(order, [this](std::size_t g) { return groups_.first_alike()[g] != g; });
    exact::Groups::for_batches(order, [&](std::span<const std::size_t> batch) {
      const std::int64_t left = options_.budget.labels - spent_;
      const std::int64_t labels = std::min(left, most_labels_ - front_.statistics.labels);
      if (!first && (patience_.over() || labels <= 0)) {
        front_.complete = false;
        return false;
      }
      first = false;
      search_batch(batch, labels, left);
      return true;
    });
    if (most_labels_ < options_.budget.labels && (!front_.complete || front_.but_for_bare)) {
      look_at_all();
    }
    front_.points = points_.take();
    // Balanced factors and rules can take long to count: whoever is stopped goes without.
    front_.mapspace_size =
        space_.size_unless([this] { return !front_.complete || patience_.over(); }).value_or("");
    front_.statistics.unrollings_total = static_cast<std::int64_t>(groups_.size());
    front_.statistics.seconds = patience_.seconds();
    return std::move(front_);
  }

 private:
  // What a search of one group came to.
  struct Part {
    std::vector<FrontPoint> points;
    std::vector<Key> keys;
    std::int64_t labels = 0;
    std::int64_t spent = 0;  // of the budget
    std::int64_t states = 0;
    bool looked_into = false;
    bool is_hard = false;  // it took many labels
    bool complete = true;
    bool but_for_bare = false;
  };

  bool is_balanced() const { return space_.constraints().factors.balanced; }

  // Points join in the order of the batch, whichever thread found them.
  void search_batch(std::span<const std::size_t> batch, std::int64_t labels, std::int64_t budget) {
    const auto count = static_cast<std::int64_t>(batch.size());
    std::vector<Part> parts(batch.size());
    exact::Quest quest;
    quest.labels = std::max<std::int64_t>(1, labels / count);
    quest.budget = std::max<std::int64_t>(1, budget / count);
    for_each_on_threads(batch.size(), options_.threads,
                        [&](std::size_t i) { parts[i] = search(batch[i], quest); });
    for (Part& part : parts) {
      add(part);
    }
    report(batch.size());
  }

  Part search(std::size_t group, exact::Quest quest) const {
    Part part;
    if (points_.known().rules_out(groups_.floor(group))) {
      return part;
    }
    if (patience_.over() && !points_.known().points().empty()) {
      part.complete = false;
      return part;
    }
    quest.known = points_.known();
    if (room_) {
      quest.measured_room = index_of_room(groups_.skeleton(group));
    }
    if (is_balanced()) {
      search_balanced(group, quest, part);
    } else {
      search_perfect(group, quest, part);
    }
    return part;
  }

  // Do the bounds of residency patterns say more than those of whole classes? Of a curve they know
  // one figure only.
  bool has_patterns() const { return !room_ && !space_.problem().is_timed_by_model(); }

  // The class as a whole, with few labels if that may be enough, then one residency pattern after
  // the other.
  void search_perfect(std::size_t group, exact::Quest& quest, Part& part) const {
    if (!has_patterns()) {
      search_labels(group, quest, nullptr, part);
      return;
    }
    if (!points_.known().points().empty() && groups_.patterns(group, quest.known, true).empty()) {
      return;
    }
    if (!is_hard_ && trial_labels_ > 0) {
      exact::Quest trial = quest;
      trial.labels = std::min(quest.labels, trial_labels_);
      search_labels(group, trial, nullptr, part);
      quest.known = trial.known;
      if (part.complete || part.labels >= quest.labels || patience_.over()) {
        return;
      }
    }
    part.is_hard = true;
    part.complete = true;
    quest.labels -= part.labels;
    for (const exact::Pattern& pattern : groups_.patterns(group, quest.known, false)) {
      if (quest.known.rules_out(pattern.bound)) {
        continue;
      }
      if (quest.labels <= 0 || patience_.over()) {
        part.complete = false;
        return;
      }
      const std::int64_t before = part.labels;
      search_labels(group, quest, &pattern, part);
      quest.labels -= part.labels - before;
    }
  }

  void search_labels(std::size_t group, exact::Quest& quest, const exact::Pattern* pattern,
                     Part& part) const {
    const bool is_worth =
        !room_ && !quest.known.points().empty() && !has_many_rows(groups_.skeleton(group));
    if (is_worth && groups_.is_ruled_out(group, quest.known, pattern)) {
      return;
    }
    const auto instance = groups_.build(group, quest.known, true, pattern);
    part.states += static_cast<std::int64_t>(instance->bound.nodes().size());
    if (!instance->dived.steps.empty()) {
      add_point(part, instance->dived.key,
                groups_.mapping(*instance, group, instance->dived.steps));
      quest.known.insert(instance->dived.key);
    }
    if (!(instance->root().first < exact::kInfinity)) {
      return;
    }
    const exact::LabelResult found = exact::search_labels(*instance, quest, patience_);
    for (const exact::Ending& ending : found.endings) {
      add_point(part, ending.key, groups_.mapping(*instance, group, ending.steps));
      quest.known.insert(ending.key);
    }
    part.looked_into = true;
    part.labels += found.expanded;
    part.spent += found.expanded;
    part.complete = part.complete && !found.stopped;
  }

  void add_point(Part& part, const Key& key, Mapping mapping) const {
    const Evaluation evaluation = evaluate(space_.problem(), mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      part.points.push_back(
          {objective_value(options_.objective, *cost), measure_(*cost), std::move(mapping), *cost});
      part.keys.push_back(key);
    }
  }

  // Of a space of few mappings.
  void look_at_all() {
    Evaluator evaluator(space_.problem());
    front_.complete = space_.enumerate([&](const Mapping& mapping) {
      ++front_.statistics.evaluations;
      if (!evaluator.evaluate(mapping) && is_within_limits(options_.objective, evaluator.cost())) {
        join(mapping, evaluator.cost());
      }
      return front_.statistics.evaluations % 1024 != 0 || !patience_.over();
    });
    front_.but_for_bare = front_.but_for_bare && !front_.complete;
  }

  void join(const Mapping& mapping, const Cost& cost) {
    const FrontPoint point{objective_value(options_.objective, cost), measure_(cost), mapping,
                           cost};
    points_.insert(key_of(point), point);
  }

  Key key_of(const FrontPoint& point) const {
    const int copies = room_ ? copies_of(space_.problem().arch().levels[room_->level]) : 1;
    return {point.value, static_cast<double>(point.measure / copies)};
  }

  // Coarse lattices first: they are cheap, and most groups need no other.
  void search_balanced(std::size_t group, exact::Quest quest, Part& part) const {
    const exact::Skeleton& skeleton = groups_.skeleton(group);
    const UnrollingGroup& unrollings = groups_.unrolling(group);
    for (const std::size_t most : balanced::kCoarseTiles) {
      const std::int64_t bounding = balanced::labels_of_bound(skeleton, most);
      if (bounding > quest.budget) {
        break;
      }
      quest.budget -= bounding;
      part.spent += bounding;
      if (points_.known().rules_out(
              balanced::coarse_bound(skeleton, unrollings, options_.objective, most, patience_))) {
        return;
      }
    }
    balanced::Outcome found =
        balanced::search_group(skeleton, unrollings, options_.objective, quest, patience_);
    for (balanced::Outcome::Point& point : found.points) {
      add_point(part, point.key, std::move(point.mapping));
    }
    part.states = found.states;
    part.looked_into = found.searched;
    part.labels = found.labels;
    part.spent += found.labels + found.spent;
    part.complete = found.complete;
    part.but_for_bare = found.bare.has_value();
  }

  void add(Part& part) {
    Statistics& statistics = front_.statistics;
    statistics.evaluations += static_cast<std::int64_t>(part.points.size());
    statistics.labels += part.labels;
    spent_ += part.spent;
    statistics.states += part.states;
    statistics.unrollings += part.looked_into ? 1 : 0;
    front_.complete = front_.complete && part.complete;
    front_.but_for_bare = front_.but_for_bare || part.but_for_bare;
    is_hard_ = is_hard_ || part.is_hard;
    for (std::size_t i = 0; i < part.points.size(); ++i) {
      points_.insert(part.keys[i], std::move(part.points[i]));
    }
  }

  std::size_t index_of_room(const exact::Skeleton& skeleton) const {
    const auto& rooms = skeleton.rooms();
    const auto room = std::find_if(rooms.begin(), rooms.end(), [&](const exact::Room& candidate) {
      return candidate.level == room_->level && candidate.role == room_->role;
    });
    return static_cast<std::size_t>(room - rooms.begin());
  }

  void report(std::size_t groups_done) {
    done_ += static_cast<std::int64_t>(groups_done);
    if (options_.progress) {
      Progress progress;
      if (!points_.known().points().empty()) {
        progress.best = points_.known().points().front().key.first;
      }
      progress.unrollings = done_;
      progress.unrollings_total = static_cast<std::int64_t>(groups_.size());
      progress.labels = front_.statistics.labels;
      progress.seconds = patience_.seconds();
      options_.progress(progress);
    }
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  std::optional<CurveRoom> room_;
  Measure measure_;
  const Patience& patience_;
  std::int64_t trial_labels_;
  exact::Groups groups_;
  FrontPoints points_;
  std::int64_t most_labels_;  // to be expanded
  std::int64_t spent_ = 0;    // of the budget
  bool is_hard_ = false;      // a class has taken many labels
  std::int64_t done_ = 0;
  Front front_;
};

// With balanced factors the front of perfect ones, which is found at once, is what to go below.
Front search_for_front(const Mapspace& space, const SearchOptions& options,
                       const std::optional<CurveRoom>& room, const FrontSearch::Measure& measure,
                       std::int64_t trial_labels = 0) {
  const Patience patience(options);
  FrontSearch search(space, options, room, measure, patience, trial_labels);
  if (space.constraints().factors.balanced) {
    Constraints constraints = space.constraints();
    constraints.factors = {};
    const Mapspace perfect(space.problem(), constraints);
    SearchOptions quietly = options;
    quietly.progress = nullptr;
    FrontSearch first(perfect, quietly, room, measure, patience, trial_labels);
    const Front known = first.run();
    search.start_from(known.points, known.statistics);
  } else if (!room) {
    search.start_from_fastest();
  }
  return search.run();
}

// Bits that the tiles take in a room, and what the level must have for them.
std::int64_t capacity_for(const Problem& problem, const CurveRoom& room, const Cost& cost) {
  std::int64_t bits = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    const TensorCounts& at = cost.counts.levels[room.level][t];
    if (at.kept && (!room.role || *room.role == problem.workload().tensors[t].role)) {
      bits += at.footprint * at.bits.count();
    }
  }
  return copies_of(problem.arch().levels[room.level]) * bits;
}

Problem with_plenty(const Problem& problem, const CurveRoom& room) {
  Arch arch = problem.arch();
  Capacity& capacity = arch.levels[room.level].capacity;
  if (room.role) {
    capacity.per_role[*room.role] = kPlenty;
  } else {
    capacity.shared = kPlenty;
  }
  return Problem(std::move(arch), problem.workload());
}

}  // namespace

Workload workload_of(const Problem& problem, const FrontPoint& point) {
  return in_form(problem.workload(), point.form).value();
}

Front search_front(const Mapspace& space, const SearchOptions& options, std::int64_t trial_labels) {
  if (std::holds_alternative<NvdlaTiming>(space.problem().arch().compute.timing)) {
    return search_engine_front(space, options);
  }
  SearchOptions asked = options;
  asked.objective.function = Objective::kEnergy.function;
  asked.objective.exact_ties = true;  // both figures count
  const LatencyMode mode = asked.objective.mode;
  const auto cycles = [mode](const Cost& cost) { return latency_of(mode, cost.latency).count(); };
  Front front = search_for_front(space, asked, std::nullopt, cycles, trial_labels);
  if (front.points.empty() && front.complete) {
    front.infeasible = search_exact(space, asked).infeasible;
  }
  return front;
}

Front search_curve(const Mapspace& space, const SearchOptions& options, const CurveRoom& room) {
  const Problem problem = with_plenty(space.problem(), room);
  const Mapspace relaxed(problem, space.constraints());
  SearchOptions asked = options;
  asked.objective.exact_ties = false;
  const auto bits = [&](const Cost& cost) { return capacity_for(problem, room, cost); };
  Front front = search_for_front(relaxed, asked, room, bits);
  if (front.points.empty() && front.complete) {
    front.infeasible = search_exact(relaxed, asked).infeasible;
  }
  return front;
}

}  // namespace mapsim
