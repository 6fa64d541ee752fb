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

// The incumbent to prune by, if the result may be worse than the optimum by a share of `gap`
// (exact::within_gap).
exact::Incumbent within_gap(exact::Incumbent known, double gap);

// Searches one class of spatial unrollings, for the best mapping or a front. With perfect factors
// the class is searched as a whole or by residency patterns, with imperfect factors by label
// searches with histories. Results go to the record. Several threads may search different classes.
class ClassSearcher {
 public:
  // All arguments outlive it.
  ClassSearcher(const Mapspace& space, const SearchOptions& options, const ClassSearchInputs& more,
                const exact::UnrollingTasks& classes, ClassRecord& record, const Deadline& deadline)
      : space_{space},
        options_{options},
        more_{more},
        classes_{classes},
        record_{record},
        deadline_{deadline} {}

  // `query`: the incumbent, and limits on labels. `is_hard`: an earlier class took many labels. A
  // class that needs more memory than there is stays open; a part of its tiles may be searched.
  TaskWindow::Outcome search(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard);

 private:
  using Outcome = TaskWindow::Outcome;
  // The result of a label search of a class, or of one of its residency patterns.
  struct Labelled {
    exact::ObjectiveKey root;  // the completion bound at the start
    std::vector<exact::ObjectiveKey> found;
    exact::LabelResult result;
    std::size_t states = 0;
    bool is_open = false;  // some label had to be expanded
  };

  bool is_imperfect() const { return space_.constraints().factors.imperfect; }
  bool has_patterns() const;
  Outcome search_whole(std::size_t unrolling_class, const exact::LabelQuery& query, bool is_hard);
  Outcome search_part(std::size_t unrolling_class, const exact::LabelQuery& query);
  void search_tiles(std::size_t unrolling_class, exact::LabelQuery query, std::size_t most_tiles,
                    const Deadline* deadline, Outcome& outcome);
  Outcome search_imperfect(std::size_t unrolling_class, const exact::LabelQuery& query);
  Outcome search_perfect(std::size_t unrolling_class, exact::LabelQuery query, bool is_hard);
  bool are_patterns_next(std::size_t unrolling_class, const exact::LabelQuery& query, bool is_hard,
                         bool& is_ruled_out) const;
  bool search_at_once(std::size_t unrolling_class, exact::LabelQuery& query, std::int64_t most,
                      Outcome& outcome, exact::LabelResult& all);
  void search_patterns(std::size_t unrolling_class, exact::LabelQuery& query, Outcome& outcome,
                       exact::LabelResult& all);
  Labelled search_labels(std::size_t unrolling_class, exact::LabelQuery query,
                         const exact::Pattern* pattern);
  bool offer_beam(const exact::SearchTables& tables, std::size_t unrolling_class,
                  std::vector<exact::ObjectiveKey>& keys);
  void offer(const exact::SearchTables& tables, std::size_t unrolling_class,
             const exact::LabelResult& found, std::vector<exact::ObjectiveKey>& keys);

  const Mapspace& space_;
  const SearchOptions& options_;
  const ClassSearchInputs& more_;
  const exact::UnrollingTasks& classes_;
  ClassRecord& record_;
  const Deadline& deadline_;
  std::atomic<int> parts_{0};
};

}  // namespace mapsim
