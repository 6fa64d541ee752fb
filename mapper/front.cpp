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
#include "costmodel/timing/model.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/branch/exhaustive_fallback.hpp"
#include "mapper/branch/front_points.hpp"
#include "mapper/branch/infeasible.hpp"
#include "mapper/branch/unrolling_source.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/nvdla/front.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

using exact::Key;

// More than any tile takes, and a whole number of bits as a double.
constexpr Bits kPlenty{std::int64_t{1} << 52};
// What a class adds to the front comes too late for the others of its batch.
constexpr std::size_t kLargestBatch = 8;

class FrontSearch {
 public:
  using Measure = std::function<std::int64_t(const Cost&)>;

  // `room`: what the second figure measures; none: latency.
  FrontSearch(const Mapspace& space, const SearchOptions& options,
              const std::optional<CurveRoom>& room, Measure measure, const Deadline& deadline,
              std::int64_t trial_labels)
      : space_{space},
        options_{options},
        room_{room},
        measure_{std::move(measure)},
        deadline_{deadline},
        trial_labels_{trial_labels},
        source_(space, options.objective, deadline),
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
    SearchResult found = search_classes(space_, fast, deadline_);
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
    for (std::vector<std::size_t> batch = next_batch(0); !batch.empty();
         batch = next_batch(batch.size())) {
      const std::int64_t left = options_.budget.labels - spent_;
      const std::int64_t labels = std::min(left, most_labels_ - front_.statistics.labels);
      if (!first && (deadline_.over() || labels <= 0)) {
        front_.complete = false;
        break;
      }
      first = false;
      search_batch(batch, labels, left);
    }
    front_.complete = front_.complete && !source_.is_stopped();
    if (most_labels_ < options_.budget.labels && (!front_.complete || front_.but_for_bare)) {
      look_at_all();
    }
    front_.points = points_.take();
    // Imperfect factors and rules can take long to count: whoever is stopped goes without.
    front_.mapspace_size = mapspace_size_unless(space_, [this] {
                             return !front_.complete || deadline_.over();
                           }).value_or("");
    front_.statistics.unrollings_total = source_.count();
    front_.statistics.seconds = deadline_.seconds();
    return std::move(front_);
  }

 private:
  // What a search of one class came to.
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

  const exact::UnrollingTasks& classes() const { return source_.classes(); }
  bool is_imperfect() const { return space_.constraints().factors.imperfect; }

  // The next classes that are not ruled out. Tasks of a batch share what is known when it begins,
  // so that no result depends on which thread is first.
  std::vector<std::size_t> next_batch(std::size_t length) {
    length = std::min(exact::UnrollingTasks::length_of_next_batch(length), kLargestBatch);
    std::vector<std::size_t> batch;
    while (batch.size() < length) {
      const std::optional<std::size_t> next = source_.next(points_.known());
      if (!next) {
        break;
      }
      batch.push_back(*next);
    }
    return batch;
  }

  // Points join in the order of the batch, whichever thread found them.
  void search_batch(std::span<const std::size_t> batch, std::int64_t labels, std::int64_t budget) {
    const auto count = static_cast<std::int64_t>(batch.size());
    std::vector<Part> parts(batch.size());
    exact::LabelQuery query;
    query.labels = std::max<std::int64_t>(1, labels / count);
    query.budget = std::max<std::int64_t>(1, budget / count);
    for_each_on_threads(batch.size(), options_.threads,
                        [&](std::size_t i) { parts[i] = search(batch[i], query); });
    for (Part& part : parts) {
      add(part);
    }
    report(batch.size());
  }

  // A class that needs more memory than there is is left open.
  Part search(std::size_t unrolling_class, const exact::LabelQuery& query) const {
    Part part;
    if (!is_within_budget([&] { search(unrolling_class, query, part); })) {
      part.complete = false;
    }
    return part;
  }

  void search(std::size_t unrolling_class, exact::LabelQuery query, Part& part) const {
    if (points_.known().rules_out(classes().bound(unrolling_class))) {
      return;
    }
    if (deadline_.over() && !points_.known().points().empty()) {
      part.complete = false;
      return;
    }
    query.known = points_.known();
    if (room_) {
      query.measured_room = index_of_room(classes().graph(unrolling_class));
    }
    if (is_imperfect()) {
      search_imperfect(unrolling_class, query, part);
    } else {
      search_perfect(unrolling_class, query, part);
    }
  }

  // Do the bounds of residency patterns say more than those of whole classes? Of a curve they know
  // one figure only.
  bool has_patterns() const { return !room_ && !space_.problem().is_timed_by_model(); }

  // The class as a whole, with few labels if that may be enough, then one residency pattern after
  // the other.
  void search_perfect(std::size_t unrolling_class, exact::LabelQuery& query, Part& part) const {
    if (!has_patterns()) {
      search_labels(unrolling_class, query, nullptr, part);
      return;
    }
    if (!points_.known().points().empty() &&
        classes().patterns(unrolling_class, query.known, true).empty()) {
      return;
    }
    if (!is_hard_ && trial_labels_ > 0) {
      exact::LabelQuery trial = query;
      trial.labels = std::min(query.labels, trial_labels_);
      search_labels(unrolling_class, trial, nullptr, part);
      query.known = trial.known;
      if (part.complete || part.labels >= query.labels || deadline_.over()) {
        return;
      }
    }
    part.is_hard = true;
    part.complete = true;
    query.labels -= part.labels;
    for (const exact::Pattern& pattern : classes().patterns(unrolling_class, query.known, false)) {
      if (query.known.rules_out(pattern.bound)) {
        continue;
      }
      if (query.labels <= 0 || deadline_.over()) {
        part.complete = false;
        return;
      }
      const std::int64_t before = part.labels;
      search_labels(unrolling_class, query, &pattern, part);
      query.labels -= part.labels - before;
    }
  }

  void search_labels(std::size_t unrolling_class, exact::LabelQuery& query,
                     const exact::Pattern* pattern, Part& part) const {
    const bool is_worth =
        !room_ && !query.known.points().empty() && !has_many_rows(classes().graph(unrolling_class));
    if (is_worth && classes().is_ruled_out(unrolling_class, query.known, pattern)) {
      return;
    }
    const auto instance = classes().build(unrolling_class, query.known, true, pattern);
    part.states += static_cast<std::int64_t>(instance->bound.nodes().size());
    if (!instance->dived.steps.empty()) {
      add_point(part, instance->dived.key,
                classes().mapping(*instance, unrolling_class, instance->dived.steps));
      query.known.insert(instance->dived.key);
    }
    if (!(instance->root().first < exact::kInfinity)) {
      return;
    }
    const exact::LabelResult found = exact::search_labels(*instance, query, deadline_);
    for (const exact::Ending& ending : found.endings) {
      add_point(part, ending.key, classes().mapping(*instance, unrolling_class, ending.steps));
      query.known.insert(ending.key);
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
      return front_.statistics.evaluations % 1024 != 0 || !deadline_.over();
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

  // Coarse lattices first: they are cheap, and most classes need no other.
  void search_imperfect(std::size_t unrolling_class, exact::LabelQuery query, Part& part) const {
    const exact::StateGraph& graph = classes().graph(unrolling_class);
    const UnrollingClass& unrollings = classes().unrolling(unrolling_class);
    for (const std::size_t most : imperfect::kCoarseTiles) {
      const std::int64_t bounding = imperfect::labels_of_bound(graph, most);
      if (bounding > query.budget) {
        break;
      }
      query.budget -= bounding;
      part.spent += bounding;
      if (points_.known().rules_out(imperfect::coarse_bound(graph, unrollings, options_.objective,
                                                            most, deadline_, points_.known()))) {
        return;
      }
    }
    imperfect::Outcome found =
        imperfect::search_class(graph, unrollings, options_.objective, query, deadline_);
    for (imperfect::Outcome::Point& point : found.points) {
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

  std::size_t index_of_room(const exact::StateGraph& graph) const {
    const auto& rooms = graph.rooms();
    const auto room = std::find_if(rooms.begin(), rooms.end(), [&](const exact::Room& candidate) {
      return candidate.level == room_->level && candidate.role == room_->role;
    });
    return static_cast<std::size_t>(room - rooms.begin());
  }

  void report(std::size_t classes_done) {
    done_ += static_cast<std::int64_t>(classes_done);
    if (options_.progress) {
      Progress progress;
      if (!points_.known().points().empty()) {
        progress.best = points_.known().points().front().key.first;
      }
      progress.unrollings = done_;
      progress.unrollings_total = source_.count();
      progress.labels = front_.statistics.labels;
      progress.seconds = deadline_.seconds();
      options_.progress(progress);
    }
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  std::optional<CurveRoom> room_;
  Measure measure_;
  const Deadline& deadline_;
  std::int64_t trial_labels_;
  branch::UnrollingSource source_;
  FrontPoints points_;
  std::int64_t most_labels_;  // to be expanded
  std::int64_t spent_ = 0;    // of the budget
  bool is_hard_ = false;      // a class has taken many labels
  std::int64_t done_ = 0;
  Front front_;
};

// With imperfect factors the front of perfect ones, which is found at once, is what to go below.
Front search_for_front(const Mapspace& space, const SearchOptions& options,
                       const std::optional<CurveRoom>& room, const FrontSearch::Measure& measure,
                       std::int64_t trial_labels = 0) {
  const Deadline deadline(options);
  FrontSearch search(space, options, room, measure, deadline, trial_labels);
  if (space.constraints().factors.imperfect) {
    Constraints constraints = space.constraints();
    constraints.factors = {};
    const Mapspace perfect(space.problem(), constraints);
    SearchOptions quietly = options;
    quietly.progress = nullptr;
    FrontSearch first(perfect, quietly, room, measure, deadline, trial_labels);
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
  if (timing_model(space.problem().arch()).is_engine) {
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
