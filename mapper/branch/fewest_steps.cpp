// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/fewest_steps.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/arithmetic.hpp"

// One axis after the other takes instances. What counts for the axes to come is how many steps are
// left along each dim, and fewer along all dims are better. Axes that take few dims come first,
// since they leave few ways. Along a dim only the least instances for some number of steps matter.
// After the last axis only the product of the steps matters.

namespace mapsim::branch {

namespace {

// Limits, which take up to 0.1 s: of all axes together ways that are looked at, those that are
// listed, and comparisons of two.
constexpr std::int64_t kMostSeen = 2'000'000;
constexpr std::int64_t kMostListed = 40'000;
constexpr std::int64_t kMostCompared = 4'000'000;
constexpr std::size_t kMostFound = 64;

using Steps = PerDim<std::int64_t>;  // left along each dim

struct Way {
  Steps left;
  std::vector<std::int64_t> counts;
};

double product(const Steps& left) {
  double steps = 1;
  for (const std::int64_t along : left) {
    steps *= real(along);
  }
  return steps;
}

class AxisWays {
 public:
  struct Work {
    std::int64_t seen = 0;
    std::int64_t listed = 0;
    std::int64_t compared = 0;
    bool is_too_much() const {
      return seen > kMostSeen || listed > kMostListed || compared > kMostCompared;
    }
  };
  AxisWays(const std::vector<Place>& places, const std::vector<Interval>& counts, std::size_t begin,
           std::size_t end, Work& work, bool is_last)
      : places_{places},
        counts_{counts},
        begin_{begin},
        end_{end},
        work_{work},
        is_last_{is_last} {}

  // Adds all ways to use the axis; false: they are too many.
  bool add(const Way& way) {
    before_ = way.left;
    Way longer = way;
    return add(longer, begin_, places_[begin_].size);
  }
  // Those of which none has fewer steps along a dim, and no more along the others.
  std::vector<Way> best() {
    std::vector<Way> ways;
    for (auto& [left, counts] : ways_) {
      Way& way = ways.emplace_back();
      for (const std::int64_t along : left) {
        way.left.push_back(along);
      }
      way.counts = std::move(counts);
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [](const Way& a, const Way& b) { return product(a.left) < product(b.left); });
    std::vector<Way> kept;
    for (Way& way : ways) {
      if (work_.is_too_much()) {
        break;
      }
      const bool is_worse = std::any_of(kept.begin(), kept.end(), [&](const Way& other) {
        ++work_.compared;
        return std::equal(other.left.begin(), other.left.end(), way.left.begin(),
                          [](std::int64_t a, std::int64_t b) { return a <= b; });
      });
      if (!is_worse) {
        kept.push_back(std::move(way));
      }
    }
    return kept;
  }

 private:
  bool add(Way& way, std::size_t place, std::int64_t free) {
    if (place == end_) {
      ++work_.seen;
      if (!may_use(way, free)) {
        keep(way);
      }
      return !work_.is_too_much();
    }
    std::int64_t& left = way.left[places_[place].dim];
    const std::int64_t before = left;
    const std::int64_t most = std::min(counts_[place].most, free);
    bool is_complete = true;
    for (std::int64_t count = counts_[place].least; count <= most && is_complete;) {
      left = ceil_div(before, count);
      way.counts[place] = count;
      is_complete = add(way, place + 1, free / count);
      count = left > 1 ? std::max(count + 1, ceil_div(before, left - 1)) : most + 1;
    }
    left = before;
    way.counts[place] = 1;
    return is_complete;
  }

  void keep(const Way& way) {
    const double steps = product(way.left);
    if (is_last_ && few_.size() == kMostFound && steps >= few_.rbegin()->first) {
      return;
    }
    const bool is_new = ways_.try_emplace({way.left.begin(), way.left.end()}, way.counts).second;
    if (!is_last_) {
      ++work_.listed;
    } else if (is_new) {
      few_.emplace(steps, std::vector<std::int64_t>{way.left.begin(), way.left.end()});
      if (few_.size() > kMostFound) {
        ways_.erase(std::prev(few_.end())->second);
        few_.erase(std::prev(few_.end()));
      }
    }
  }

  // Would more instances along a dim, for which instances are free, leave fewer steps?
  bool may_use(const Way& way, std::int64_t free) const {
    for (std::size_t i = begin_; i < end_; ++i) {
      const std::int64_t more = way.counts[i] * free;
      if (way.left[places_[i].dim] > 1 && free > 1 && more <= counts_[i].most &&
          ceil_div(before_[places_[i].dim], more) < way.left[places_[i].dim]) {
        return true;
      }
    }
    return false;
  }

  const std::vector<Place>& places_;
  const std::vector<Interval>& counts_;
  std::size_t begin_, end_;
  Work& work_;
  bool is_last_;
  Steps before_;                                                         // left before the axis
  std::map<std::vector<std::int64_t>, std::vector<std::int64_t>> ways_;  // counts by steps left
  std::multimap<double, std::vector<std::int64_t>> few_;  // of the last axis: steps, and left
};

}  // namespace

std::vector<FewSteps> fewest_steps(const Workload& workload, const std::vector<Place>& places,
                                   const std::vector<Interval>& counts) {
  std::vector<std::pair<std::size_t, std::size_t>> axes;  // of places
  for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && places[end].fanout == places[begin].fanout &&
           places[end].axis == places[begin].axis) {
      ++end;
    }
    axes.emplace_back(begin, end);
  }
  std::stable_sort(axes.begin(), axes.end(), [](const auto& a, const auto& b) {
    return a.second - a.first < b.second - b.first;
  });
  Way none{Steps(workload.dims.size(), 1), std::vector<std::int64_t>(places.size(), 1)};
  for (const DimId d : workload.dims.ids()) {
    none.left[d] = workload.dims[d].bound;
  }
  std::vector<Way> ways{none};
  AxisWays::Work work;
  for (const auto& [begin, end] : axes) {
    AxisWays longer(places, counts, begin, end, work, end == axes.back().second);
    for (const Way& way : ways) {
      if (!longer.add(way)) {
        return {};
      }
    }
    ways = longer.best();
    if (work.is_too_much()) {
      return {};
    }
  }
  std::vector<FewSteps> found;
  for (Way& way : ways) {
    found.push_back({product(way.left), std::move(way.counts)});
  }
  return found;
}

}  // namespace mapsim::branch
