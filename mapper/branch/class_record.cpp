// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_record.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace mapsim {

using exact::ObjectiveKey;

ClassRecord::ClassRecord(const Problem& problem, const SearchOptions& options,
                         std::optional<std::int64_t> total, FrontTarget* front)
    : problem_{problem}, options_{options}, total_{total}, front_{front} {}

exact::Incumbent ClassRecord::known_at_start() const {
  return front_ != nullptr ? front_->points.known() : exact::Incumbent(start_);
}

void ClassRecord::add(const ObjectiveKey& bound) {
  const std::lock_guard lock(mutex_);
  bounds_.push_back(bound);
  arguments_.push_back(Argument::kUnrollingBound);
  done_.push_back(false);
}

void ClassRecord::bound_others(const ObjectiveKey& bound) {
  const std::lock_guard lock(mutex_);
  others_ = bound;
}

void ClassRecord::finish_others(const Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  others_done_ = true;
  report(deadline);
}

void ClassRecord::start_from(const Mapping& mapping, const Cost& cost, const ObjectiveKey& key) {
  best_ = mapping;
  best_cost_ = cost;
  task_ = most();
  start_ = key;
}

void ClassRecord::relax(std::size_t unrolling_class, const ObjectiveKey& bound,
                        std::size_t states) {
  const std::lock_guard lock(mutex_);
  bounds_[unrolling_class] = std::max(bounds_[unrolling_class], bound);
  arguments_[unrolling_class] = Argument::kRelaxation;
  statistics_.states += static_cast<std::int64_t>(states);
}

void ClassRecord::tick(std::size_t unrolling_class, const ObjectiveKey& bound, std::int64_t labels,
                       const Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  bounds_[unrolling_class] = std::max(bounds_[unrolling_class], bound);
  ticked_ += labels;
  report(deadline);
}

void ClassRecord::searched(std::size_t unrolling_class, const exact::LabelResult& found) {
  const std::lock_guard lock(mutex_);
  bounds_[unrolling_class] = std::max(bounds_[unrolling_class], found.bound);
  arguments_[unrolling_class] = Argument::kSearch;
  statistics_.labels += found.expanded;
  ++statistics_.unrollings;
  incomplete_ = incomplete_ || found.stopped;
}

void ClassRecord::finish(std::size_t unrolling_class, const Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  done_[unrolling_class] = true;
  report(deadline);
}

void ClassRecord::skip_symmetric(const std::vector<std::size_t>& representative) {
  for (std::size_t g = 0; g < bounds_.size(); ++g) {
    if (representative[g] != g) {
      done_[g] = true;
      bounds_[g] = ObjectiveKey{};
    }
  }
}

void ClassRecord::repeat_for_symmetric(const std::vector<std::size_t>& representative) {
  for (std::size_t g = 0; g < bounds_.size(); ++g) {
    bounds_[g] = bounds_[representative[g]];
    arguments_[g] = arguments_[representative[g]];
  }
}

void ClassRecord::count_evaluations(std::int64_t evaluations) {
  const std::lock_guard lock(mutex_);
  statistics_.evaluations += evaluations;
}

void ClassRecord::count_states(std::size_t states) {
  const std::lock_guard lock(mutex_);
  statistics_.states += static_cast<std::int64_t>(states);
}

void ClassRecord::leave_free_boundaries_open(const ObjectiveKey& bound) {
  const std::lock_guard lock(mutex_);
  free_boundaries_bound_ = std::min(free_boundaries_bound_.value_or(bound), bound);
}

void ClassRecord::leave_open() {
  const std::lock_guard lock(mutex_);
  incomplete_ = true;
}

void ClassRecord::count_out_of_memory(const Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  statistics_.out_of_memory += deadline.over() ? 0 : 1;
}

void ClassRecord::offer(const Mapping& mapping, const ObjectiveKey& key, std::size_t task) {
  const Evaluation evaluation = evaluate(problem_, mapping);
  const std::lock_guard lock(mutex_);
  ++statistics_.evaluations;
  const Cost* cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr) {
    return;
  }
  const Objective& objective = options_.objective;
  if (front_ != nullptr) {
    offers_.push_back(
        {task, key, {objective_value(objective, *cost), front_->measure(*cost), mapping, *cost}});
  }
  if (!best_ || better(objective, *cost, *best_cost_) ||
      (!better(objective, *best_cost_, *cost) && task < task_)) {
    best_ = mapping;
    best_cost_ = *cost;
    task_ = task;
  }
}

// Points are added task by task, in the order in which each task found them, so the result does not
// depend on which task ended first.
SearchResult ClassRecord::front_result() {
  std::stable_sort(offers_.begin(), offers_.end(),
                   [](const Offer& a, const Offer& b) { return a.task < b.task; });
  for (Offer& offer : offers_) {
    front_->points.insert(offer.key, std::move(offer.point));
  }
  SearchResult result;
  result.statistics = statistics_;
  result.statistics.unrollings_total = total_.value_or(0);
  result.interrupted = incomplete_;
  if (free_boundaries_bound_) {
    result.certificate.bound_but_for_free_boundaries = free_boundaries_bound_->first;
  }
  return result;
}

SearchResult ClassRecord::result() {
  SearchResult result;
  result.best = best_;
  result.cost = best_cost_;
  result.statistics = statistics_;
  result.statistics.unrollings_total = total_.value_or(0);
  if (most() > bounds_.size()) {
    result.others_bound = others_.first;
  }
  for (std::size_t g = 0; g < bounds_.size(); ++g) {
    result.classes.push_back({bounds_[g].first, arguments_[g], {}, false});
  }
  const double value =
      result.cost ? objective_value(options_.objective, *result.cost) : exact::kInfinity;
  const double bound = std::min(value, least_bound());
  const bool is_open = bound < value * (1 - kRounding);
  result.interrupted = incomplete_ && is_open;
  if (result.interrupted || (options_.budget.gap > 0 && is_open)) {
    result.certificate.status = bound > 0 ? Proof::kBounded : Proof::kNone;
  } else {
    result.certificate.status = result.cost ? Proof::kOptimal : Proof::kInfeasible;
  }
  Certificate& proof = result.certificate;
  proof.lower_bound =
      proof.status == Proof::kBounded || proof.status == Proof::kNone ? bound : value;
  if (result.cost && free_boundaries_bound_ &&
      free_boundaries_bound_->first < proof.lower_bound * (1 - kRounding)) {
    proof.bound_but_for_free_boundaries = proof.lower_bound;
    proof.lower_bound = free_boundaries_bound_->first;
    proof.status = proof.lower_bound > 0 ? Proof::kBounded : Proof::kNone;
  } else if (leaves_ties_open(value) || has_open_ties(value)) {
    proof.bound_but_for_free_boundaries = proof.lower_bound;
  }
  if (proof.status == Proof::kBounded && result.cost) {
    proof.gap = value / proof.lower_bound - 1;
  }
  return result;
}

bool ClassRecord::leaves_ties_open(double value) const {
  return best_cost_ && free_boundaries_bound_ && !options_.objective.function.uses_energy() &&
         !exact::exceeds(*free_boundaries_bound_, {value}) &&
         free_boundaries_bound_->second < best_cost_->energy.total.count() * (1 - kRounding);
}

bool ClassRecord::has_open_ties(double value) const {
  const auto is_open = [&](const ObjectiveKey& bound) {
    return !exact::exceeds({bound.first}, {value}) &&
           bound.second < best_cost_->energy.total.count() * (1 - kRounding);
  };
  return best_cost_ && incomplete_ && !options_.objective.function.uses_energy() &&
         (is_open(others_) || std::any_of(bounds_.begin(), bounds_.end(), is_open));
}

double ClassRecord::least_bound() const {
  double least = others_.first;
  for (const ObjectiveKey& bound : bounds_) {
    least = std::min(least, bound.first);
  }
  return least;
}

void ClassRecord::report(const Deadline& deadline) const {
  if (!options_.progress) {
    return;
  }
  Progress progress;
  progress.lower_bound = front_ != nullptr ? 0 : least_bound();
  if (best_cost_) {
    progress.best = objective_value(options_.objective, *best_cost_);
    progress.lower_bound = std::min(progress.lower_bound, *progress.best);
  }
  const std::int64_t total = total_.value_or(std::ssize(bounds_));
  progress.unrollings = others_done_ ? total - std::count(done_.begin(), done_.end(), false)
                                     : std::count(done_.begin(), done_.end(), true);
  progress.unrollings_total = total_.value_or(0);
  progress.labels = std::max(ticked_, statistics_.labels);
  progress.seconds = deadline.seconds();
  options_.progress(progress);
}

ObjectiveKey ClassRecord::bound(std::size_t unrolling_class) {
  const std::lock_guard lock(mutex_);
  return bounds_[unrolling_class];
}

bool ClassRecord::has_best() {
  const std::lock_guard lock(mutex_);
  return best_.has_value() || (front_ != nullptr && !front_->points.known().points().empty());
}

}  // namespace mapsim
