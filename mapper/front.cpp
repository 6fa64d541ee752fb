// SPDX-License-Identifier: Apache-2.0
#include "mapper/front.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "arch/buffering.hpp"
#include "arch/capacities.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/branch/exhaustive_fallback.hpp"
#include "mapper/branch/front_points.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/deadline.hpp"
#include "mapper/nvdla/front.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// More bits than any tile takes, and exact as a double.
constexpr Bits kPlenty{std::int64_t{1} << 52};
FrontPoint point_of(const Objective& objective, const FrontTarget& target, const Mapping& mapping,
                    const Cost& cost) {
  return {objective_value(objective, cost), target.measure(cost), mapping, cost};
}

// Adds a mapping of the space to the front if it is within the limits.
void join(const Problem& problem, const Objective& objective, const Mapping& mapping,
          const Cost& cost, FrontTarget& target) {
  if (is_within_limits(objective, cost)) {
    const int copies =
        target.capacity ? copies_of(problem.arch().levels[target.capacity->level]) : 1;
    FrontPoint point = point_of(objective, target, mapping, cost);
    const exact::ObjectiveKey key{point.value, static_cast<double>(point.measure / copies)};
    target.points.insert(key, std::move(point));
  }
}

// Evaluates every mapping of a small space. Returns true if there was time for all.
bool enumerate_instead(const Mapspace& space, const Objective& objective, const Deadline& deadline,
                       FrontTarget& target, Statistics& statistics) {
  Evaluator evaluator(space.problem());
  return space.enumerate([&](const Mapping& mapping) {
    ++statistics.evaluations;
    if (!evaluator.evaluate(mapping)) {
      join(space.problem(), objective, mapping, evaluator.cost(), target);
    }
    return statistics.evaluations % 1024 != 0 || !deadline.over();
  });
}

// Finds the fast end of the front, for which one objective suffices; its energy limits that of all
// other points.
Statistics find_fastest(const Mapspace& space, SearchOptions options, const Deadline& deadline,
                        FrontTarget& target) {
  const Objective asked = options.objective;
  options.objective.function = Objective::kLatency.function;
  options.objective.exact_ties = false;
  options.progress = nullptr;
  options.budget.labels = std::max<std::int64_t>(1, options.budget.labels / 2);
  const SearchResult found = search_classes(space, options, deadline);
  if (found.cost) {
    join(space.problem(), asked, *found.best, *found.cost, target);
  }
  return found.statistics;
}

// Points known before classes are searched: with imperfect factors the front of perfect ones,
// otherwise the fastest mapping, if the front is one of latency.
Statistics find_some(const Mapspace& space, SearchOptions options, const Deadline& deadline,
                     std::int64_t trial_labels, FrontTarget& target) {
  if (!space.constraints().factors.imperfect) {
    return target.capacity ? Statistics{} : find_fastest(space, options, deadline, target);
  }
  Constraints constraints = space.constraints();
  constraints.factors = {};
  const Mapspace perfect(space.problem(), constraints);
  options.progress = nullptr;
  ClassSearchInputs more;
  more.trial_labels = trial_labels;
  more.front = &target;
  return search_classes(perfect, options, deadline, more).statistics;
}

Front search_for_front(const Mapspace& space, SearchOptions options, FrontTarget target,
                       std::int64_t trial_labels = 0) {
  options.budget.gap = 0;
  const Deadline deadline(options);
  const Statistics before = find_some(space, options, deadline, trial_labels, target);
  ClassSearchInputs more;
  more.labels = labels_before_enumeration(count_if_enumerable(space));
  more.trial_labels = trial_labels;
  more.front = &target;
  const bool are_few = more.labels < options.budget.labels;
  options.budget.labels -= std::min(options.budget.labels, before.labels);
  const SearchResult found = search_classes(space, options, deadline, more);
  Front front;
  front.statistics = found.statistics;
  add_effort(front.statistics, before);
  front.complete = !found.interrupted;
  front.but_for_free_boundaries = found.certificate.bound_but_for_free_boundaries.has_value();
  if (are_few && (!front.complete || front.but_for_free_boundaries)) {
    front.complete =
        enumerate_instead(space, options.objective, deadline, target, front.statistics);
    front.but_for_free_boundaries = front.but_for_free_boundaries && !front.complete;
  }
  front.points = target.points.take();
  // With imperfect factors or rules counting can take long, so a stopped search goes without it.
  front.mapspace_size =
      mapspace_size_unless(space, [&] { return !front.complete || deadline.over(); }).value_or("");
  front.statistics.seconds = deadline.seconds();
  front.statistics.peak_bytes = deadline.peak_bytes();
  return front;
}

// The capacity [b] that the level must have for the tiles of a mapping.
std::int64_t capacity_for(const Problem& problem, const CurveCapacity& curve, const Cost& cost) {
  std::int64_t bits = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    const TensorCounts& at = cost.counts.levels[curve.level][t];
    if (at.kept && (!curve.role || *curve.role == problem.workload().tensors[t].role)) {
      bits += at.footprint * at.bits.count();
    }
  }
  return copies_of(problem.arch().levels[curve.level]) * bits;
}

Problem with_plenty(const Problem& problem, const CurveCapacity& curve) {
  Arch arch = problem.arch();
  size_of(arch.levels[curve.level], curve.role) = kPlenty;
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
  Front front =
      search_for_front(space, asked, {std::nullopt, cycles, FrontPoints(false)}, trial_labels);
  if (front.points.empty() && front.complete) {
    front.infeasible = search_exact(space, asked).infeasible;
  }
  return front;
}

Front search_curve(const Mapspace& space, const SearchOptions& options,
                   const CurveCapacity& curve) {
  const Problem problem = with_plenty(space.problem(), curve);
  const Mapspace relaxed(problem, space.constraints());
  SearchOptions asked = options;
  asked.objective.exact_ties = false;
  const auto bits = [&](const Cost& cost) { return capacity_for(problem, curve, cost); };
  Front front = search_for_front(relaxed, asked, {curve, bits, FrontPoints(true)});
  if (front.points.empty() && front.complete) {
    front.infeasible = search_exact(relaxed, asked).infeasible;
  }
  return front;
}

}  // namespace mapsim
