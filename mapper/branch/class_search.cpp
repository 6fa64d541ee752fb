// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_search.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "core/caught.hpp"
#include "mapper/branch/class_record.hpp"
#include "mapper/branch/class_source.hpp"
#include "mapper/branch/imperfect_start.hpp"
#include "mapper/branch/shared_bounds.hpp"
#include "mapper/branch/task_window.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

using exact::Key;

constexpr double kWeakPatterns = 1.02;  // bounds of whole classes are as much better
// Of classes that are searched on a part of their tiles.
constexpr std::size_t kPartTiles = 30'000;
constexpr std::size_t kHastyTiles = 2'000;  // when time is over
constexpr std::int64_t kPartLabels = 20'000;
constexpr int kMostParts = 8;

// One search: classes take turns (TaskWindow); what is known of them is in a record.
class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options, const Deadline& deadline,
              const ClassSearch& more)
      : space_{space},
        options_{options},
        deadline_{deadline},
        shared_{more.shared},
        most_labels_{more.labels},
        trial_labels_{more.trial_labels},
        find_incumbents_{!more.best},
        record_{space.problem(), options, branch::count_soon(space)},
        source_{space, options.objective, deadline, more.ruled_out, record_} {}

  ClassRecord& record() { return record_; }
  // Of the budget, so much is spent.
  void charge(std::int64_t labels) { charged_ += labels; }

  // The search is over when the team of threads that calls this is.
  void start() {
    if (is_imperfect()) {
      charged_ = prepare_imperfect(
          {space_, options_, deadline_, classes(), record_, source_.order(), charged_},
          find_incumbents_);
    }
    turns_.emplace(source_.count(), record_.start(),
                   TaskWindow::Labels{most_labels_, options_.budget.labels - charged_});
    take_turns(find_waiting());
  }
  SearchResult result() {
    caught_.rethrow();
    return source_.result();
  }

 private:
  // What the search of a class tells those that come later.
  struct Turned {
    Key found;  // of the best, if it is within the limit
    TaskWindow::Labels taken;
    bool is_hard = false;  // it took many labels
  };

  const exact::UnrollingTasks& classes() const { return source_.classes(); }
  bool is_imperfect() const { return space_.constraints().factors.imperfect; }

  // A thread takes one turn after the other. So many have joined those that wait: others may take
  // what it does not.
  void take_turns(std::size_t joined) {
    share(joined);
    while (const std::optional<TaskWindow::Turn> turn = take()) {
      Turned turned;
      caught_.run([&] { turned = search(*turn); });
      share(end(*turn, turned));
    }
  }
  void share(std::size_t joined) {
    for (std::size_t i = 1; i < joined && omp_get_num_threads() > 1; ++i) {
#pragma omp task
      take_turns(0);
    }
  }
  std::optional<TaskWindow::Turn> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      return std::nullopt;
    }
    const TaskWindow::Turn turn = waiting_.front();
    waiting_.pop_front();
    return turn;
  }
  // How many may begin now.
  std::size_t end(const TaskWindow::Turn& turn, const Turned& turned) {
    const std::lock_guard lock(mutex_);
    turns_->end(turn, turned.found, turned.taken, turned.is_hard);
    return find_waiting();
  }

  // Those whose turn has come and that are not ruled out by what they know. How many have joined.
  std::size_t find_waiting() {
    std::size_t joined = 0;
    while (std::optional<TaskWindow::Turn> turn = turns_->next()) {
      turn->limit = within_gap(turn->limit, options_.budget.gap);
      const std::optional<std::size_t> unrolling_class = source_.find(turn->index, turn->limit);
      if (!unrolling_class) {
        turns_->close();
        break;
      }
      const Key bound = record_.bound(*unrolling_class);
      const bool is_open = bound.first < exact::kInfinity && !exact::worse(bound, turn->limit);
      if (is_open && !is_stopped(*turn)) {
        waiting_.push_back(*turn);
        ++joined;
        continue;
      }
      if (is_open) {
        record_.leave_open();
      } else {
        record_.finish(*unrolling_class, deadline_);
      }
      turns_->end(*turn, {}, {});
      if (is_open && (turn->is_last || deadline_.over())) {
        turns_->close_behind();
      }
    }
    return joined;
  }

  // Nothing is left to search it with. The first one is searched whatever the budget.
  bool is_stopped(const TaskWindow::Turn& turn) {
    return turn.index > 0 ? turn.labels.expanded == 0 || deadline_.over()
                          : deadline_.over() && record_.has_best();
  }

  Turned search(const TaskWindow::Turn& turn) {
    const std::size_t unrolling_class = source_[turn.index];
    if (is_stopped(turn)) {
      record_.leave_open();
      return {};
    }
    exact::LabelQuery query;
    query.known = turn.limit;
    query.gap = options_.budget.gap;
    query.labels = std::max<std::int64_t>(1, turn.labels.expanded);
    query.budget = std::max<std::int64_t>(1, turn.labels.budget);
    Turned turned;
    if (!is_within_budget([&] { turned = search(unrolling_class, query, turn.is_hard); })) {
      record_.leave_open();
      record_.count_out_of_memory(deadline_);
      turned = search_part(unrolling_class, query);
    }
    record_.finish(unrolling_class, deadline_);
    return turned;
  }

  // The best nest of a part of a class's tiles. Until something is known, and of a few classes more
  // if there is time: the bound of the class says nothing of how good they are.
  Turned search_part(std::size_t unrolling_class, exact::LabelQuery query) {
    Turned turned;
    if (is_imperfect() || (record_.has_best() && (deadline_.over() || parts_++ >= kMostParts))) {
      return turned;
    }
    const auto instance = classes().build_part(unrolling_class, query.known,
                                               deadline_.over() ? kHastyTiles : kPartTiles);
    if (!query.known.covers(instance->root())) {
      query.labels = std::min(query.labels, kPartLabels);
      const exact::LabelResult found = exact::search_labels(*instance, query, deadline_);
      turned.found = offer(*instance, unrolling_class, found);
      turned.taken = {found.expanded, found.expanded};
    }
    return turned;
  }

  // The least key among the endings.
  Key offer(const exact::Instance& instance, std::size_t unrolling_class,
            const exact::LabelResult& found) {
    Key best;
    for (const exact::Ending& ending : found.endings) {
      record_.offer(classes().mapping(instance, unrolling_class, ending.steps), unrolling_class);
      best = std::min(best, ending.key);
    }
    return best;
  }

  Turned search_imperfect(std::size_t unrolling_class, const exact::LabelQuery& query) {
    const imperfect::Outcome found = imperfect::search_class(classes().graph(unrolling_class),
                                                             classes().unrolling(unrolling_class),
                                                             options_.objective, query, deadline_);
    if (found.states > 0 || found.complete) {
      record_.relax(unrolling_class, found.root, static_cast<std::size_t>(found.states));
    }
    if (found.best) {
      record_.offer(*found.best, unrolling_class);
    }
    if (found.is_out_of_memory) {
      record_.count_out_of_memory(deadline_);
    }
    if (found.bare) {
      record_.leave_bare(*found.bare);
    }
    if (found.searched) {
      record_.searched(unrolling_class, {{}, found.bound, found.labels, !found.complete});
    } else if (!found.complete) {
      record_.leave_open();
    }
    const std::int64_t labels = found.searched ? found.labels : 0;
    return {found.best ? found.key : Key{}, {labels, labels + found.spent}};
  }

  // As another design shows.
  bool is_known_beyond(std::size_t unrolling_class, const Key& limit) const {
    return limit.first < exact::kInfinity &&
           std::any_of(
               shared_.begin(), shared_.end(),
               [&](SharedBounds* shared) {
                 return exact::beyond(
                     {shared->bound(classes().unrolling(unrolling_class), limit.first)}, limit);
               });
  }

  Turned search(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard) {
    if (classes().is_idle(unrolling_class)) {
      record_.relax(unrolling_class, Key{}, 0);
      return {};
    }
    if (is_imperfect()) {
      return search_imperfect(unrolling_class, query);
    }
    if (is_known_beyond(unrolling_class, query.known.limit())) {
      record_.relax(unrolling_class, query.known.limit(), 0);
      return {};
    }
    Turned turned;
    exact::LabelResult all;
    if (has_patterns()) {
      return search_patterns(unrolling_class, query, is_hard);
    }
    search_at_once(unrolling_class, query, query.labels, turned, all);
    return turned;
  }

  // What labels make of a class of unrollings, or of one of its residency patterns.
  struct Labelled {
    Key root;  // what the bound says before any label
    Key found;
    exact::LabelResult result;
    std::size_t states = 0;
    bool is_open = false;  // labels were needed
  };
  Labelled search_labels(std::size_t unrolling_class, const exact::LabelQuery& query,
                         const exact::Pattern* pattern) {
    const auto instance = classes().build(unrolling_class, query.known, true, pattern);
    if (!instance->dived.steps.empty()) {  // the best so far, in case that labels are stopped
      record_.offer(classes().mapping(*instance, unrolling_class, instance->dived.steps),
                    unrolling_class);
    }
    Labelled labelled;
    labelled.found = instance->dived.key;
    labelled.states = instance->bound.nodes().size();
    const Key root = instance->root();
    const bool is_beyond = query.known.covers(root);
    labelled.root = is_beyond ? query.known.limit() : root;
    labelled.result.bound = labelled.root;
    if (is_beyond) {
      return labelled;
    }
    labelled.is_open = true;
    labelled.result = exact::search_labels(*instance, query, deadline_);
    labelled.found = std::min(labelled.found, offer(*instance, unrolling_class, labelled.result));
    if (labelled.result.is_out_of_memory) {
      record_.count_out_of_memory(deadline_);
    }
    return labelled;
  }

  // May the bounds of residency patterns say more than those of whole classes? Only of latency: the
  // least of each port may be that of another mapping (mapper/bounds/residency_patterns.cpp).
  bool has_patterns() const {
    return options_.objective.function.uses_latency() && !space_.problem().is_timed_by_model();
  }

  // One residency pattern of the class after the other, best bound first; before that the class as
  // a whole, with few labels, if that may be enough.
  Turned search_patterns(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard) {
    Turned turned;
    exact::LabelResult all;  // of the whole class
    all.bound = query.known.limit();
    if (is_hard || trial_labels_ == 0) {
      const std::vector<exact::Pattern> best =
          classes().patterns(unrolling_class, query.known, true);
      if (best.empty()) {
        record_.relax(unrolling_class, query.known.limit(), 0);
        return {};
      }
      is_hard = trial_labels_ == 0 ||
                best.front().bound.first > kWeakPatterns * classes().bound(unrolling_class).first;
    }
    if (!is_hard && search_at_once(unrolling_class, query, trial_labels_, turned, all)) {
      return turned;
    }
    turned.is_hard = true;
    const std::vector<exact::Pattern> patterns =
        classes().patterns(unrolling_class, query.known, false);
    for (std::size_t p = 0; p < patterns.size() && !query.known.covers(patterns[p].bound); ++p) {
      if (query.labels == 0 || deadline_.over()) {
        all.bound = std::min(all.bound, patterns[p].bound);
        all.stopped = true;
        break;
      }
      const Key next = p + 1 < patterns.size() ? patterns[p + 1].bound : query.known.limit();
      query.tick = [&](const Key& bound, std::int64_t labels) {
        record_.tick(unrolling_class, std::min({bound, next, all.bound}), labels, deadline_);
      };
      const Labelled one = search_labels(unrolling_class, query, &patterns[p]);
      all.bound = std::min(all.bound, one.result.bound);
      all.stopped = all.stopped || one.result.stopped;
      record_.count_states(one.states);
      add(one, query, turned, all);
    }
    all.bound = std::min(all.bound, query.known.limit());
    record_.searched(unrolling_class, all);
    return turned;
  }

  // The class as a whole. False: so many labels were not enough, and there are more.
  bool search_at_once(std::size_t unrolling_class, exact::LabelQuery& query, std::int64_t most,
                      Turned& turned, exact::LabelResult& all) {
    exact::LabelQuery trial = query;
    trial.labels = std::min(query.labels, most);
    trial.tick = [this, unrolling_class](const Key& bound, std::int64_t labels) {
      record_.tick(unrolling_class, bound, labels, deadline_);
    };
    const Labelled whole = search_labels(unrolling_class, trial, nullptr);
    record_.relax(unrolling_class, whole.root, whole.states);
    add(whole, query, turned, all);
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
  // Counts what labels took, and goes on with what they found.
  static void add(const Labelled& labelled, exact::LabelQuery& query, Turned& turned,
                  exact::LabelResult& all) {
    const std::int64_t labels = labelled.result.expanded;
    all.expanded += labels;
    query.labels -= std::min(query.labels, labels);
    query.known.insert(within_gap(labelled.found, query.gap));
    turned.found = std::min(turned.found, labelled.found);
    turned.taken = {turned.taken.expanded + labels, turned.taken.budget + labels};
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  const Deadline& deadline_;
  std::vector<SharedBounds*> shared_;
  std::int64_t most_labels_;
  std::int64_t trial_labels_;
  bool find_incumbents_;
  std::atomic<int> parts_{0};
  std::int64_t charged_ = 0;  // to the budget, before any class is searched
  ClassRecord record_;
  branch::ClassSource source_;
  std::mutex mutex_;
  std::optional<TaskWindow> turns_;       // of the classes of the source
  std::deque<TaskWindow::Turn> waiting_;  // for a thread
  Caught caught_;
};

// The best mapping with perfect factors is one of the imperfect space too, and known at once.
SearchResult with_perfect_factors(const Mapspace& space, SearchOptions options,
                                  const Deadline& deadline, std::int64_t labels) {
  Constraints constraints = space.constraints();
  constraints.factors = {};
  const Mapspace perfect{space.problem(), constraints};
  options.progress = nullptr;
  ClassSearch more;
  more.labels = labels;
  return search_classes(perfect, options, deadline, more);
}

// Of a space of more unrollings than can be listed: a mapping of it, and no bound.
SearchResult without_proof(SearchResult found) {
  found.interrupted = true;
  found.certificate = {};
  found.classes.clear();
  found.others_bound.reset();
  return found;
}

// As tasks, each of which makes those that come after it: they queue behind what the search makes
// meanwhile. The first step is done alone, then `chains` go on.
void do_beside(const std::function<bool()>& step, int chains, Caught& caught) {
#pragma omp task shared(step, caught) firstprivate(chains)
  caught.run([&] {
    const bool is_done = !step();
    for (int i = 0; i < chains && !is_done; ++i) {
      do_beside(step, 1, caught);
    }
  });
}

}  // namespace

SearchResult search_classes(const Mapspace& space, const SearchOptions& options,
                            const Deadline& deadline, const ClassSearch& more) {
  exact::refuse_what_is_not_proven(space, options.objective);
  std::optional<ClassSearch::Known> best = more.best;
  SearchResult perfect;
  if (space.constraints().factors.imperfect && !best) {
    perfect = with_perfect_factors(space, options, deadline, more.labels);
    if (perfect.cost && is_within_limits(options.objective, *perfect.cost)) {
      best = {&*perfect.best, &*perfect.cost,
              imperfect::key_of_cost(options.objective, *perfect.cost)};
    }
  }
  if (space.constraints().factors.imperfect && perfect.cost && !space.is_listable()) {
    return without_proof(std::move(perfect));
  }
  std::optional<ExactSearch> search;
  Caught caught;
  // One thread makes tasks, the others of its team take them.
#pragma omp parallel num_threads(options.threads)
#pragma omp single
  {
    caught.run([&] {
      search.emplace(space, options, deadline, more);
      search->charge(perfect.statistics.labels);
      if (best) {
        search->record().start_from(*best->mapping, *best->cost, best->key);
      }
    });
    if (more.beside) {
      do_beside(more.beside, options.threads, caught);
    }
    if (search) {
      caught.run([&] { search->start(); });
    }
  }
  caught.rethrow();
  SearchResult result = search->result();
  result.statistics.evaluations += perfect.statistics.evaluations;
  return result;
}

}  // namespace mapsim
