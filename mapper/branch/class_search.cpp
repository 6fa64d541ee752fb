// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_search.hpp"

#include <omp.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "core/caught.hpp"
#include "mapper/branch/class_record.hpp"
#include "mapper/branch/class_searcher.hpp"
#include "mapper/branch/class_source.hpp"
#include "mapper/branch/front_points.hpp"
#include "mapper/branch/imperfect_start.hpp"
#include "mapper/branch/padded.hpp"
#include "mapper/branch/simplest.hpp"
#include "mapper/branch/task_window.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/haste.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/label_search/label_search.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostInHaste = 32;  // classes; some milliseconds each, or some tens

// One search over all classes of unrollings. The window says which class begins when, and what it
// knows; the record keeps results.
class ExactSearch {
 public:
  ExactSearch(const Mapspace& space, const SearchOptions& options, const Deadline& deadline,
              const ClassSearchInputs& more)
      : space_{space},
        options_{options},
        deadline_{deadline},
        more_{more},
        haste_{options, deadline},
        record_{space.problem(), options, branch::count_soon(space, deadline), more.front},
        source_{space, options.objective, deadline, more.ruled_out, record_},
        searcher_{space, options, more, source_.classes(), record_, deadline} {}

  ClassRecord& record() { return record_; }
  // Labels of the budget that have been spent elsewhere.
  void charge(std::int64_t labels) { charged_ += labels; }

  // The search is over when the caller's team of threads has finished its tasks.
  void start() {
    if (space_.constraints().factors.imperfect && more_.front == nullptr) {
      charged_ = prepare_imperfect(
          {space_, options_, deadline_, source_.classes(), record_, source_.order(), charged_},
          !more_.best);
    }
    window_.emplace(source_.count(), record_.known_at_start(),
                    TaskWindow::Labels{more_.labels, options_.budget.labels - charged_});
    take_tasks(find_waiting());
  }
  SearchResult result() {
    caught_.rethrow();
    return more_.front != nullptr ? record_.front_result() : source_.result();
  }

 private:
  // A thread searches one task after the other. `joined` tasks have just become ready: other
  // threads may take them.
  void take_tasks(std::size_t joined) {
    share(joined);
    while (const std::optional<TaskWindow::Start> start = take()) {
      TaskWindow::Outcome outcome;
      caught_.run([&] { outcome = search(*start); });
      share(end(*start, std::move(outcome)));
    }
  }
  void share(std::size_t joined) {
    for (std::size_t i = 1; i < joined && omp_get_num_threads() > 1; ++i) {
#pragma omp task
      take_tasks(0);
    }
  }
  std::optional<TaskWindow::Start> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      return std::nullopt;
    }
    TaskWindow::Start start = std::move(waiting_.front());
    waiting_.pop_front();
    return start;
  }
  // Ends a task. Returns how many tasks may begin now.
  std::size_t end(const TaskWindow::Start& start, TaskWindow::Outcome outcome) {
    const std::lock_guard lock(mutex_);
    window_->end(start, std::move(outcome));
    return find_waiting();
  }

  // Queues the tasks that may begin and that their incumbent does not rule out; returns how many.
  std::size_t find_waiting() {
    std::size_t joined = 0;
    while (std::optional<TaskWindow::Start> start = window_->next()) {
      start->known = within_gap(std::move(start->known), options_.budget.gap);
      const std::optional<std::size_t> unrolling_class =
          source_.find(start->index, start->known, goes_on_in_haste(start->index));
      if (!unrolling_class) {
        window_->close();
        break;
      }
      const bool is_open = !start->known.rules_out(record_.bound(*unrolling_class));
      if (is_open && !is_stopped(*start)) {
        waiting_.push_back(std::move(*start));
        ++joined;
        continue;
      }
      if (is_open) {
        record_.leave_open();
      } else {
        record_.finish(*unrolling_class, deadline_);
      }
      window_->end(*start, {});
      if (is_open && (start->is_last || (deadline_.over() && !goes_on_in_haste(start->index)))) {
        window_->close_behind();
      }
    }
    return joined;
  }

  // Is the budget spent? The first class is searched in any case.
  bool is_stopped(const TaskWindow::Start& start) {
    return (start.index > 0 && start.labels.expanded == 0) ||
           (deadline_.over() && !goes_on_in_haste(start.index));
  }
  // Once time is over, classes are searched until something is known: where the best bounds are,
  // there may be nothing that fits.
  bool goes_on_in_haste(std::size_t place) {
    return place == 0 ? !record_.has_best()
                      : place < kMostInHaste && more_.front == nullptr && !record_.has_best() &&
                            !haste_.over();
  }

  // Other threads may add classes meanwhile.
  std::size_t class_at(std::size_t place) {
    const std::lock_guard lock(mutex_);
    return source_[place];
  }

  TaskWindow::Outcome search(const TaskWindow::Start& start) {
    if (is_stopped(start)) {
      record_.leave_open();
      return {};
    }
    exact::LabelQuery query;
    query.known = start.known;
    query.labels = std::max<std::int64_t>(1, start.labels.expanded);
    query.budget = std::max<std::int64_t>(1, start.labels.budget);
    return searcher_.search(class_at(start.index), std::move(query), start.is_hard);
  }

  const Mapspace& space_;
  const SearchOptions& options_;
  const Deadline& deadline_;
  const ClassSearchInputs& more_;
  Haste haste_;
  std::int64_t charged_ = 0;  // labels, before any class is searched
  ClassRecord record_;
  branch::ClassSource source_;
  ClassSearcher searcher_;
  std::mutex mutex_;
  std::optional<TaskWindow> window_;       // of the classes of the source
  std::deque<TaskWindow::Start> waiting_;  // tasks that may begin, waiting for a thread
  Caught caught_;
};

// The best mapping with perfect factors. It is also a mapping of the imperfect space, and found
// quickly.
SearchResult with_perfect_factors(const Mapspace& space, SearchOptions options,
                                  const Deadline& deadline, std::int64_t labels) {
  Constraints constraints = space.constraints();
  constraints.factors = {};
  const Mapspace perfect{space.problem(), constraints};
  options.progress = nullptr;
  ClassSearchInputs more;
  more.labels = labels;
  return search_classes(perfect, options, deadline, more);
}

// Where the mapping of the padded problem is better, it is the result.
void take_padded(PaddedSearch padded, const Objective& objective, SearchResult& result) {
  result.statistics.labels += padded.labels;
  result.statistics.evaluations += padded.evaluations;
  if (padded.best &&
      (!result.cost || padded.best->key < imperfect::key_of_cost(objective, *result.cost))) {
    result.best = std::move(padded.best->mapping);
    result.cost = std::move(padded.best->cost);
  }
}

// Runs steps as tasks, each of which creates the next one, so they queue behind the tasks of the
// search. The first step runs alone; then `chains` sequences of steps run.
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
                            const Deadline& deadline, const ClassSearchInputs& more) {
  exact::refuse_what_is_not_proven(space, options.objective);
  if (Haste::is_over_before(options.budget) && !more.best && more.front == nullptr) {
    return branch::without_search(space, options.objective);
  }
  std::optional<ClassSearchInputs::Known> best = more.best;
  SearchResult perfect;
  if (space.constraints().factors.imperfect && !best && more.front == nullptr) {
    perfect = with_perfect_factors(space, options, deadline, more.labels);
    if (perfect.cost && is_within_limits(options.objective, *perfect.cost)) {
      best = {&*perfect.best, &*perfect.cost,
              imperfect::key_of_cost(options.objective, *perfect.cost)};
    }
  }
  if (space.constraints().factors.imperfect && !more.best && more.front == nullptr &&
      !space.is_listable()) {
    take_padded(search_padded(space, options, deadline), options.objective, perfect);
    if (perfect.cost && is_within_limits(options.objective, *perfect.cost)) {
      best = {&*perfect.best, &*perfect.cost,
              imperfect::key_of_cost(options.objective, *perfect.cost)};
    }
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
  if (!result.cost && result.interrupted && deadline.over() && more.front == nullptr) {
    branch::add_simplest(space, options.objective, result);
  }
  return result;
}

void add_effort(Statistics& sum, const Statistics& other) {
  sum.seconds += other.seconds;
  sum.evaluations += other.evaluations;
  sum.labels += other.labels;
  sum.states += other.states;
  sum.out_of_memory += other.out_of_memory;
  sum.peak_bytes = std::max(sum.peak_bytes, other.peak_bytes);
}

}  // namespace mapsim
