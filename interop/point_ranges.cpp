// SPDX-License-Identifier: Apache-2.0
#include "interop/point_ranges.hpp"

#include <algorithm>

namespace mapsim {

std::int64_t size(const PointRanges& set) {
  std::int64_t points = 0;
  for (const PointRange& range : set) {
    points += range.end - range.begin;
  }
  return points;
}

PointRanges normalized(PointRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  PointRanges joined;
  for (const PointRange& range : ranges) {
    if (range.begin >= range.end) {
      continue;
    }
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

PointRanges intersection(const PointRanges& a, const PointRanges& b) {
  PointRanges both;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const PointRange common{std::max(a[i].begin, b[k].begin), std::min(a[i].end, b[k].end)};
    if (common.begin < common.end) {
      both.push_back(common);
    }
    (a[i].end < b[k].end ? i : k)++;
  }
  return both;
}

PointRanges difference(const PointRanges& a, const PointRanges& b) {
  PointRanges rest;
  for (const PointRange& range : a) {
    std::int64_t begin = range.begin;
    for (const PointRange& hole : b) {
      if (hole.end > begin && hole.begin < range.end) {
        rest.push_back({begin, hole.begin});
        begin = hole.end;
      }
    }
    rest.push_back({begin, range.end});
  }
  return normalized(std::move(rest));
}

PointRanges shifted(PointRanges set, std::int64_t by) {
  for (PointRange& range : set) {
    range.begin += by;
    range.end += by;
  }
  return set;
}

PointRanges spread(const PointRanges& set, std::int64_t step, std::int64_t first,
                   std::int64_t count) {
  PointRanges all;
  if (count <= 0) {
    return all;
  }
  if (set.size() == 1 && set[0].end - set[0].begin >= step) {
    all.push_back({set[0].begin + step * first, set[0].end + step * (first + count - 1)});
    return all;
  }
  for (std::int64_t i = first; i < first + count; ++i) {
    for (const PointRange& range : set) {
      all.push_back({range.begin + step * i, range.end + step * i});
    }
  }
  return normalized(std::move(all));
}

}  // namespace mapsim
