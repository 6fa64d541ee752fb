// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/caught.hpp"
#include "mapper/balanced/search.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/group_search.hpp"
#include "mapper/mapper.hpp"
#include "mapper/shared_bounds.hpp"

namespace mapsim {

namespace {

using exact::Key;

// What a search knows: the best so far, and of each group of unrollings a bound and why. Shared by
// threads; which of equal mappings is the best does not depend on who comes first.
class Record {
 public:
  Record(const Problem& problem, const SearchOptions& options, const exact::Groups& groups)
      : problem_{problem},
        options_{options},
        bounds_(groups.size()),
        arguments_(groups.size(), Argument::kFloor),
        done_(groups.size(), false) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      bounds_[g] = groups.floor(g);
    }
  }

  // The best so far is known from elsewhere.
  void start_from(const Mapping& mapping, const Cost& cost, const Key& key) {
    best_ = mapping;
    best_cost_ = cost;
    task_ = bounds_.size();
    limit_ = key;
  }
  void rule_out(std::size_t group) { bounds_[group] = Key{}; }

  Key limit() {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  Key bound(std::size_t group) {
    const std::lock_guard lock(mutex_);
    return bounds_[group];
  }
  bool has_best() {
    const std::lock_guard lock(mutex_);
    return best_.has_value();
  }
  std::int64_t labels() {
    const std::lock_guard lock(mutex_);
    return statistics_.labels;
  }

  // Of a budget: labels expanded, and what else counts for labels.
  std::int64_t spent() {
    const std::lock_guard lock(mutex_);
    return statistics_.labels + charged_;
  }
  void charge(std::int64_t labels) {
    const std::lock_guard lock(mutex_);
    charged_ += labels;
  }

  void relax(std::size_t group, const Key& bound, std::size_t states) {
    const std::lock_guard lock(mutex_);
    bounds_[group] = std::max(bounds_[group], bound);
    arguments_[group] = Argument::kRelaxation;
    statistics_.states += static_cast<std::int64_t>(states);
  }
  void tick(std::size_t group, const Key& bound, std::int64_t labels, const Patience& patience) {
    const std::lock_guard lock(mutex_);
    bounds_[group] = std::max(bounds_[group], bound);
    ticked_ += labels;
    report(patience);
  }
  void searched(std::size_t group, const exact::LabelResult& found) {
    const std::lock_guard lock(mutex_);
    bounds_[group] = std::max(bounds_[group], found.bound);
    arguments_[group] = Argument::kSearch;
    statistics_.labels += found.expanded;
    ++statistics_.unrollings;
    incomplete_ = incomplete_ || found.stopped;
  }
  void finish(std::size_t group, const Patience& patience) {
    const std::lock_guard lock(mutex_);
    done_[group] = true;
    report(patience);
  }
  // Groups that are like another one wait for what is found out of that.
  void skip_twins(const std::vector<std::size_t>& first_alike) {
    for (std::size_t g = 0; g < bounds_.size(); ++g) {
      if (first_alike[g] != g) {
        done_[g] = true;
        bounds_[g] = Key{};
      }
    }
  }
  void repeat_for_twins(const std::vector<std::size_t>& first_alike) {
    for (std::size_t g = 0; g < bounds_.size(); ++g) {
      bounds_[g] = bounds_[first_alike[g]];
      arguments_[g] = arguments_[first_alike[g]];
    }
  }
  // Not all mappings with an extent at which nothing stands were looked at.
  void leave_bare(const Key& bound) {
    const std::lock_guard lock(mutex_);
    bare_ = std::min(bare_.value_or(bound), bound);
  }
  void leave_open() {
    const std::lock_guard lock(mutex_);
    incomplete_ = true;
  }

  void offer(const Mapping& mapping, Key key, std::size_t task) {
    const Evaluation evaluation = evaluate(problem_, mapping);
    const std::lock_guard lock(mutex_);
    ++statistics_.evaluations;
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost == nullptr) {
      return;
    }
    const Objective& objective = options_.objective;
    if (!best_ || better(objective, *cost, *best_cost_) ||
        (!better(objective, *best_cost_, *cost) && task < task_)) {
      best_ = mapping;
      best_cost_ = *cost;
      task_ = task;
    }
    limit_ = std::min(limit_, key);
  }

  SearchResult result() {
    SearchResult result;
    result.best = best_;
    result.cost = best_cost_;
    result.statistics = statistics_;
    result.statistics.unrollings_total = static_cast<std::int64_t>(bounds_.size());
    for (std::size_t g = 0; g < bounds_.size(); ++g) {
      result.groups.push_back({bounds_[g].first, arguments_[g]});
    }
    const double value =
        result.cost ? objective_value(options_.objective, *result.cost) : exact::kInfinity;
    const double bound = std::min(value, least_bound());
    result.interrupted = incomplete_ && bound < value * (1 - kRounding);
    if (result.interrupted) {
      result.certificate.status = bound > 0 ? Proof::kBounded : Proof::kNone;
    } else {
      result.certificate.status = result.cost ? Proof::kOptimal : Proof::kInfeasible;
    }
    Certificate& proof = result.certificate;
    proof.lower_bound = result.interrupted ? bound : value;
    if (result.cost && bare_ && bare_->first < proof.lower_bound * (1 - kRounding)) {
      proof.bound_but_for_bare = proof.lower_bound;
      proof.lower_bound = bare_->first;
      proof.status = proof.lower_bound > 0 ? Proof::kBounded : Proof::kNone;
    } else if (leaves_ties_open(value) || has_open_ties(value)) {
      proof.bound_but_for_bare = proof.lower_bound;
    }
    if (proof.status == Proof::kBounded && result.cost) {
      proof.gap = value / proof.lower_bound - 1;
    }
    return result;
  }

 private:
  // Might one of those not looked at be as fast as the best, and need less energy?
  bool leaves_ties_open(double value) const {
    return best_cost_ && bare_ && options_.objective.energy_power == 0 &&
           !exact::beyond(*bare_, {value}) &&
           bare_->second < best_cost_->energy.total.count() * (1 - kRounding);
  }
  // The same of groups that a budget has kept from being searched to their end.
  bool has_open_ties(double value) const {
    const auto is_open = [&](const Key& bound) {
      return !exact::beyond({bound.first}, {value}) &&
             bound.second < best_cost_->energy.total.count() * (1 - kRounding);
    };
    return best_cost_ && incomplete_ && options_.objective.energy_power == 0 &&
           std::any_of(bounds_.begin(), bounds_.end(), is_open);
  }
  double least_bound() const {
    double least = exact::kInfinity;
    for (const Key& bound : bounds_) {
      least = std::min(least, bound.first);
    }
    return least;
  }
  void report(const Patience& patience) const {
    if (!options_.progress) {
      return;
    }
    Progress progress;
    progress.lower_bound = least_bound();
    if (best_cost_) {
      progress.best = objective_value(options_.objective, *best_cost_);
      progress.lower_bound = std::min(progress.lower_bound, *progress.best);
    }
    progress.unrollings = std::count(done_.begin(), done_.end(), true);
    progress.unrollings_total = static_cast<std::int64_t>(done_.size());
    progress.labels = std::max(ticked_, statistics_.labels);
    progress.seconds = patience.seconds();
    options_.progress(progress);
  }

  const Problem& problem_;
  const SearchOptions& options_;
  std::mutex mutex_;
  std::vector<Key> bounds_;          // per group: nothing of it is better
  std::vector<Argument> arguments_;  // per group: why
  std::vector<bool> done_;
  bool incomplete_ = false;
  std::optional<Key> bare_;
  std::optional<Mapping> best_;
  std::optional<Cost> best_cost_;
  std::size_t task_ = 0;
  Key limit_;
  std::int64_t ticked_ = 0;  // labels, as far as searches have told
  std::int64_t charged_ = 0;
  Statistics statistics_;
};

// No group takes more than this part of a budget of labels, unless there are fewer of them.
constexpr std::size_t kLeastShares = 4;

class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options, const Patience& patience,
              const GroupSearch& more = {})
      : space_{space},
        options_{options},
        patience_{patience},
        shared_{more.shared},
        most_labels_{more.labels},
        groups_(space, options.objective, &patience),
        record_{space.problem(), options, groups_} {}

  Record& record() { return record_; }

  // The last of the groups of a batch goes on with the next: nobody waits for threads that have
  // nothing to do, or do not get a core. So the search is over when the team that calls this is.
  void start() {
    record_.skip_twins(groups_.first_alike());
    order_ = groups_.by_floor();
    std::erase_if(order_,
                  [this](std::size_t group) { return groups_.first_alike()[group] != group; });
    for (const std::size_t most : balanced::kCoarseTiles) {
      if (is_balanced() && !patience_.over()) {
        bound_coarsely(order_, most);
      }
    }
    go_on();
  }
  SearchResult result() {
    caught_.rethrow();
    record_.repeat_for_twins(groups_.first_alike());
    return record_.result();
  }

 private:
  bool is_balanced() const { return space_.constraints().factors.balanced; }

  // Brings balanced groups, of which there are hundreds and each takes seconds, into the order of
  // bounds on coarse lattices, which are cheap. Also narrows the gap of a search that is stopped.
  void bound_coarsely(std::vector<std::size_t>& order, std::size_t most) {
    const std::vector<std::size_t> open = to_bound(order, most);
    const auto count = static_cast<std::int64_t>(open.size());
#pragma omp taskloop grainsize(1) shared(open)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t group = open[static_cast<std::size_t>(i)];
      caught_.run([&] {
        if (!patience_.over()) {
          record_.relax(
              group,
              balanced::coarse_bound(groups_.skeleton(group), space_.group_by_factors()[group],
                                     options_.objective, most, patience_),
              0);
        }
      });
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return record_.bound(a) < record_.bound(b);
    });
  }

  // Those that may hold something better, as far as half of a budget of labels goes.
  std::vector<std::size_t> to_bound(const std::vector<std::size_t>& order, std::size_t most) {
    const bool is_limited = options_.budget.labels < Budget{}.labels;
    const Key limit = record_.limit();
    std::vector<std::size_t> open;
    for (const std::size_t group : order) {
      if (groups_.is_idle(group) || exact::beyond(record_.bound(group), limit)) {
        continue;
      }
      const std::int64_t labels =
          is_limited ? balanced::labels_of_bound(groups_.skeleton(group), most) : 0;
      if (labels > options_.budget.labels / 2 - record_.spent()) {
        break;
      }
      record_.charge(labels);
      open.push_back(group);
    }
    return open;
  }

  // Batch by batch until one leaves something to search.
  void go_on() {
    for (bool is_idle = true; is_idle && begun_ < order_.size();) {
      const std::int64_t budget = options_.budget.labels - record_.spent();
      const std::int64_t labels = std::min(budget, most_labels_ - record_.labels());
      if (begun_ > 0 && (patience_.over() || labels <= 0)) {
        record_.leave_open();
        return;
      }
      const std::span<const std::size_t> batch = exact::Groups::batch(order_, begun_);
      begun_ += batch.size();
      is_idle = !search_batch(batch, labels, budget);
    }
  }

  // False: there is nothing to search in it.
  bool search_batch(std::span<const std::size_t> batch, std::int64_t labels, std::int64_t budget) {
    const auto shares =
        static_cast<std::int64_t>(std::max(batch.size(), std::min(kLeastShares, groups_.size())));
    exact::Quest quest;
    quest.limit = record_.limit();
    quest.labels = std::max<std::int64_t>(1, labels / shares);
    quest.budget = std::max<std::int64_t>(1, budget / shares);
    std::vector<std::size_t> open;
    for (const std::size_t group : batch) {
      const Key bound = record_.bound(group);
      if (bound.first < exact::kInfinity && !exact::worse(bound, quest.limit)) {
        open.push_back(group);
      } else {
        record_.finish(group, patience_);
      }
    }
    running_ = open.size();
    for (const std::size_t group : open) {
#pragma omp task firstprivate(group, quest)
      caught_.run([&] {
        if (patience_.over() && record_.has_best()) {
          record_.leave_open();
        } else {
          search(group, quest);
          record_.finish(group, patience_);
        }
        if (--running_ == 0) {
          go_on();
        }
      });
    }
    return !open.empty();
  }

  void search_balanced(std::size_t group, const exact::Quest& quest) {
    const balanced::Outcome found =
        balanced::search_group(groups_.skeleton(group), space_.group_by_factors()[group],
                               options_.objective, quest, patience_);
    record_.charge(found.spent);
    if (found.states > 0) {
      record_.relax(group, found.root, static_cast<std::size_t>(found.states));
    }
    if (found.best) {
      record_.offer(*found.best, found.key, group);
    }
    if (found.bare) {
      record_.leave_bare(*found.bare);
    }
    if (found.searched) {
      record_.searched(group, {{}, found.bound, found.labels, !found.complete});
    } else if (!found.complete) {
      record_.leave_open();
    }
  }

  // As another design shows.
  bool is_known_beyond(std::size_t group, const Key& limit) const {
    return limit.first < exact::kInfinity &&
           std::any_of(
               shared_.begin(), shared_.end(),
               [&](SharedBounds* shared) {
                 return exact::beyond(
                     {shared->bound(space_.group_by_factors()[group], limit.first)}, limit);
               });
  }

  void search(std::size_t group, exact::Quest quest) {
    if (groups_.is_idle(group)) {
      record_.relax(group, Key{}, 0);
      return;
    }
    if (is_balanced()) {
      search_balanced(group, quest);
      return;
    }
    if (is_known_beyond(group, quest.limit)) {
      record_.relax(group, quest.limit, 0);
      return;
    }
    const auto instance = groups_.build(group, quest.limit, true);
    if (!instance->dived.empty()) {  // the best so far, in case that labels are stopped
      const Mapping mapping = groups_.mapping(*instance, group, instance->dived);
      record_.offer(mapping, Key{}, group);
    }
    const Key root = instance->root();
    const bool is_beyond = exact::worse(root, quest.limit);
    record_.relax(group, is_beyond ? quest.limit : root, instance->bound.nodes().size());
    if (is_beyond || !(root.first < exact::kInfinity)) {
      return;
    }
    quest.tick = [this, group](const Key& bound, std::int64_t labels) {
      record_.tick(group, bound, labels, patience_);
    };
    const exact::LabelResult found = exact::search_labels(*instance, quest, patience_);
    for (const exact::Ending& ending : found.endings) {
      record_.offer(groups_.mapping(*instance, group, ending.steps), ending.key, group);
    }
    record_.searched(group, found);
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  const Patience& patience_;
  std::vector<SharedBounds*> shared_;
  std::int64_t most_labels_;
  exact::Groups groups_;
  Record record_;
  std::vector<std::size_t> order_;
  std::size_t begun_ = 0;                // so many of them
  std::atomic<std::size_t> running_{0};  // of a batch
  Caught caught_;
};

// The best mapping with perfect factors is one of the balanced space too, and known at once.
SearchResult with_perfect_factors(const Mapspace& space, SearchOptions options,
                                  const Patience& patience, std::int64_t labels) {
  Constraints constraints = space.constraints();
  constraints.factors = {};
  const Mapspace perfect{space.problem(), constraints};
  options.progress = nullptr;
  GroupSearch more;
  more.labels = labels;
  return search_groups(perfect, options, patience, more);
}

}  // namespace

SearchResult search_groups(const Mapspace& space, const SearchOptions& options,
                           const Patience& patience, const GroupSearch& more) {
  exact::refuse_what_is_not_proven(space, options.objective);
  std::optional<GroupSearch::Known> best = more.best;
  SearchResult perfect;
  if (space.constraints().factors.balanced && !best) {
    perfect = with_perfect_factors(space, options, patience, more.labels);
    if (perfect.cost && is_within_limits(options.objective, *perfect.cost)) {
      best = {&*perfect.best, &*perfect.cost,
              balanced::key_of_cost(options.objective, *perfect.cost)};
    }
  }
  std::optional<ExactSearch> search;
  Caught caught;
  // One thread makes tasks, the others of its team take them.
#pragma omp parallel num_threads(options.threads)
#pragma omp single
  {
    if (more.beside) {
#pragma omp task shared(more, caught)
      caught.run(more.beside);
    }
    caught.run([&] {
      search.emplace(space, options, patience, more);
      search->record().charge(perfect.statistics.labels);
      if (best) {
        search->record().start_from(*best->mapping, *best->cost, best->key);
      }
      for (const std::size_t group : more.ruled_out) {
        search->record().rule_out(group);
      }
      search->start();
    });
  }
  caught.rethrow();
  return search->result();
}

}  // namespace mapsim
