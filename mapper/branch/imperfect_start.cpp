// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/imperfect_start.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/caught.hpp"
#include "mapper/branch/padded.hpp"
#include "mapper/label_search/imperfect_search.hpp"

namespace mapsim {

namespace {

using exact::ObjectiveKey;

constexpr std::int64_t kPaddedLabels = 3'000;  // of the search of a padded problem
// Padded problems in a row without a better mapping, at most: before and after classes are bounded.
constexpr std::size_t kFirstInVain = 8;
constexpr std::size_t kMostInVain = 30;

class Start {
 public:
  explicit Start(const ImperfectStart& start)
      : space_{start.space},
        options_{start.options},
        deadline_{start.deadline},
        classes_{start.classes},
        record_{start.record},
        order_{start.order},
        charged_{start.charged} {}

  // Searches padded problems of the classes with the best bounds, until `most_in_vain` in a row
  // found nothing better. All problems of a batch know the same, so the result does not depend on
  // the number of threads. If time is over, until one found something: that takes milliseconds.
  void find_incumbents(std::size_t most_in_vain) {
    std::size_t in_vain = 0;
    exact::UnrollingTasks::for_batches(order_, [&](std::span<const std::size_t> batch) {
      std::vector<std::size_t> open;
      for (const std::size_t unrolling_class : batch) {
        if (!classes_.is_idle(unrolling_class) &&
            record_.bound(unrolling_class).first < record_.start().first * (1 - kRounding)) {
          open.push_back(unrolling_class);
        }
      }
      const std::int64_t left = (options_.budget.labels - charged_) / 2;
      const std::int64_t labels = std::min(
          kPaddedLabels, left / static_cast<std::int64_t>(std::max<std::size_t>(1, open.size())));
      if (open.empty() || labels < 1) {
        return false;
      }
      std::vector<PaddedSearch> found(open.size());
      std::atomic<bool> has_any = record_.has_best();
#pragma omp taskloop grainsize(1) shared(open, found, has_any)
      for (std::size_t i = 0; i < open.size(); ++i) {
        caught_.run([&] {
          if (deadline_.over() && has_any) {
            return;
          }
          if (!is_within_budget([&] {
                found[i] =
                    search_padded(space_, classes_.unrolling(open[i]), options_, labels, deadline_);
              })) {
            record_.count_out_of_memory(deadline_);
          }
          has_any = has_any || found[i].best;
        });
      }
      in_vain += found.size();
      for (const PaddedSearch& one : found) {
        charged_ += one.labels;
        record_.count_evaluations(one.evaluations);
        if (one.best && one.best->key < record_.start()) {
          record_.start_from(one.best->mapping, one.best->cost, one.best->key);
          in_vain = 0;
        }
      }
      return in_vain < most_in_vain && (!deadline_.over() || !has_any);
    });
  }

  // Closer bounds of the classes that may have something better, which take some 0.1 ms each.
  void bound_by_phases() {
    std::vector<std::size_t> open;
    for (const std::size_t unrolling_class : order_) {
      if (!classes_.is_idle(unrolling_class) &&
          !exact::worse(record_.bound(unrolling_class), goal())) {
        open.push_back(unrolling_class);
      }
    }
    const auto& function = options_.objective.function;
    const double enough =
        function.uses_latency() ? exact::kInfinity : goal().first * (1 + 8 * kRounding);
#pragma omp taskloop grainsize(8) shared(open)
    for (std::size_t i = 0; i < open.size(); ++i) {
      caught_.run([&] {
        if (!deadline_.over()) {
          record_.relax(open[i], classes_.bound_by_phases(open[i], enough), 0);
        }
      });
    }
    sort();
  }

  // Sorts the classes by their bounds on coarse lattices, which are cheap; there are hundreds of
  // classes, and a search of one takes seconds. It also narrows the gap of a search that is
  // stopped.
  void bound_coarsely(std::size_t most) {
    const std::vector<std::size_t> open = to_bound(most);
#pragma omp taskloop grainsize(1) shared(open)
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::size_t unrolling_class = open[i];
      caught_.run([&] {
        if (!deadline_.over()) {
          if (!is_within_budget([&] {
                record_.relax(unrolling_class,
                              imperfect::coarse_bound(classes_.graph(unrolling_class),
                                                      classes_.unrolling(unrolling_class),
                                                      options_.objective, most, deadline_, goal()),
                              0);
              })) {
            record_.count_out_of_memory(deadline_);
          }
        }
      });
    }
    sort();
  }

  void sort() {
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return record_.bound(a) < record_.bound(b);
    });
  }

  // The classes that may have something better, as many as half of the budget of labels pays for.
  std::vector<std::size_t> to_bound(std::size_t most) {
    const bool is_limited = options_.budget.labels < Budget{}.labels;
    std::vector<std::size_t> open;
    for (const std::size_t unrolling_class : order_) {
      if (classes_.is_idle(unrolling_class) ||
          exact::worse(record_.bound(unrolling_class), goal())) {
        continue;
      }
      const std::int64_t labels =
          is_limited ? imperfect::labels_of_bound(classes_.graph(unrolling_class), most) : 0;
      if (labels > options_.budget.labels / 2 - charged_) {
        break;
      }
      charged_ += labels;
      open.push_back(unrolling_class);
    }
    return open;
  }

  ObjectiveKey goal() const { return within_gap(record_.start(), options_.budget.gap); }
  std::int64_t charged() const { return charged_; }
  void rethrow() const { caught_.rethrow(); }

 private:
  const Mapspace& space_;
  const SearchOptions& options_;
  const Deadline& deadline_;
  const exact::UnrollingTasks& classes_;
  ClassRecord& record_;
  std::vector<std::size_t>& order_;
  std::int64_t charged_;
  Caught caught_;
};

}  // namespace

std::int64_t prepare_imperfect(const ImperfectStart& start, bool find_incumbents) {
  Start search(start);
  if (find_incumbents) {
    search.find_incumbents(kFirstInVain);
  }
  search.bound_by_phases();
  if (find_incumbents) {
    search.find_incumbents(kMostInVain);
  }
  // Bounds by phases are of energy. Where it alone counts, each class has its coarse lattices when
  // it is searched.
  const bool is_timed = start.options.objective.function.uses_latency();
  for (const std::size_t most : imperfect::kTilesToBoundClasses) {
    if (is_timed && !start.deadline.over()) {
      search.bound_coarsely(most);
    }
  }
  search.rethrow();
  return search.charged();
}

}  // namespace mapsim
