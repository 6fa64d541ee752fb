// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace mapsim {

// Coordinates along one rank: disjoint half-open ranges, ascending, none touching the next.
struct PointRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend auto operator<=>(const PointRange&, const PointRange&) = default;
};
using PointRanges = std::vector<PointRange>;

std::int64_t size(const PointRanges& set);   // number of coordinates
PointRanges normalized(PointRanges ranges);  // sorted, overlaps and touching ranges joined
PointRanges intersection(const PointRanges& a, const PointRanges& b);
PointRanges difference(const PointRanges& a, const PointRanges& b);
PointRanges shifted(PointRanges set, std::int64_t by);  // every coordinate plus `by`
// { a + step * i : a in set, first <= i < first + count }
PointRanges spread(const PointRanges& set, std::int64_t step, std::int64_t first,
                   std::int64_t count);

}  // namespace mapsim
