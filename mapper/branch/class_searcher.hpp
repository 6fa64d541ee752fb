// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/branch/class_record.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/branch/task_window.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/label_search.hpp"

namespace mapsim {

// The key as it is pruned by where the best may be better by a share of `gap` (exact::within_gap).
exact::Incumbent within_gap(exact::Incumbent known, double gap);

// Searches one class of spatial unrollings at a time, for the best mapping or for a front: with
// perfect factors as a whole or by residency patterns, with imperfect ones by label searches with
// histories. The record hears what came of it. Several threads may search different classes.
class ClassSearcher {
 public:
  // All arguments outlive it.
  ClassSearcher(const Mapspace& space, const SearchOptions& options, const ClassSearch& more,
                const exact::UnrollingTasks& classes, ClassRecord& record, const Deadline& deadline)
      : space_{space},
        options_{options},
        more_{more},
        classes_{classes},
        record_{record},
        deadline_{deadline} {}

  // `query`: what is known, and labels. `is_hard`: a class before it took many labels. One that
  // needs more memory than there is stays open, and a part of its tiles is searched.
  TaskWindow::Outcome search(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard);

 private:
  using Outcome = TaskWindow::Outcome;
  // What labels make of a class of unrollings, or of one of its residency patterns.
  struct Labelled {
    exact::Key root;  // what the bound says before any label
    std::vector<exact::Key> found;
    exact::LabelResult result;
    std::size_t states = 0;
    bool is_open = false;  // labels were needed
  };

  bool is_imperfect() const { return space_.constraints().factors.imperfect; }
  bool has_patterns() const;
  bool is_known_beyond(std::size_t unrolling_class, const exact::Key& limit) const;
  Outcome search_whole(std::size_t unrolling_class, const exact::LabelQuery& query, bool is_hard);
  Outcome search_part(std::size_t unrolling_class, exact::LabelQuery query);
  Outcome search_imperfect(std::size_t unrolling_class, exact::LabelQuery query);
  bool is_ruled_out_coarsely(std::size_t unrolling_class, exact::LabelQuery& query) const;
  Outcome search_perfect(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard);
  bool are_patterns_next(std::size_t unrolling_class, const exact::LabelQuery& query, bool is_hard,
                         bool& is_ruled_out) const;
  bool search_at_once(std::size_t unrolling_class, exact::LabelQuery& query, std::int64_t most,
                      Outcome& outcome, exact::LabelResult& all);
  void search_patterns(std::size_t unrolling_class, exact::LabelQuery& query, Outcome& outcome,
                       exact::LabelResult& all);
  Labelled search_labels(std::size_t unrolling_class, exact::LabelQuery query,
                         const exact::Pattern* pattern);
  void offer(const exact::Instance& instance, std::size_t unrolling_class,
             const exact::LabelResult& found, std::vector<exact::Key>& keys);

  const Mapspace& space_;
  const SearchOptions& options_;
  const ClassSearch& more_;
  const exact::UnrollingTasks& classes_;
  ClassRecord& record_;
  const Deadline& deadline_;
  std::atomic<int> parts_{0};
};

}  // namespace mapsim
