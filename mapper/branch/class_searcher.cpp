// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_searcher.hpp"

#include <algorithm>
#include <utility>

#include "mapper/branch/front_points.hpp"
#include "mapper/label_search/imperfect_search.hpp"

namespace mapsim {

using exact::ObjectiveKey;

namespace {

// Patterns are used if their best bound is above the class's by this ratio
constexpr double kWeakPatterns = 1.02;
// For classes that are searched on a part of their tiles: tiles, and labels.
constexpr std::size_t kPartTiles = 30'000;
constexpr std::size_t kMostHastyTiles = 2'000;
// Work that no deadline limits, in moves from nodes of a completion bound: tens of milliseconds.
constexpr double kHastyWork = 10e6;
// Parts are not held to the memory of a search, but have fewer tiles where it is small.
constexpr double kBytesOfMove = 16;
constexpr double kFewestTiles = 50;
constexpr std::int64_t kPartLabels = 20'000;
constexpr int kMostParts = 8;
// Patterns choose the levels that keep a tensor. Of more free levels per tensor, as machines of
// more than eight levels may have, there are too many to list.
constexpr std::size_t kMostFreeLevels = 7;

bool has_few_patterns(const Mapspace& space) {
  std::size_t free = 0;
  const Problem& problem = space.problem();
  for (const LevelId l : problem.arch().levels.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      free += space.keep_rule(l, t) == KeepRule::kFree ? 1 : 0;
    }
  }
  return free <= kMostFreeLevels * problem.workload().tensors.size();
}

// How many tiles of a part are within so much work, and within the memory, as far as that is.
std::size_t tiles_within(double work, std::size_t most, const exact::StateGraph& graph,
                         const Deadline& deadline) {
  double moves = 0;  // from all nodes of one tile
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      if (graph.reachable(stage, residency)) {
        moves += static_cast<double>(1 + graph.keep_moves(stage, residency).size() +
                                     graph.sliding_edges(stage, residency).size());
      }
    }
  }
  const double fitting = static_cast<double>(deadline.most_bytes()) / (kBytesOfMove * moves);
  const double tiles = std::min(work / moves, std::max(kFewestTiles, fitting));
  return static_cast<std::size_t>(std::min(static_cast<double>(most), tiles));
}

// Counts the labels of a search, and adds the mappings that it found to the incumbent.
void add(const std::vector<ObjectiveKey>& found, std::int64_t labels, exact::LabelQuery& query,
         TaskWindow::Outcome& outcome) {
  query.labels -= std::min(query.labels, labels);
  for (const ObjectiveKey& key : found) {
    query.known.insert(exact::within_gap(key, query.gap));
  }
  outcome.found.insert(outcome.found.end(), found.begin(), found.end());
  outcome.taken = {outcome.taken.expanded + labels, outcome.taken.budget + labels};
}

// The index of a curve's capacity in a state graph.
std::size_t index_of(const CurveCapacity& curve, const exact::StateGraph& graph) {
  const auto found =
      std::find_if(graph.capacities().begin(), graph.capacities().end(),
                   [&](const exact::CapacityConstraint& candidate) {
                     return candidate.level == curve.level && candidate.role == curve.role;
                   });
  return static_cast<std::size_t>(found - graph.capacities().begin());
}

}  // namespace

exact::Incumbent within_gap(exact::Incumbent known, double gap) {
  return known.is_front() ? std::move(known)
                          : exact::Incumbent(exact::within_gap(known.limit(), gap));
}

TaskWindow::Outcome ClassSearcher::search(std::size_t unrolling_class, exact::LabelQuery query,
                                          bool is_hard) {
  query.gap = options_.budget.gap;
  if (more_.front != nullptr && more_.front->capacity) {
    query.measured_capacity = index_of(*more_.front->capacity, classes_.graph(unrolling_class));
  }
  Outcome outcome;
  if (!is_within_budget([&] { outcome = search_whole(unrolling_class, query, is_hard); })) {
    record_.leave_open();
    record_.count_out_of_memory(deadline_);
    outcome = search_part(unrolling_class, query);
  }
  record_.finish(unrolling_class, deadline_);
  return outcome;
}

TaskWindow::Outcome ClassSearcher::search_whole(std::size_t unrolling_class,
                                                const exact::LabelQuery& query, bool is_hard) {
  if (classes_.is_idle(unrolling_class)) {
    record_.relax(unrolling_class, ObjectiveKey{}, 0);
    return {};
  }
  if (is_imperfect()) {
    return search_imperfect(unrolling_class, query);
  }
  return search_perfect(unrolling_class, query, is_hard);
}

// The best nest of a part of a class's tiles: of few tiles whatever the time until some mapping is
// known, and of more tiles for a few classes if there is time, since the bound of a class does not
// tell how good its mappings are.
TaskWindow::Outcome ClassSearcher::search_part(std::size_t unrolling_class,
                                               const exact::LabelQuery& query) {
  Outcome outcome;
  if (is_imperfect()) {
    return outcome;
  }
  const exact::StateGraph& graph = classes_.graph(unrolling_class);
  if (!record_.has_best()) {
    search_tiles(unrolling_class, query,
                 tiles_within(kHastyWork, kMostHastyTiles, graph, deadline_), nullptr, outcome);
  }
  if (!deadline_.over() && parts_++ < kMostParts) {
    const Deadline time = Deadline::of_time(deadline_);
    const std::size_t tiles = tiles_within(exact::kInfinity, kPartTiles, graph, deadline_);
    is_within_budget([&] { search_tiles(unrolling_class, query, tiles, &time, outcome); });
  }
  return outcome;
}

void ClassSearcher::search_tiles(std::size_t unrolling_class, exact::LabelQuery query,
                                 std::size_t most_tiles, const Deadline* deadline,
                                 Outcome& outcome) {
  const auto tables = classes_.build_part(unrolling_class, query.known, most_tiles, deadline);
  offer_beam(*tables, unrolling_class, outcome.found);
  if (!query.known.rules_out(tables->root())) {
    query.labels = std::min(query.labels, kPartLabels);
    const exact::LabelResult found = exact::search_labels(*tables, query, deadline_);
    offer(*tables, unrolling_class, found, outcome.found);
    outcome.taken.expanded += found.expanded;
    outcome.taken.budget += found.expanded;
  }
}

// The nest of a beam search, if there was one. Labels may find nothing that fits before they are
// stopped.
bool ClassSearcher::offer_beam(const exact::SearchTables& tables, std::size_t unrolling_class,
                               std::vector<ObjectiveKey>& keys) {
  if (tables.beam.steps.empty()) {
    return false;
  }
  record_.offer(classes_.mapping(tables, unrolling_class, tables.beam.steps), tables.beam.key,
                unrolling_class);
  keys.push_back(tables.beam.key);
  return true;
}

void ClassSearcher::offer(const exact::SearchTables& tables, std::size_t unrolling_class,
                          const exact::LabelResult& found, std::vector<ObjectiveKey>& keys) {
  for (const exact::GoalLabel& goal : found.goals) {
    record_.offer(classes_.mapping(tables, unrolling_class, goal.steps), goal.key, unrolling_class);
    keys.push_back(goal.key);
  }
}

TaskWindow::Outcome ClassSearcher::search_imperfect(std::size_t unrolling_class,
                                                    const exact::LabelQuery& query) {
  deadline_.check();
  Outcome outcome;
  const imperfect::HistoryResult found =
      imperfect::search_class(classes_.graph(unrolling_class), classes_.unrolling(unrolling_class),
                              options_.objective, query, deadline_);
  if (found.states > 0 || found.complete) {
    record_.relax(unrolling_class, found.root, static_cast<std::size_t>(found.states));
  }
  for (const imperfect::HistoryResult::Point& point : found.points) {
    record_.offer(point.mapping, point.key, unrolling_class);
    outcome.found.push_back(point.key);
  }
  if (found.best) {
    record_.offer(*found.best, found.key, unrolling_class);
    outcome.found.push_back(found.key);
  }
  if (found.is_out_of_memory) {
    record_.count_out_of_memory(deadline_);
  }
  if (found.free_boundaries_bound) {
    record_.leave_free_boundaries_open(*found.free_boundaries_bound);
  }
  if (found.searched) {
    record_.searched(unrolling_class, {{}, found.bound, found.labels, !found.complete});
  } else if (!found.complete) {
    record_.leave_open();
  }
  const std::int64_t labels = found.searched ? found.labels : 0;
  outcome.taken = {labels, labels + found.spent};
  return outcome;
}

// Can the bounds of residency patterns be better than that of the whole class? For latency they
// can: the bound of the class takes the least bits of each port from different mappings
// (mapper/bounds/residency_patterns.cpp). For a curve they know only one figure.
bool ClassSearcher::has_patterns() const {
  const bool is_timed =
      more_.front != nullptr ? !more_.front->capacity : options_.objective.function.uses_latency();
  return is_timed && !space_.problem().is_timed_by_model() && has_few_patterns(space_);
}

// Searches the class as a whole, with few labels if patterns may help, then pattern by pattern.
TaskWindow::Outcome ClassSearcher::search_perfect(std::size_t unrolling_class,
                                                  exact::LabelQuery query, bool is_hard) {
  Outcome outcome;
  exact::LabelResult all;
  if (!has_patterns()) {
    search_at_once(unrolling_class, query, query.labels, outcome, all);
    return outcome;
  }
  all.bound = query.known.limit();
  bool is_ruled_out = false;
  is_hard = are_patterns_next(unrolling_class, query, is_hard, is_ruled_out);
  if (is_ruled_out) {
    record_.relax(unrolling_class, query.known.limit(), 0);
    return outcome;
  }
  if (is_hard || !search_at_once(unrolling_class, query, more_.trial_labels, outcome, all)) {
    search_patterns(unrolling_class, query, outcome, all);
  }
  return outcome;
}

// Is the class to be searched by patterns at once? Sets `is_ruled_out` if all of its patterns are
// ruled out; for a front this is always tested.
bool ClassSearcher::are_patterns_next(std::size_t unrolling_class, const exact::LabelQuery& query,
                                      bool is_hard, bool& is_ruled_out) const {
  const bool is_front = query.known.is_front();
  is_hard = is_hard || more_.trial_labels == 0;
  if (is_front ? query.known.points().empty() : !is_hard) {
    return is_hard;
  }
  const std::vector<exact::Pattern> best = classes_.patterns(unrolling_class, query.known, true);
  is_ruled_out = best.empty();
  return is_hard &&
         (is_front || is_ruled_out || more_.trial_labels == 0 ||
          best.front().bound.first > kWeakPatterns * classes_.bound(unrolling_class).first);
}

// Searches the residency patterns of the class one by one, best bound first.
void ClassSearcher::search_patterns(std::size_t unrolling_class, exact::LabelQuery& query,
                                    Outcome& outcome, exact::LabelResult& all) {
  outcome.is_hard = true;
  const bool is_front = query.known.is_front();
  const std::vector<exact::Pattern> patterns =
      classes_.patterns(unrolling_class, query.known, false);
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    if (query.known.rules_out(patterns[p].bound)) {
      if (is_front) {
        continue;
      }
      break;  // the bounds of all others are no better
    }
    if (query.labels == 0 || deadline_.over()) {
      all.bound = std::min(all.bound, patterns[p].bound);
      all.stopped = true;
      break;
    }
    const ObjectiveKey next = p + 1 < patterns.size() ? patterns[p + 1].bound : query.known.limit();
    query.tick = [&](const ObjectiveKey& bound, std::int64_t labels) {
      record_.tick(unrolling_class, std::min({bound, next, all.bound}), labels, deadline_);
    };
    const Labelled one = search_labels(unrolling_class, query, &patterns[p]);
    all.bound = std::min(all.bound, one.result.bound);
    all.stopped = all.stopped || one.result.stopped;
    all.expanded += one.result.expanded;
    record_.count_states(one.states);
    add(one.found, one.result.expanded, query, outcome);
  }
  query.tick = nullptr;
  all.bound = std::min(all.bound, query.known.limit());
  record_.searched(unrolling_class, all);
}

// Searches the class as a whole. Returns false if `most` labels did not suffice and more are
// allowed.
bool ClassSearcher::search_at_once(std::size_t unrolling_class, exact::LabelQuery& query,
                                   std::int64_t most, Outcome& outcome, exact::LabelResult& all) {
  exact::LabelQuery trial = query;
  trial.labels = std::min(query.labels, most);
  trial.tick = [this, unrolling_class](const ObjectiveKey& bound, std::int64_t labels) {
    record_.tick(unrolling_class, bound, labels, deadline_);
  };
  const Labelled whole = search_labels(unrolling_class, trial, nullptr);
  record_.relax(unrolling_class, whole.root, whole.states);
  all.expanded += whole.result.expanded;
  add(whole.found, whole.result.expanded, query, outcome);
  if (whole.result.stopped && query.labels > 0 && !deadline_.over()) {
    return false;
  }
  all.bound = whole.result.bound;
  all.stopped = whole.result.stopped;
  if (whole.is_open) {
    record_.searched(unrolling_class, all);
  }
  return true;
}

ClassSearcher::Labelled ClassSearcher::search_labels(std::size_t unrolling_class,
                                                     exact::LabelQuery query,
                                                     const exact::Pattern* pattern) {
  Labelled labelled;
  labelled.root = labelled.result.bound = query.known.limit();
  const bool is_front = query.known.is_front();
  if (is_front && !query.known.is_measured() && !query.known.points().empty() &&
      !has_many_rows(classes_.graph(unrolling_class)) &&
      classes_.is_ruled_out(unrolling_class, query.known, pattern)) {
    return labelled;
  }
  const auto tables = classes_.build(unrolling_class, query.known, true, pattern);
  labelled.states = tables->bound.nodes().size();
  if (offer_beam(*tables, unrolling_class, labelled.found) && is_front) {
    query.known.insert(tables->beam.key);
  }
  const ObjectiveKey root = tables->root();
  if (query.known.rules_out(root)) {
    return labelled;
  }
  labelled.root = root;
  labelled.is_open = true;
  labelled.result = exact::search_labels(*tables, query, deadline_);
  offer(*tables, unrolling_class, labelled.result, labelled.found);
  if (labelled.result.is_out_of_memory) {
    record_.count_out_of_memory(deadline_);
  }
  return labelled;
}

}  // namespace mapsim
