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

// Rule F1: the interval of points of an intermediate's rank that a reader with this box needs. The
// rank has `made` points. A window whose stride exceeds its size reaches to the start of the next
// one, and the last window to the end, so that the whole intermediate is made.
IndexRange needed_points(const Workload& reader, const Rank& rank, const IterationBox& box,
                         std::int64_t made);

}  // namespace mapsim
