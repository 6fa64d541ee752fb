// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Consecutive indices of a dim, or points of a rank: [lo, hi).
struct IndexRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t size() const { return hi > lo ? hi - lo : 0; }
  bool empty() const { return hi <= lo; }
  friend auto operator<=>(const IndexRange&, const IndexRange&) = default;
};
using IterationBox = PerDim<IndexRange>;
IterationBox whole_box(const Workload& workload);

// Coefficient of a rank's primary dim, and size of the window of its others; {0, 0}: it has none.
struct WindowStride {
  std::int64_t stride = 0;
  std::int64_t window = 0;
};
WindowStride window_of(const Workload& reader, const Rank& rank);

// Rule F1: the points of a rank of an intermediate, which has `made` of them, that a reader with
// this box needs. An interval; windows with a stride beyond their size reach to where the next one
// begins, and the last one to the end, so that the intermediate is made whole.
IndexRange needed_points(const Workload& reader, const Rank& rank, const IterationBox& box,
                         std::int64_t made);

}  // namespace mapsim
