// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "costmodel/fusion/lines.hpp"

namespace mapsim {

namespace {

IndexRange both(const IndexRange& a, const IndexRange& b) {
  return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
}
// Needs only grow along a line: what is left of `a` lies behind an earlier interval, and before a
// later one.
IndexRange behind(const IndexRange& a, const IndexRange& earlier) {
  return earlier.empty() ? a : IndexRange{std::max(a.lo, earlier.hi), a.hi};
}
IndexRange before(const IndexRange& a, const IndexRange& later) {
  return later.empty() ? a : IndexRange{a.lo, std::min(a.hi, later.lo)};
}

// Follows the steps of a scope instance. A point has been visited (needed by a step up to now) and
// will be needed (by this step or a later one); the loop at which the other step branches off
// decides, outermost first.
class Follower {
 public:
  Follower(std::vector<const NeedTrace*> lines, const std::vector<std::size_t>& order)
      : at_{std::move(lines)}, order_{order}, loops_(order.size()) {}

  LiveSet follow() {
    step(0);
    return most_;
  }

 private:
  struct Loop {
    IndexRange past, now, later;     // of the line of the loop
    std::vector<IndexRange> around;  // per line: needed by the steps below the loops further out
  };
  using Points = std::vector<IndexRange>;  // one per line

  // Does the step, and do its neighbours, look alike, seen from where each begins? Along such steps
  // of the innermost loop of a line what is held changes by as much from each to the next, so that
  // the most is held in the first or the last of them.
  static bool is_between(const std::vector<NeedTrace>& tiles, std::size_t i) {
    if (i < 2 || i + 2 >= tiles.size()) {
      return false;
    }
    const auto is_like_next = [&](std::size_t k) {
      const IndexRange& a = tiles[k].points;
      const IndexRange& b = tiles[k + 1].points;
      return tiles[k].inner.empty() && a.size() == b.size() &&
             b.lo - a.lo == tiles[i].points.lo - tiles[i - 1].points.lo;
    };
    return is_like_next(i - 2) && is_like_next(i - 1) && is_like_next(i) && is_like_next(i + 1);
  }

  void step(std::size_t m) {
    if (m == order_.size()) {
      Points all;
      std::int64_t others = 1;
      for (const NeedTrace* line : at_) {
        all.push_back({INT64_MIN / 2, INT64_MAX / 2});
        others *= line->others;
      }
      most_.live = std::max(most_.live, others * held(0, all, false));
      most_.carried = std::max(most_.carried, others * held(0, all, true));
      return;
    }
    const std::size_t line = order_[m];
    const NeedTrace* whole = at_[line];
    Loop& loop = loops_[m];
    loop.around.clear();
    for (const NeedTrace* other : at_) {
      loop.around.push_back(other->points);
    }
    const auto& tiles = whole->inner;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (is_between(tiles, i)) {
        continue;
      }
      loop.past =
          i == 0 ? IndexRange{} : IndexRange{tiles.front().points.lo, tiles[i - 1].points.hi};
      loop.now = tiles[i].points;
      loop.later = i + 1 == tiles.size()
                       ? IndexRange{}
                       : IndexRange{tiles[i + 1].points.lo, tiles.back().points.hi};
      at_[line] = &tiles[i];
      step(m + 1);
    }
    at_[line] = whole;
  }

  std::int64_t inside(const Points& points) const {
    std::int64_t product = 1;
    for (std::size_t l = 0; l < at_.size(); ++l) {
      product *= both(at_[l]->points, points[l]).size();
    }
    return product;
  }
  // Points with `range` on the loop's line that any step below the loops further out needs.
  std::int64_t around(std::size_t m, const Points& points, const IndexRange& range) const {
    std::int64_t product = both(range, points[order_[m]]).size();
    for (std::size_t l = 0; l < at_.size(); ++l) {
      product *= l == order_[m] ? 1 : both(loops_[m].around[l], points[l]).size();
    }
    return product;
  }
  Points narrowed(std::size_t m, Points points, const IndexRange& range) const {
    points[order_[m]] = both(points[order_[m]], range);
    return points;
  }

  std::int64_t visited(std::size_t m, const Points& points) const {
    if (m == order_.size()) {
      return inside(points);
    }
    const Loop& loop = loops_[m];
    return around(m, points, loop.past) +
           visited(m + 1, narrowed(m, points, behind(loop.now, loop.past)));
  }
  // `strictly`: by a later step.
  std::int64_t needed(std::size_t m, const Points& points, bool strictly) const {
    if (m == order_.size()) {
      return strictly ? 0 : inside(points);
    }
    const Loop& loop = loops_[m];
    return around(m, points, loop.later) +
           needed(m + 1, narrowed(m, points, before(loop.now, loop.later)), strictly);
  }
  std::int64_t held(std::size_t m, const Points& points, bool strictly) const {
    if (m == order_.size()) {
      return strictly ? 0 : inside(points);
    }
    const Loop& loop = loops_[m];
    const IndexRange old = before(both(loop.past, loop.now), loop.later);
    const IndexRange kept = behind(both(loop.now, loop.later), loop.past);
    const IndexRange rest = before(behind(loop.now, loop.past), loop.later);
    return around(m, points, both(loop.past, loop.later)) +
           needed(m + 1, narrowed(m, points, old), strictly) +
           visited(m + 1, narrowed(m, points, kept)) +
           held(m + 1, narrowed(m, points, rest), strictly);
  }

  std::vector<const NeedTrace*> at_;  // per line, below the loops so far
  const std::vector<std::size_t>& order_;
  std::vector<Loop> loops_;
  LiveSet most_;
};

}  // namespace

LiveSet live_set(const std::vector<const std::vector<NeedTrace>*>& lines,
                 const std::vector<std::size_t>& order) {
  LiveSet most;
  std::vector<std::size_t> pick(lines.size(), 0);
  std::size_t l = 0;
  do {
    std::vector<const NeedTrace*> instance;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      instance.push_back(&(*lines[k])[pick[k]]);
    }
    const LiveSet one = Follower{std::move(instance), order}.follow();
    most = {std::max(most.live, one.live), std::max(most.carried, one.carried)};
    for (l = 0; l < lines.size() && ++pick[l] == lines[l]->size(); ++l) {
      pick[l] = 0;
    }
  } while (l < lines.size());
  return most;
}

}  // namespace mapsim
