// SPDX-License-Identifier: Apache-2.0
#include "costmodel/window.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace mapsim {

std::int64_t window_points(std::int64_t stride_p, std::int64_t a, std::int64_t stride_r,
                           std::int64_t b) {
  const std::int64_t g = std::gcd(stride_p, stride_r);
  return coprime_window_points(stride_p / g, a, stride_r / g, b);
}

namespace {

// Whole numbers lo .. hi - 1.
struct Interval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};
using Intervals = std::vector<Interval>;

// Sorted, and none touches the next.
void join(Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::size_t last = 0;
  for (const Interval& next : intervals) {
    if (next.lo <= intervals[last].hi) {
      intervals[last].hi = std::max(intervals[last].hi, next.hi);
    } else {
      intervals[++last] = next;
    }
  }
  intervals.resize(intervals.empty() ? 0 : last + 1);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// A set of whole numbers remainder + stride * i, by remainder, i in joined intervals. The work of
// each operation goes with the number of intervals, not with their lengths.
class Line {
 public:
  explicit Line(std::int64_t stride) : stride_{stride} {}

  // What a dim of this stride runs over.
  void insert(std::span<const Block> blocks) {
    Intervals& all = parts_[0];
    for (const Block& block : blocks) {
      if (block.size > 0) {
        all.push_back({block.lo, block.lo + block.size});
      }
    }
    join(all);
  }
  // All sums of a number of the line and one that the dim runs over.
  Line plus(const StridedBlocks& dim) const {
    Line sums(stride_);
    for (const Block& block : dim.blocks) {
      sums.insert_shifted(*this, dim.stride, block);
    }
    for (auto& [remainder, intervals] : sums.parts_) {
      join(intervals);
    }
    return sums;
  }
  void insert_difference(const Line& now, const Line& before) {
    for (const auto& [remainder, intervals] : now.parts_) {
      const auto held = before.parts_.find(remainder);
      Intervals& all = parts_[remainder];
      for (const Interval& interval : intervals) {
        insert_less(interval, held == before.parts_.end() ? Intervals{} : held->second, all);
      }
      join(all);
    }
  }
  std::int64_t count() const {
    std::int64_t n = 0;
    for (const auto& [remainder, intervals] : parts_) {
      for (const Interval& interval : intervals) {
        n += interval.hi - interval.lo;
      }
    }
    return n;
  }

 private:
  // Shifts by stride * i, i in the block. Every `period`-th of them lands on the same remainder,
  // and moves the intervals by `step`: they join unless they are shorter.
  void insert_shifted(const Line& line, std::int64_t stride, const Block& block) {
    const std::int64_t common = std::gcd(stride, stride_);
    const std::int64_t period = stride_ / common;
    const std::int64_t step = stride / common;
    for (std::int64_t first = 0; first < std::min(period, block.size); ++first) {
      const std::int64_t times = (block.size - first - 1) / period;  // beside the first
      for (const auto& [remainder, intervals] : line.parts_) {
        const std::int64_t shifted = remainder + stride * (block.lo + first);
        const std::int64_t whole = floor_div(shifted, stride_);
        Intervals& all = parts_[shifted - whole * stride_];
        for (const Interval& interval : intervals) {
          const bool joins = step <= interval.hi - interval.lo;
          for (std::int64_t i = 0; i <= (joins ? 0 : times); ++i) {
            all.push_back(
                {interval.lo + whole + i * step, interval.hi + whole + (joins ? times : i) * step});
          }
        }
      }
    }
  }
  static void insert_less(Interval rest, const Intervals& held, Intervals& all) {
    for (const Interval& each : held) {
      if (each.lo < rest.hi && rest.lo < each.hi) {
        if (rest.lo < each.lo) {
          all.push_back({rest.lo, each.lo});
        }
        rest.lo = each.hi;
      }
    }
    if (rest.lo < rest.hi) {
      all.push_back(rest);
    }
  }

  std::int64_t stride_;
  std::map<std::int64_t, Intervals> parts_;
};

std::int64_t total_size(const StridedBlocks& dim) {
  std::int64_t size = 0;
  for (const Block& block : dim.blocks) {
    size += block.size;
  }
  return size;
}

std::size_t longest_of(std::span<const StridedBlocks> dims) {
  std::size_t longest = 0;
  for (std::size_t d = 1; d < dims.size(); ++d) {
    longest = total_size(dims[d]) > total_size(dims[longest]) ? d : longest;
  }
  return longest;
}

// Distinct sums: of the dim that the line is about, with what the others (kernels, as a rule) shift
// it by.
Line sum_set(std::span<const StridedBlocks> dims, std::size_t about) {
  Line sums(dims[about].stride);
  sums.insert(dims[about].blocks);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d != about) {
      sums = sums.plus(dims[d]);
    }
  }
  return sums;
}

bool any_empty(std::span<const StridedBlocks> dims) {
  return std::any_of(dims.begin(), dims.end(), [](const StridedBlocks& dim) {
    return std::all_of(dim.blocks.begin(), dim.blocks.end(),
                       [](const Block& block) { return block.size <= 0; });
  });
}

// Blocks that follow each other without a gap are one block.
bool contiguous(std::span<const Block> blocks, Block& whole) {
  whole = blocks.front();
  for (const Block& block : blocks.subspan(1)) {
    if (block.size > 0) {
      if (block.lo != whole.lo + whole.size) {
        return false;
      }
      whole.size += block.size;
    }
  }
  return true;
}

// The points of `now` that are not among those of `before`.
void insert_gained(std::span<const StridedBlocks> now, std::span<const StridedBlocks> before,
                   std::size_t about, Line& gained) {
  if (!any_empty(now)) {
    gained.insert_difference(sum_set(now, about),
                             any_empty(before) ? Line(now[about].stride) : sum_set(before, about));
  }
}

}  // namespace

std::int64_t union_points(std::span<const StridedBlocks> dims) {
  if (any_empty(dims)) {
    return 0;
  }
  Block a;
  Block b;
  if (dims.size() == 2 && contiguous(dims[0].blocks, a) && contiguous(dims[1].blocks, b)) {
    return window_points(dims[0].stride, a.size, dims[1].stride, b.size);
  }
  return sum_set(dims, longest_of(dims)).count();
}

std::int64_t gained_points(std::span<const StridedBlocks> dims, std::size_t moving,
                           std::span<const Block> before, bool together) {
  if (any_empty(dims)) {
    return 0;
  }
  Block now;
  Block held;
  Block other;
  const bool single = dims[0].blocks.size() == 1 && dims[dims.size() - 1].blocks.size() == 1;
  if (dims.size() == 2 && (together || single) && contiguous(dims[moving].blocks, now) &&
      contiguous(before, held) && held.lo + held.size == now.lo &&
      contiguous(dims[1 - moving].blocks, other)) {
    const std::int64_t stride = dims[moving].stride;
    const std::int64_t across = dims[1 - moving].stride;
    return window_points(stride, held.size + now.size, across, other.size) -
           window_points(stride, held.size, across, other.size);
  }
  std::vector<StridedBlocks> held_dims(dims.begin(), dims.end());
  held_dims[moving].blocks = before;
  const std::size_t about = longest_of(dims);
  Line gained(dims[about].stride);
  if (together) {
    insert_gained(dims, held_dims, about, gained);
    return gained.count();
  }
  std::vector<std::size_t> pick(dims.size(), 0);  // one block of each dim: one instance
  std::vector<StridedBlocks> one_now(dims.begin(), dims.end());
  std::vector<StridedBlocks> one_before(dims.begin(), dims.end());
  while (true) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      one_now[d].blocks = dims[d].blocks.subspan(pick[d], 1);
      one_before[d].blocks = held_dims[d].blocks.subspan(pick[d], 1);
    }
    insert_gained(one_now, one_before, about, gained);
    std::size_t d = 0;
    while (d < dims.size() && ++pick[d] == dims[d].blocks.size()) {
      pick[d++] = 0;
    }
    if (d == dims.size()) {
      return gained.count();
    }
  }
}

}  // namespace mapsim
