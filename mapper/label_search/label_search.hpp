// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/bounds/incumbent.hpp"
#include "mapper/deadline.hpp"
#include "mapper/label_search/search_tables.hpp"

namespace mapsim::exact {

// The goal of the search among the mappings of a class: the best one, or all points of a front,
// unless the incumbent rules them out.
struct LabelQuery {
  Incumbent known;
  // For a measured front: the capacity whose use [b] is the second figure. It has no limit.
  // Otherwise PathObjective gives the second figure.
  std::optional<std::size_t> measured_capacity;
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();  // to be expanded at most
  // With imperfect factors: the limit on labels and on states that are bounded, together; so many
  // states count as one label (kStatesPerLabel).
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  double gap = 0;  // Budget::gap
  // Called now and then with a lower bound of the class and the number of labels expanded since
  // the last call.
  std::function<void(const ObjectiveKey& bound, std::int64_t labels)> tick;
};

struct GoalLabel {
  ObjectiveKey key;
  std::vector<Step> steps;  // from the start to the end
};
struct LabelResult {
  std::vector<GoalLabel> goals;  // at most one; of a front all points, first figure ascending
  ObjectiveKey bound;            // a lower bound of all mappings of this unrolling
  std::int64_t expanded = 0;
  bool stopped = false;           // stopped before the proof was complete
  bool is_out_of_memory = false;  // ... because memory ran out
};

// Label setting for perfect factors. A label is a node, the cost so far, and the use of each shared
// capacity; labels are pruned by dominance and by the completion bound. The first label at the end
// that is taken from the queue is an optimum of the unrolling. A search that is stopped earlier
// completes its best labels greedily until one reaches the end.
LabelResult search_labels(SearchTables& tables, const LabelQuery& query, const Deadline& deadline);

}  // namespace mapsim::exact
