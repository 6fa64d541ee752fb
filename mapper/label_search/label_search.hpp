// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/bounds/incumbent.hpp"
#include "mapper/deadline.hpp"
#include "mapper/label_search/instance.hpp"

namespace mapsim::exact {

// What is looked for among the mappings of an instance: one whose key is least, or every one of a
// front, as far as what is known does not cover it.
struct LabelQuery {
  Incumbent known;
  // Of a front that is measured: the capacity whose used bits are the second figure, and which has
  // no limit. Else the second figure is Valuation's.
  std::optional<std::size_t> measured_capacity;
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();  // expand no more than these
  // Imperfect factors: no more than these and what bounding takes (kStatesPerLabel) together.
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  double gap = 0;  // Budget::gap
  // Is told, now and then, a bound of the instance and how many labels were expanded since.
  std::function<void(const Key& bound, std::int64_t labels)> tick;
};

struct GoalLabel {
  Key key;
  std::vector<Step> steps;  // from the start to the end
};
struct LabelResult {
  std::vector<GoalLabel> goals;  // at most one, or the front: first figure ascending
  Key bound;                     // no mapping of this unrolling is better than this
  std::int64_t expanded = 0;
  bool stopped = false;           // before it was sure
  bool is_out_of_memory = false;  // ... for want of it
};

// Best-first search over labels (a node, the cost so far, what is used of each shared capacity),
// pruned by dominance and by the bound: the first label that ends is an optimum of the unrolling.
// One that is stopped before it has a goal label completes labels greedily until it has one.
LabelResult search_labels(Instance& instance, const LabelQuery& query, const Deadline& deadline);

}  // namespace mapsim::exact
