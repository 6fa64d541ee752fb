// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/imperfect_search.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "costmodel/evaluate.hpp"
#include "mapper/bounds/imperfect_rows.hpp"
#include "mapper/label_search/history_rebuild.hpp"
#include "mapper/label_search/history_search.hpp"
#include "mapper/label_search/relevant_dims.hpp"

namespace mapsim::imperfect {

using exact::kInfinity;
using exact::ObjectiveKey;
using exact::StateGraph;
using exact::Step;

namespace {

// Labels without loop chains, at most.
constexpr std::int64_t kLabelsWithoutChains = 50'000;
// Labels for the pass with free tile boundaries: as many as the search without them took, and
// these. If only the second figure may improve, of which nothing is claimed, so many in all.
constexpr std::int64_t kFreeBoundaryLabels = 50'000;
constexpr std::int64_t kTieLabels = 5'000;

}  // namespace

HistorySearch::HistorySearch(const StateGraph& graph, const UnrollingClass& unrolling_class,
                             const Objective& objective, const exact::LabelQuery& query,
                             const Deadline& deadline, std::size_t most,
                             std::span<const std::size_t> lattices)
    : graph_{graph},
      unrolling_class_{unrolling_class},
      objective_{objective},
      query_{query},
      deadline_{deadline},
      lattices_{lattices},
      held_{&deadline},
      tiles_{graph.space(), unrolling_class, graph.used(), most},
      tile_count_rules_{graph, tiles_},
      chains_{tiles_},
      flows_{graph.problem().workload(), tiles_, chains_},
      counts_{tiles_},
      components_{exact::tracked(graph.problem(), objective).ports ? 1 + graph.ports().size() : 1},
      capacities_{graph, query.measured_capacity, components_},
      path_objective_{graph, objective, 0},
      coefficients_{make_coefficients(graph, tiles_, exact::tracked(graph.problem(), objective))},
      costs_{graph, tiles_, coefficients_, components_, deadline},
      known_{query.known.without_tags()} {
  tiles_.watch(&deadline_);
  setting_.emplace(capacities_.width(), deadline_);
  scratch_.resize(components_ + 1);
}

// Returns false if the budget is exceeded.
bool HistorySearch::make_bound() {
  const std::int64_t left = query_.budget - labels_of_bound(graph_, tiles_.size());
  most_labels_ = std::min(query_.labels, left);
  if (left < 0) {
    return false;
  }
  const double steps = steps_of(PerDim<LoopChains::Id>(tiles_.dims(), chains_.none()), 0) *
                       static_cast<double>(graph_.problem().arch().compute.issue_interval);
  const exact::PathObjective path_objective{graph_, objective_, steps};
  exact::CompletionBound::Scope scope;
  if (!known_.points().empty()) {
    scope.most = most_energy(path_objective, std::vector<double>(components_ + 1), known_);
  }
  const bool is_made = is_within_budget([&] {
    const std::optional<exact::RowTiles> listed =
        surviving_tiles(graph_, unrolling_class_, tiles_, {path_objective, components_, known_},
                        deadline_, lattices_);
    if (listed) {
      scope.listed = &*listed;
      is_ruled_out_ =
          std::all_of(listed->begin(), listed->end(), [](const auto& row) { return row.empty(); });
      if (is_ruled_out_) {
        return;
      }
      held_.take(bytes_of(*listed) + tiles_.bytes_of_digits());
      tiles_.list_digits();
    }
    held_.take(tiles_.bytes_of_crossings());
    tiles_.make_crossings();
    if (components_ > 1 && omp_get_num_threads() > 1) {
      costs_.prepare();  // threads compute several components at once
    }
    ImperfectRows rows(graph_, tiles_, tile_count_rules_, costs_, deadline_);
    bound_.emplace(graph_, rows, scope, &deadline_);
  });
  is_out_of_memory_ = !is_made && !deadline_.over();
  costs_.forget_tables();
  return is_made;
}

// The completion bound at the start: the least of each figure.
ObjectiveKey HistorySearch::root() {
  if (!make_bound()) {
    return {0, 0};
  }
  if (is_ruled_out_) {
    return {};
  }
  start();
  ObjectiveKey least;
  for (const LabelSetting::Queued& queued : setting_->queue()) {
    least = {std::min(least.first, queued.key.first),
             std::min(least.first < kInfinity ? least.second : kInfinity, queued.key.second)};
  }
  return least;
}

ObjectiveKey HistorySearch::bound_without_chains(History history) {
  HistoryResult outcome;
  const bool is_made = make_bound();
  return is_ruled_out_ ? ObjectiveKey{}
         : is_made     ? search_relaxed(history, outcome)
                       : ObjectiveKey{0, 0};
}

HistoryResult HistorySearch::run() {
  HistoryResult outcome;
  if (!make_bound()) {
    outcome.complete = false;
    outcome.is_out_of_memory = is_out_of_memory_;
    outcome.bound = {0, 0};
    outcome.spent = most_labels_ < 0 ? query_.budget : 0;
    return outcome;
  }
  outcome.spent = labels_of_bound(graph_, tiles_.size());
  if (is_ruled_out_) {
    outcome.bound = known_.limit();
    return outcome;
  }
  outcome.states = static_cast<std::int64_t>(bound_->nodes().size());
  start();
  outcome.root = setting_->is_empty() ? ObjectiveKey{} : setting_->least();
  outcome.bound = outcome.root;
  outcome.searched = !setting_->is_empty();
  const ObjectiveKey relaxed = search_relaxed(History::kNone, outcome);
  if (!(relaxed.first < kInfinity)) {
    outcome.bound = known_.limit();
    return outcome;
  }
  outcome.root = std::max(outcome.root, relaxed);
  restart(History::kLoopChainsAtPoints, false);
  explore(most_labels_, outcome);
  if (!outcome.complete) {
    outcome.bound = outcome.root;
    return outcome;
  }
  const ObjectiveKey found = known_.limit();
  prove(relaxed, outcome);
  if (!outcome.complete) {
    outcome.free_boundaries_bound = outcome.bound;
    outcome.complete = true;
  }
  outcome.bound = std::min(found, known_.limit());
  return outcome;
}

bool HistorySearch::is_pruned(const ObjectiveKey& key) const {
  return !(key.first < kInfinity) || (known_.is_front() ? known_.dominates(key)
                                      : to_improve_     ? !is_better(key)
                                                        : exact::exceeds(key, known_.limit()));
}

// Is the key better than the best mapping by more than rounding? Among equally fast mappings: does
// it need less energy?
bool HistorySearch::is_better(const ObjectiveKey& key) const {
  const ObjectiveKey& limit = known_.limit();
  const bool is_tie = !objective_.function.uses_energy() && !exact::exceeds(key, limit) &&
                      key.second < limit.second * (1 - 3 * kRounding);
  return key.first < limit.first * (1 - 3 * kRounding) || is_tie;
}

// Expands labels until none can be better than the best mapping. Returns the key of the label that
// ended or at which it was stopped; infinite: none is left.
ObjectiveKey HistorySearch::explore(std::int64_t most, HistoryResult& outcome) {
  const std::optional<LabelSetting::Queued> goal = setting_->run(*this, most - outcome.labels);
  outcome.labels += setting_->expanded();
  outcome.complete = !setting_->is_stopped();
  outcome.is_out_of_memory = outcome.is_out_of_memory || setting_->is_out_of_memory();
  ObjectiveKey reached;
  if (goal || setting_->is_stopped()) {
    reached = goal ? goal->key : setting_->least();
    outcome.bound = reached;
  }
  keep_best(outcome);
  return reached;
}

void HistorySearch::restart(History history, bool to_improve) {
  setting_.emplace(capacities_.width(), deadline_);
  deferred_costs_.clear();
  heads_.clear();
  best_.reset();
  history_ = history;
  to_improve_ = to_improve;
  start();
}

// A lower bound of all mappings, whatever their loops; infinite: none can be of use.
ObjectiveKey HistorySearch::search_relaxed(History history, HistoryResult& outcome) {
  if (relevant_.empty()) {
    relevant_ = dims_that_matter(graph_, tiles_);
  }
  restart(history, to_improve_);
  const std::int64_t left = (most_labels_ - outcome.labels) / 2;
  const ObjectiveKey reached =
      explore(outcome.labels + std::min(left, kLabelsWithoutChains), outcome);
  outcome.complete = true;
  return reached;
}

// Searches for better mappings with free tile boundaries, and proves that there are none. Such
// mappings are rarely of use, but they are in the space (decisions 18 and 33).
void HistorySearch::prove(ObjectiveKey relaxed, HistoryResult& outcome) {
  const std::int64_t labels = outcome.labels;
  to_improve_ = true;
  if (!known_.is_front() && objective_.function.uses_energy() && !is_better(relaxed)) {
    return;
  }
  const ObjectiveKey counted = search_relaxed(History::kTileCounts, outcome);
  if (!(counted.first < kInfinity)) {
    return;
  }
  relaxed = std::max(relaxed, counted);
  restart(History::kLoopChains, true);
  const bool is_tie = !known_.is_front() && !objective_.exact_ties &&
                      relaxed.first >= known_.limit().first * (1 - 3 * kRounding);
  explore(
      std::min(most_labels_, outcome.labels + (is_tie ? kTieLabels : labels + kFreeBoundaryLabels)),
      outcome);
  outcome.bound = std::max(outcome.bound, relaxed);
}

void HistorySearch::keep_best(HistoryResult& outcome) const {
  if (best_) {
    outcome.best = best_;
    outcome.key = best_key_;
  }
  outcome.points.clear();
  for (const exact::Incumbent::Point& point : known_.points()) {
    if (known_.is_front() && point.tag != exact::Incumbent::kNoTag) {
      outcome.points.push_back(points_[static_cast<std::size_t>(point.tag)]);
    }
  }
}

void HistorySearch::start() {
  for (const std::size_t residency : graph_.starts()) {
    Label label;
    label.step = {Step::Kind::kStart, {0, residency, tiles_.size() - 1}, 0};
    label.loops = PerDim<LoopChains::Id>(tiles_.dims(), chains_.none());
    label.steps = steps_of(label.loops, 0);
    label.region_start = tile_count_rules_.region_start(0, tiles_.size() - 1);
    const Labels::Id id = labels().add(label);
    if (capacities_.add_start(residency, labels().values(id))) {
      offer();
    } else {
      labels().retract();
    }
  }
}

// A lower bound of the temporal steps of the first instance, if the fanouts from `fanout` on are
// not crossed yet.
double HistorySearch::steps_of(const PerDim<LoopChains::Id>& chains, std::size_t fanout) {
  double product = 1;
  for (const DimId d : chains.ids()) {
    std::int64_t steps = flows_.steps(d, chains[d]);
    for (std::size_t f = fanout; f < tiles_.used().size(); ++f) {
      steps = (steps + tiles_.factor(f, d) - 1) / tiles_.factor(f, d);
    }
    product *= static_cast<double>(steps);
  }
  return product;
}

ObjectiveKey HistorySearch::key_of(const double* components, double steps) const {
  return path_objective_.key(
      components, steps * static_cast<double>(graph_.problem().arch().compute.issue_interval));
}

// Pushes the newest label, or retracts it. Returns false if the incumbent rules it out.
bool HistorySearch::offer() {
  const auto id = static_cast<Labels::Id>(labels().size()) - 1;
  const Label& label = labels().newest();
  const double* values = labels().values(id);
  for (std::size_t k = 0; k < components_; ++k) {
    scratch_[k] = values[k];
    if (label.step.kind != Step::Kind::kEnd) {
      scratch_[k] += bound_->at(label.step.node, k);
    }
  }
  // Cycles of first fills and last drains are not counted, which is a lower bound
  scratch_[components_] = 0;
  ObjectiveKey key = key_of(scratch_.data(), label.steps);
  if (query_.measured_capacity) {
    key.second = values[*capacities_.slot(*query_.measured_capacity)];
  }
  if (is_pruned(key)) {
    labels().retract();
    return false;
  }
  if (label.step.kind == Step::Kind::kEnd) {
    finish(id, key);
  } else if (!labels().join(heads_[hash_of(label)])) {
    labels().retract();
  } else {
    setting_->push({exact::without_noise(key), id});
  }
  return true;
}

// The newest label reached the end. With chains it stands for mappings whose cost is at least that
// of the label. Without chains there may be no such mapping, and the label is only a bound.
void HistorySearch::finish(Labels::Id id, const ObjectiveKey& key) {
  if (!has_chains()) {
    setting_->push({exact::without_noise(key), id});
    return;
  }
  std::vector<Mapping> mappings = rebuild(graph_, tiles_, labels().trace(id));
  ObjectiveKey found;
  Mapping mapping;
  for (Mapping& each : mappings) {
    const ObjectiveKey true_one = true_key(id, each);
    if (known_.is_front() && !is_pruned(true_one)) {
      known_.insert(true_one, static_cast<std::int64_t>(points_.size()));
      points_.push_back({true_one, each});
    }
    if (mapping.nodes.empty() || true_one < found) {
      found = true_one;
      mapping = std::move(each);
    }
  }
  if (!known_.is_front()) {
    found = std::max(key, found);
  }
  if (known_.is_front() || is_pruned(found)) {
    labels().retract();
    return;
  }
  if (!best_ || found < best_key_) {
    best_ = std::move(mapping);
    best_key_ = found;
  }
  known_.insert(within_gap(found, query_.gap));
  setting_->push({exact::without_noise(found), id});
}

// The key of the mapping itself, by evaluate().
ObjectiveKey HistorySearch::true_key(Labels::Id id, const Mapping& mapping) const {
  const Evaluation evaluation = evaluate(graph_.problem(), mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr || !is_within_limits(objective_, *cost)) {
    return {};
  }
  ObjectiveKey key = key_of_cost(objective_, *cost);
  if (query_.measured_capacity) {
    key.second = labels().values(id)[*capacities_.slot(*query_.measured_capacity)];
  }
  return key;
}

ObjectiveKey key_of_cost(const Objective& objective, const Cost& cost) {
  const auto latency = static_cast<double>(latency_of(objective.mode, cost.latency).count());
  return {objective_value(objective, cost),
          second_figure(objective, cost.energy.total.count(), latency)};
}

HistoryResult search_class(const StateGraph& graph, const UnrollingClass& unrolling_class,
                           const Objective& objective, const exact::LabelQuery& query,
                           const Deadline& deadline) {
  return HistorySearch(graph, unrolling_class, objective, query, deadline).run();
}

ObjectiveKey coarse_bound(const StateGraph& graph, const UnrollingClass& unrolling_class,
                          const Objective& objective, std::size_t most, const Deadline& deadline,
                          const exact::Incumbent& known) {
  exact::LabelQuery query;
  // Otherwise the second figure is a use of capacity, which this bound does not know
  if (!known.is_measured()) {
    query.known = known;
  }
  const ObjectiveKey bound =
      HistorySearch(graph, unrolling_class, objective, query, deadline, most).root();
  return std::min(bound,
                  ObjectiveKey{std::nextafter(known.limit().first * (1 + kRounding), kInfinity)});
}

std::int64_t labels_of_bound(const StateGraph& graph, std::size_t tiles) {
  std::size_t rows = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      rows += graph.reachable(stage, residency) ? 1 : 0;
    }
  }
  return static_cast<std::int64_t>(rows * tiles) / kStatesPerLabel + 1;
}

}  // namespace mapsim::imperfect
