// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mapper/balanced/search.hpp"
#include "mapper/exact/folds.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/infeasible.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/few.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nvdla/search.hpp"
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
  Statistics statistics_;
};

// No group takes more than this part of a budget of labels, unless there are fewer of them.
constexpr std::size_t kLeastShares = 4;

class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options, const Patience& patience,
              const std::vector<SharedBounds*>& shared = {})
      : space_{space},
        options_{options},
        patience_{patience},
        shared_{shared},
        groups_(space, options.objective, options.threads),
        record_{space.problem(), options, groups_} {}

  Record& record() { return record_; }

  // `beside`: done by a thread that has nothing to search in the first batch.
  SearchResult run(const std::function<void()>& beside = {}) {
    if (is_balanced() && !record_.has_best()) {
      start_from_perfect_factors();
    }
    std::vector<std::size_t> order = groups_.by_floor();
    for (std::size_t i = 0; is_balanced() && i < balanced::kCoarseTiles.size(); ++i) {
      bound_coarsely(order, balanced::kCoarseTiles[i]);
    }
    bool first = true;
    exact::Groups::for_batches(order, [&](std::span<const std::size_t> batch) {
      const std::int64_t left = options_.budget.labels - record_.labels();
      if (!first && (patience_.over() || left <= 0)) {
        record_.leave_open();
        return false;
      }
      search_batch(batch, left, first ? beside : nullptr);
      first = false;
      return true;
    });
    return record_.result();
  }

 private:
  bool is_balanced() const { return space_.constraints().factors.balanced; }

  // The best mapping with perfect factors is one of the balanced space too, and known at once.
  void start_from_perfect_factors() {
    Constraints constraints = space_.constraints();
    constraints.factors = {};
    const Mapspace perfect{space_.problem(), constraints};
    SearchOptions options = options_;
    options.progress = nullptr;
    const SearchResult found = ExactSearch(perfect, options, patience_).run();
    if (found.cost && is_within_limits(options_.objective, *found.cost)) {
      record_.start_from(*found.best, *found.cost,
                         balanced::key_of_cost(options_.objective, *found.cost));
    }
  }

  // Brings balanced groups, of which there are hundreds and each takes seconds, into the order of
  // bounds on coarse lattices, which are cheap. Also narrows the gap of a search that is stopped.
  void bound_coarsely(std::vector<std::size_t>& order, std::size_t most) {
    const Key limit = record_.limit();
    const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads)
    for (std::int64_t i = 0; i < count; ++i) {
      const std::size_t group = order[static_cast<std::size_t>(i)];
      if (!patience_.over() && !groups_.is_idle(group) &&
          !exact::beyond(record_.bound(group), limit)) {
        record_.relax(
            group,
            balanced::coarse_bound(groups_.skeleton(group), space_.group_by_factors()[group],
                                   options_.objective, most, patience_),
            0);
      }
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return record_.bound(a) < record_.bound(b);
    });
  }

  void search_batch(std::span<const std::size_t> batch, std::int64_t labels,
                    const std::function<void()>& beside) {
    const std::size_t shares = std::max(batch.size(), std::min(kLeastShares, groups_.size()));
    exact::Quest quest;
    quest.limit = record_.limit();
    quest.labels = std::max<std::int64_t>(1, labels / static_cast<std::int64_t>(shares));
    std::vector<std::size_t> open;
    for (const std::size_t group : batch) {
      const Key bound = record_.bound(group);
      if (bound.first < exact::kInfinity && !exact::worse(bound, quest.limit)) {
        open.push_back(group);
      } else {
        record_.finish(group, patience_);
      }
    }
    const std::size_t tasks = open.size() + (beside ? 1 : 0);
    // A thread that waits for the others helps them with the tasks within theirs.
#pragma omp parallel for schedule(dynamic, 1) num_threads(options_.threads) if (tasks > 0)
    for (std::size_t i = 0; i < tasks; ++i) {
      if (i == open.size()) {
        beside();
      } else if (patience_.over() && record_.has_best()) {
        record_.leave_open();
      } else {
        search(open[i], quest);
        record_.finish(open[i], patience_);
      }
    }
  }

  void search_balanced(std::size_t group, const exact::Quest& quest) {
    const balanced::Outcome found =
        balanced::search_group(groups_.skeleton(group), space_.group_by_factors()[group],
                               options_.objective, quest, patience_);
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
  exact::Groups groups_;
  Record record_;
};

void add(Statistics& sum, const Statistics& other) {
  sum.evaluations += other.evaluations;
  sum.labels += other.labels;
  sum.states += other.states;
}

std::int64_t count_searched(const std::vector<GroupBound>& one,
                            const std::vector<GroupBound>& other) {
  std::int64_t count = 0;
  for (std::size_t g = 0; g < one.size(); ++g) {
    count += one[g].by == Argument::kSearch || other[g].by == Argument::kSearch ? 1 : 0;
  }
  return count;
}

// Of all mappings that need as little energy as `least`, the fastest.
SearchResult break_ties(const Mapspace& space, SearchOptions options, SearchResult least,
                        const Patience& patience) {
  const Objective asked = options.objective;
  const double energy = least.cost->energy.total.count();
  const auto cycles = static_cast<double>(latency_of(asked.mode, least.cost->latency).count());
  options.objective.energy_power = 0;
  options.objective.latency_power = 1;
  options.objective.max_energy = least.cost->energy.total;
  options.budget.labels -= std::min(options.budget.labels, least.statistics.labels);
  ExactSearch search(space, options, patience);
  search.record().start_from(*least.best, *least.cost, {cycles, energy});
  for (std::size_t g = 0; g < least.groups.size(); ++g) {
    if (exact::beyond({least.groups[g].bound}, {energy})) {
      search.record().rule_out(g);
    }
  }
  SearchResult fastest = search.run();
  add(least.statistics, fastest.statistics);
  least.statistics.unrollings = count_searched(least.groups, fastest.groups);
  least.best = std::move(fastest.best);
  least.cost = std::move(fastest.cost);
  least.interrupted = fastest.interrupted;
  Certificate& proof = least.certificate;
  if (proof.status == Proof::kOptimal) {
    const bool open = fastest.certificate.bound_but_for_bare.has_value();
    proof.lower_bound = objective_value(asked, *least.cost);
    proof.status = open ? Proof::kOptimal : fastest.certificate.status;
    proof.bound_but_for_bare = open ? std::optional{proof.lower_bound} : std::nullopt;
  }
  return least;
}

// Labels after which nobody waits any longer for what a limit would have to be.
constexpr std::int64_t kMostToExplain = 50'000;

InfeasibleReport explain(const Mapspace& space, SearchOptions options, const Patience& patience) {
  options.progress = nullptr;
  options.budget.labels = std::min(options.budget.labels, kMostToExplain);
  const InfeasibleReport report =
      exact::explain_limits(Objective{options.objective}, [&](const Objective& least) {
        options.objective = least;
        return ExactSearch(space, options, patience).run();
      });
  return report.reasons.empty() ? exact::explain_infeasible(space) : report;
}

// Has the search left anything open that looking at every mapping would say?
bool is_open(const SearchResult& result) {
  return result.interrupted || result.certificate.bound_but_for_bare.has_value();
}

// Balanced factors and rules can take seconds to count, so whoever is interrupted, or is meanwhile,
// goes without: empty.
std::string size_of(const Mapspace& space, bool interrupted, const Patience& patience) {
  return space.size_unless([&] { return interrupted || patience.over(); }).value_or("");
}

}  // namespace

SearchResult search_exact(const Mapspace& space, const SearchOptions& options) {
  return search_exact(space, options, {});
}

SearchResult search_exact(const Mapspace& space, const SearchOptions& options,
                          const std::vector<SharedBounds*>& shared) {
  if (std::holds_alternative<NvdlaTiming>(space.problem().arch().compute.timing)) {
    return search_nvdla(space, options);
  }
  const Patience patience(options);
  const std::int64_t few = count_if_few(space);
  SearchOptions first = options;
  first.budget.labels = std::min(options.budget.labels, labels_worth(few));
  std::string size;
  const std::function<void()> count = [&] { size = size_of(space, false, patience); };
  const bool is_quick = !space.is_ruled() && !space.constraints().factors.balanced;
  SearchResult result = ExactSearch(space, first, patience, shared).run(is_quick ? count : nullptr);
  if (options.objective.exact_ties && options.objective.latency_power == 0 && result.cost &&
      !result.interrupted) {
    result = break_ties(space, first, std::move(result), patience);
  }
  if (first.budget.labels < options.budget.labels && is_open(result)) {
    look_at_all(space, options, patience, result);
  }
  if (options.edge_folds && !result.interrupted) {
    exact::search_edge_folds(space, options, result);
  }
  result.certificate.mapspace_size =
      size.empty() ? size_of(space, result.interrupted, patience) : size;
  if (!result.best && !result.interrupted) {
    result.infeasible =
        few > 0 ? search_exhaustive(space, options).infeasible : explain(space, options, patience);
  }
  result.statistics.seconds = patience.seconds();
  return result;
}

}  // namespace mapsim
