// SPDX-License-Identifier: Apache-2.0
#include "plan/offsets.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace mapsim {

namespace {

constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max() / 4;

// Buffers over moments: between two of them nothing begins or ends.
struct Item {
  std::size_t buffer = 0;
  std::int64_t bytes = 0;
  std::size_t begin = 0, end = 0;  // moments
  double time = 0;                 // alive
};

// What comes first among equal offsets: items of crowded moments (of those that are still to be
// placed, `crowd` is the most bytes in a moment of its own), then long or large ones; or large ones
// at once. Problems that one order solves at once take another one millions of nodes. The first two
// are orders of MiniMalloc.
constexpr std::size_t kOrders = 3;
std::array<double, 3> weights(const Item& item, double crowd, std::size_t order) {
  const double area = item.time * static_cast<double>(item.bytes);
  const auto cells = static_cast<double>(item.end - item.begin) * static_cast<double>(item.bytes);
  const std::array<std::array<double, 3>, kOrders> orders{
      {{crowd, item.time, area}, {crowd, area, item.time}, {cells}}};
  return orders[order];
}

enum class Outcome : std::uint8_t { kFound, kNone, kStopped };

class OffsetBranching {
 public:
  // `order`: of equal offsets, see `weights`.
  OffsetBranching(const std::vector<Item>& items, std::size_t moments, std::int64_t capacity,
                  std::size_t order)
      : items_{items},
        capacity_{capacity},
        order_{order},
        rank_(items_.size(), 0),
        low_(items_.size(), 0),
        offset_(items_.size(), 0),
        is_placed_(items_.size(), 0),
        lowest_(moments, 0),
        lowest_item_(moments, 0),
        left_(moments, 0),
        at_(moments) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      for (std::size_t m = items_[i].begin; m < items_[i].end; ++m) {
        left_[m] += items_[i].bytes;
        at_[m].push_back(i);
        lowest_item_[m] = i;
      }
    }
  }

  Outcome run(std::size_t most_nodes) {
    most_nodes_ = most_nodes;
    std::vector<std::size_t> all(items_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (std::size_t m = 0; m < left_.size(); ++m) {
      if (left_[m] > capacity_) {
        return Outcome::kNone;
      }
    }
    return place_alone(all);
  }
  std::size_t nodes() const { return nodes_; }
  std::int64_t offset(std::size_t item) const { return offset_[item]; }

 private:
  // A value that was replaced.
  struct Change {
    std::vector<std::int64_t>* of;
    std::size_t at;
    std::int64_t before;
  };
  void set(std::vector<std::int64_t>& of, std::size_t at, std::int64_t value) {
    trail_.push_back({&of, at, of[at]});
    of[at] = value;
  }
  void go_back(std::size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) {
      (*trail_.back().of)[trail_.back().at] = trail_.back().before;
    }
  }

  // The lowest place that is left in each moment, anew after items in it have moved up.
  void lower_again(std::size_t begin, std::size_t end) {
    for (std::size_t m = begin; m < end; ++m) {
      const std::size_t known = lowest_item_[m];
      if (is_placed_[known] == 0 && low_[known] == lowest_[m]) {
        continue;
      }
      std::int64_t lowest = kHigh;
      for (const std::size_t i : at_[m]) {
        if (is_placed_[i] == 0 && low_[i] < lowest) {
          lowest = low_[i];
          lowest_item_[m] = i;
        }
      }
      if (lowest != lowest_[m]) {
        set(lowest_, m, lowest);
      }
    }
  }

  // Whether every moment of these items can take what is still to be placed in it, from `height`
  // up.
  bool fits(const std::vector<std::size_t>& open, std::int64_t height) const {
    std::size_t begin = left_.size();
    std::size_t end = 0;
    for (const std::size_t i : open) {
      begin = std::min(begin, items_[i].begin);
      end = std::max(end, items_[i].end);
    }
    for (std::size_t m = begin; m < end; ++m) {
      if (left_[m] > 0 && std::max(lowest_[m], height) + left_[m] > capacity_) {
        return false;
      }
    }
    return true;
  }

  // Nothing is to be placed above it: where it lies, it is in nobody's way.
  bool is_last(std::size_t i) const {
    for (std::size_t m = items_[i].begin; m < items_[i].end; ++m) {
      if (left_[m] != items_[i].bytes) {
        return false;
      }
    }
    return true;
  }

  // Parts of `open` that share no moment with each other.
  std::vector<std::vector<std::size_t>> parts_of(const std::vector<std::size_t>& open) const {
    std::vector<std::size_t> by_begin = open;
    std::sort(by_begin.begin(), by_begin.end(), [this](std::size_t a, std::size_t b) {
      return std::pair{items_[a].begin, a} < std::pair{items_[b].begin, b};
    });
    std::vector<std::vector<std::size_t>> parts;
    std::size_t end = 0;
    for (const std::size_t i : by_begin) {
      if (parts.empty() || items_[i].begin >= end) {
        parts.emplace_back();
      }
      parts.back().push_back(i);
      end = std::max(end, items_[i].end);
    }
    for (std::vector<std::size_t>& part : parts) {
      std::sort(part.begin(), part.end());
    }
    return parts;
  }

  // Places a part that shares no moment with other open items: its equal offsets are ordered anew,
  // by what is left in its moments.
  Outcome place_alone(const std::vector<std::size_t>& part) {
    std::vector<std::pair<std::array<double, 3>, std::size_t>> weighed;
    weighed.reserve(part.size());
    for (const std::size_t i : part) {
      const auto begin = left_.begin() + static_cast<std::ptrdiff_t>(items_[i].begin);
      const auto end = left_.begin() + static_cast<std::ptrdiff_t>(items_[i].end);
      const auto crowd = static_cast<double>(*std::max_element(begin, end));
      weighed.emplace_back(weights(items_[i], crowd, order_), i);
    }
    std::stable_sort(weighed.begin(), weighed.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t rank = 0; rank < weighed.size(); ++rank) {
      set(rank_, weighed[rank].second, static_cast<std::int64_t>(rank));
    }
    return place(part, 0, 0);
  }

  // Places all of `open`, none below `height`; of equal offsets none of a rank below `first`.
  Outcome place(const std::vector<std::size_t>& open, std::int64_t height, std::int64_t first) {
    if (open.empty()) {
      return Outcome::kFound;
    }
    const auto parts = parts_of(open);
    if (parts.size() > 1) {
      for (const std::vector<std::size_t>& part : parts) {
        const Outcome outcome = place_alone(part);
        if (outcome != Outcome::kFound) {
          return outcome;  // who goes back takes what the parts in front have placed with it
        }
      }
      return Outcome::kFound;
    }
    if (++nodes_ > most_nodes_) {
      return Outcome::kStopped;
    }
    std::int64_t least_top = kHigh;
    for (const std::size_t i : open) {
      least_top = std::min(least_top, low_[i] + items_[i].bytes);
    }
    std::vector<std::size_t> next = open;
    std::sort(next.begin(), next.end(), [this](std::size_t a, std::size_t b) {
      return std::pair{low_[a], rank_[a]} < std::pair{low_[b], rank_[b]};
    });
    for (const std::size_t i : next) {
      if (low_[i] >= least_top) {
        break;  // another one fits below it, and would have to be placed later
      }
      if (low_[i] < height || (low_[i] == height && rank_[i] < first)) {
        continue;
      }
      const Outcome outcome = try_item(open, i);
      if (outcome != Outcome::kNone || is_last(i)) {
        return outcome;
      }
    }
    return Outcome::kNone;
  }

  Outcome try_item(const std::vector<std::size_t>& open, std::size_t i) {
    const Item item = items_[i];
    const std::int64_t offset = low_[i];
    const std::int64_t top = offset + item.bytes;
    if (top > capacity_) {
      return Outcome::kNone;
    }
    const std::size_t mark = trail_.size();
    set(is_placed_, i, 1);
    offset_[i] = offset;
    std::size_t begin = item.begin;
    std::size_t end = item.end;
    for (std::size_t m = item.begin; m < item.end; ++m) {
      set(left_, m, left_[m] - item.bytes);
    }
    std::vector<std::size_t> rest;
    rest.reserve(open.size() - 1);
    bool possible = true;
    for (const std::size_t j : open) {
      if (j == i) {
        continue;
      }
      rest.push_back(j);
      if (low_[j] < top && items_[j].begin < item.end && item.begin < items_[j].end) {
        set(low_, j, top);
        possible = possible && top + items_[j].bytes <= capacity_;
        begin = std::min(begin, items_[j].begin);
        end = std::max(end, items_[j].end);
      }
    }
    Outcome outcome = Outcome::kNone;
    if (possible) {
      lower_again(begin, end);
      outcome = fits(rest, offset) ? place(rest, offset, rank_[i]) : Outcome::kNone;
    }
    if (outcome != Outcome::kFound) {
      go_back(mark);
    }
    return outcome;
  }

  const std::vector<Item>& items_;
  std::int64_t capacity_;
  std::size_t order_;
  std::vector<std::int64_t> rank_;    // by item: which of equal offsets is tried first
  std::vector<std::int64_t> low_;     // by item: the least offset that is left
  std::vector<std::int64_t> offset_;  // of placed ones
  std::vector<std::int64_t> is_placed_;
  std::vector<std::int64_t> lowest_;          // by moment: the least of low_
  std::vector<std::size_t> lowest_item_;      // one of those that had it last
  std::vector<std::int64_t> left_;            // by moment: bytes that are still to be placed
  std::vector<std::vector<std::size_t>> at_;  // by moment: items
  std::vector<Change> trail_;
  std::size_t nodes_ = 0, most_nodes_ = 0;
};

std::vector<Item> items_of(const std::vector<Buffer>& buffers, std::size_t& moments) {
  std::vector<std::size_t> times;
  for (const Buffer& buffer : buffers) {
    times.push_back(buffer.first);
    times.push_back(buffer.last + 1);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto moment = [&times](std::size_t time) {
    return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time) -
                                    times.begin());
  };
  moments = times.size();
  std::vector<Item> items;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    items.push_back({b, buffers[b].bytes, moment(buffers[b].first), moment(buffers[b].last + 1),
                     static_cast<double>(buffers[b].last + 1 - buffers[b].first)});
  }
  return items;
}

}  // namespace

OffsetSearch find_offsets(const std::vector<Buffer>& buffers, std::int64_t capacity,
                          std::size_t most_nodes) {
  OffsetSearch found;
  std::size_t moments = 0;
  const std::vector<Item> items = items_of(buffers, moments);
  for (std::size_t budget = 2000; found.nodes < most_nodes; budget *= 4) {
    for (std::size_t order = 0; order < kOrders && found.nodes < most_nodes; ++order) {
      OffsetBranching search{items, moments, capacity, order};
      const Outcome outcome = search.run(std::min(budget, most_nodes - found.nodes));
      found.nodes += search.nodes();
      if (outcome == Outcome::kNone) {
        found.proven = true;
        return found;
      }
      if (outcome == Outcome::kFound) {
        found.offsets.emplace(buffers.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
          (*found.offsets)[items[i].buffer] = search.offset(i);
        }
        return found;
      }
    }
  }
  return found;
}

}  // namespace mapsim
