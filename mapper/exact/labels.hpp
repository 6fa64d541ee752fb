// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "mapper/exact/instance.hpp"
#include "mapper/exact/label_store.hpp"

namespace mapsim::exact {

struct LabelResult {
  std::vector<Step> steps;  // from the start to the end; empty: nothing as good as the limit
  Key key;                  // of the best
  Key bound;                // nothing of this unrolling is better than this
  std::int64_t expanded = 0;
  bool stopped = false;
};

// Best-first search over labels (a node, what has been paid, what is used of each contended room),
// pruned by dominance and by the bound: the first label that ends is an optimum of the unrolling.
// Keys beyond `limit` are of no interest.
LabelResult search_labels(Instance& instance, Key limit, const std::atomic<bool>* stop);

}  // namespace mapsim::exact
