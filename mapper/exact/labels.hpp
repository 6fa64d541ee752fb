// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/exact/instance.hpp"
#include "mapper/exact/label_store.hpp"
#include "mapper/exact/staircase.hpp"
#include "mapper/patience.hpp"

namespace mapsim::exact {

// What is looked for among the mappings of an instance: one whose key is least, unless it is beyond
// `limit`; or, given `covered`, every one that no other covers, nor a point of that staircase.
struct Quest {
  Key limit;
  std::optional<Staircase> covered;
  // The second figure is what is used of this room [bits], which has no limit. Else it is
  // Valuation's.
  std::optional<std::size_t> measured_room;
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();  // expand no more than these
  // Balanced factors: no more than these and what bounding takes (kStatesPerLabel) together.
  std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> price_after;  // price the rooms after these; none: when it pays
  // Is told, now and then, a bound of the instance and how many labels were expanded since.
  std::function<void(const Key& bound, std::int64_t labels)> tick;
};

struct Ending {
  Key key;
  std::vector<Step> steps;  // from the start to the end
};
struct LabelResult {
  std::vector<Ending> endings;  // at most one, or the front: first figure ascending
  Key bound;                    // no mapping of this unrolling is better than this
  std::int64_t expanded = 0;
  bool stopped = false;  // before it was sure
};

// Best-first search over labels (a node, what has been paid, what is used of each contended room),
// pruned by dominance and by the bound: the first label that ends is an optimum of the unrolling.
// A search that takes long looks for endings by diving, and then prices the contended rooms. When
// it is stopped before it has an ending it dives for one.
LabelResult search_labels(Instance& instance, const Quest& quest, const Patience& patience);

}  // namespace mapsim::exact
