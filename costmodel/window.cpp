// SPDX-License-Identifier: Apache-2.0
#include "costmodel/window.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mapsim {

std::int64_t window_points(std::int64_t stride_p, std::int64_t a, std::int64_t stride_r,
                           std::int64_t b) {
  const std::int64_t g = std::gcd(stride_p, stride_r);
  return coprime_window_points(stride_p / g, a, stride_r / g, b);
}

namespace {

// A set of whole numbers 0..size-1, a bit each.
class Line {
 public:
  explicit Line(std::int64_t size) : words_(static_cast<std::size_t>(size) / 64 + 1) {}

  void insert(std::int64_t i) {
    words_[static_cast<std::size_t>(i) / 64] |= std::uint64_t{1} << (i % 64);
  }
  // *this |= other shifted up by `shift`; what leaves the line must be empty.
  void insert_shifted(const Line& other, std::int64_t shift) {
    const auto whole = static_cast<std::size_t>(shift) / 64;
    const int part = static_cast<int>(shift % 64);
    for (std::size_t i = 0; i + whole < words_.size(); ++i) {
      words_[i + whole] |= other.words_[i] << part;
      if (part != 0 && i + whole + 1 < words_.size()) {
        words_[i + whole + 1] |= other.words_[i] >> (64 - part);
      }
    }
  }
  void insert_difference(const Line& now, const Line& before) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= now.words_[i] & ~before.words_[i];
    }
  }
  std::int64_t count() const {
    std::int64_t n = 0;
    for (const std::uint64_t word : words_) {
      n += std::popcount(word);
    }
    return n;
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Range {
  std::int64_t lo = INT64_MAX;
  std::int64_t hi = 0;  // one past the end
  void widen(std::span<const Block> blocks) {
    for (const Block& block : blocks) {
      if (block.size > 0) {
        lo = std::min(lo, block.lo);
        hi = std::max(hi, block.lo + block.size);
      }
    }
  }
};

std::int64_t total_size(const StridedBlocks& dim) {
  std::int64_t size = 0;
  for (const Block& block : dim.blocks) {
    size += block.size;
  }
  return size;
}

// Coordinates of the sum set; each dim is shifted by its own origin. The longest dim is written
// point by point, the others (kernels, as a rule) as shifted copies of what is there.
Line sum_set(std::span<const StridedBlocks> dims, std::span<const Range> ranges,
             std::int64_t size) {
  std::size_t longest = 0;
  for (std::size_t d = 1; d < dims.size(); ++d) {
    longest = total_size(dims[d]) > total_size(dims[longest]) ? d : longest;
  }
  Line sums(size);
  for (const Block& block : dims[longest].blocks) {
    for (std::int64_t i = 0; i < block.size; ++i) {
      sums.insert(dims[longest].stride * (block.lo + i - ranges[longest].lo));
    }
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d == longest) {
      continue;
    }
    Line next(size);
    for (const Block& block : dims[d].blocks) {
      for (std::int64_t i = 0; i < block.size; ++i) {
        next.insert_shifted(sums, dims[d].stride * (block.lo + i - ranges[d].lo));
      }
    }
    sums = std::move(next);
  }
  return sums;
}

bool any_empty(std::span<const StridedBlocks> dims) {
  return std::any_of(dims.begin(), dims.end(), [](const StridedBlocks& dim) {
    return std::all_of(dim.blocks.begin(), dim.blocks.end(),
                       [](const Block& block) { return block.size <= 0; });
  });
}

std::int64_t line_size(std::span<const StridedBlocks> dims, std::span<const Range> ranges) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    size += dims[d].stride * (ranges[d].hi - ranges[d].lo - 1);
  }
  return size;
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

void insert_gained(std::span<const StridedBlocks> now, std::span<const StridedBlocks> before,
                   std::span<const Range> ranges, std::int64_t size, Line& gained) {
  if (any_empty(now)) {
    return;
  }
  const Line held = any_empty(before) ? Line(size) : sum_set(before, ranges, size);
  gained.insert_difference(sum_set(now, ranges, size), held);
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
  std::vector<Range> ranges(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    ranges[d].widen(dims[d].blocks);
  }
  return sum_set(dims, ranges, line_size(dims, ranges)).count();
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
  std::vector<Range> ranges(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    ranges[d].widen(dims[d].blocks);
    ranges[d].widen(held_dims[d].blocks);
  }
  const std::int64_t size = line_size(dims, ranges);
  Line gained(size);
  if (together) {
    insert_gained(dims, held_dims, ranges, size, gained);
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
    insert_gained(one_now, one_before, ranges, size, gained);
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
