// SPDX-License-Identifier: Apache-2.0
#include "check/intervals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/arithmetic.hpp"
#include "core/threads.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

using AxisIntervals = std::array<PerDim<Interval>, 2>;  // along X and Y of one fanout

// At most: instances along these dims. Those along the other dims have a part of each axis.
double most_along(const Fanout& fanout, const AxisIntervals& counts, DimSet dims) {
  double both = 1;
  for (const Axis axis : {Axis::kX, Axis::kY}) {
    std::int64_t room = fanout.size(axis);
    double most = 1;
    const PerDim<Interval>& along = counts[static_cast<std::size_t>(axis)];
    for (const DimId d : along.ids()) {
      most *= dims.contains(d) ? real(along[d].most) : 1;
      room /= dims.contains(d) ? 1 : along[d].least;
    }
    both *= std::min(most, real(room));
  }
  return both;
}

ChoiceRange range_of(const Workload& workload, const Fanout& fanout, const AxisIntervals& counts) {
  const PerDim<std::int64_t> ones(workload.dims.size(), 1);
  ChoiceRange range{ones, ones, ones, {}, {}, {}, 1, {ones, ones}};
  DimSet all;
  for (const DimId d : workload.dims.ids()) {
    all.insert(d);
    for (std::size_t axis = 0; axis < counts.size(); ++axis) {
      range.least[d] *= counts[axis][d].least;
      range.most[d] *= counts[axis][d].most;
      range.least_along[axis][d] = counts[axis][d].least;
    }
  }
  range.most_instances = most_along(fanout, counts, all);
  for (const Tensor& tensor : workload.tensors) {
    DimSet lacking;
    DimSet sharing;
    double fewest = 1;
    for (const DimId d : workload.dims.ids()) {
      if (!tensor.dims().contains(d)) {
        lacking.insert(d);
        fewest *= real(range.least[d]);
      }
      if (lacking.contains(d) || is_in_window(tensor, d)) {
        sharing.insert(d);
      }
    }
    range.fewest_lacking.push_back(fewest);
    range.most_lacking.push_back(most_along(fanout, counts, lacking));
    range.most_sharing.push_back(most_along(fanout, counts, sharing));
  }
  return range;
}

// Takes away the ends that a rule forbids; false: nothing is left.
bool narrow_to(const Allowed& allowed, Interval& interval) {
  if (allowed.values.empty()) {
    interval = {std::max(interval.least, allowed.least), std::min(interval.most, allowed.most)};
    return interval.least <= interval.most;
  }
  std::optional<Interval> left;
  for (const std::int64_t n : allowed.values) {
    if (interval.least <= n && n <= interval.most) {
      left = left ? Interval{std::min(left->least, n), std::max(left->most, n)} : Interval{n, n};
    }
  }
  interval = left.value_or(interval);
  return left.has_value();
}

}  // namespace

bool is_single(const Intervals& set) {
  return std::all_of(set.begin(), set.end(), [](const Interval& each) { return each.is_single(); });
}

IntervalSpace::IntervalSpace(const Problem& problem, const Rules& rules)
    : problem_{problem}, rules_{rules}, domains_{list_extent_domains(problem.workload(), rules)} {
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const auto along = static_cast<std::size_t>(axis);
      for (const DimId d : problem.workload().dims.ids()) {
        const auto& given = rules.spatial[f];
        if (given && (*given)[along][d] > 1) {
          places_.push_back({f, along, d});
          whole_.push_back({(*given)[along][d], (*given)[along][d]});
        } else if (!given && may_unroll(problem, f, axis, d)) {
          places_.push_back({f, along, d});
          whole_.push_back({1, std::min(problem.arch().fanouts[f].size(axis),
                                        problem.workload().dims[d].bound)});
        }
      }
    }
  }
}

// Takes away instances that no unrolling of the set has.
std::optional<Intervals> IntervalSpace::narrowed(Intervals set) const {
  for (Intervals before; before != set;) {
    before = set;
    if (!narrow_by_axes(set) || !narrow_by_tiles(set) || !narrow_by_rules(set)) {
      return std::nullopt;
    }
  }
  return set;
}

// The instances along an axis have a product of at most its size.
bool IntervalSpace::narrow_by_axes(Intervals& set) const {
  for (std::size_t begin = 0, end = 0; begin < set.size(); begin = end) {
    const Place& first = places_[begin];
    const std::int64_t size =
        problem_.arch().fanouts[first.fanout].size(static_cast<Axis>(first.axis));
    std::int64_t least = 1;
    for (end = begin;
         end < set.size() && places_[end].fanout == first.fanout && places_[end].axis == first.axis;
         ++end) {
      least *= set[end].least;
      if (least > size) {
        return false;
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      set[i].most = std::min(set[i].most, size / (least / set[i].least));
    }
  }
  return true;
}

// All instances of a parallel loop have work, so they are no more than the extent that they split,
// which is at most what the fewest instances further out leave.
bool IntervalSpace::narrow_by_tiles(Intervals& set) const {
  PerDim<std::int64_t> tile = bounds_of(problem_.workload());
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::int64_t& extent = tile[places_[i].dim];
    set[i].most = std::min(set[i].most, extent);
    if (set[i].least > set[i].most) {
      return false;
    }
    extent = ceil_div(extent, set[i].least);
  }
  return true;
}

bool IntervalSpace::narrow_by_rules(Intervals& set) const {
  PerFanout<std::array<double, 2>> most(problem_.arch().fanouts.size(), {1, 1});
  PerFanout<std::array<std::int64_t, 2>> unrolled(most.size(), {0, 0});
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Place& place = places_[i];
    if (rules_.spatial[place.fanout]) {
      continue;
    }
    const AxisRules& rules = rules_.unroll[place.fanout][place.axis];
    if (rules.dims && !rules.dims->contains(place.dim) && !narrow_to({{1}}, set[i])) {
      return false;
    }
    for (const auto& [dim, allowed] : rules.factors) {
      if (dim == place.dim && !narrow_to(allowed, set[i])) {
        return false;
      }
    }
    most[place.fanout][place.axis] *= real(set[i].most);
    unrolled[place.fanout][place.axis] += set[i].least > 1 ? 1 : 0;
  }
  for (const FanoutId f : most.ids()) {
    const Fanout& fanout = problem_.arch().fanouts[f];
    double instances = 1;
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const auto along = static_cast<std::size_t>(axis);
      instances *= std::min(most[f][along], real(fanout.size(axis)));
      if (unrolled[f][along] > rules_.unroll[f][along].max_dims.value_or(kMaxInteger)) {
        return false;
      }
    }
    if (!rules_.spatial[f] && instances < rules_.min_utilization[f] * real(fanout.x * fanout.y)) {
      return false;
    }
  }
  return true;
}

std::vector<Intervals> IntervalSpace::halves(const Intervals& set) const {
  const auto widest =
      std::max_element(set.begin(), set.end(), [](const Interval& a, const Interval& b) {
        return real(a.most) * real(b.least) < real(b.most) * real(a.least);
      });
  const auto mean = static_cast<std::int64_t>(std::sqrt(real(widest->least) * real(widest->most)));
  const std::int64_t middle = std::clamp(mean, widest->least, widest->most - 1);
  std::vector<Intervals> found;
  for (const Interval half :
       {Interval{widest->least, middle}, Interval{middle + 1, widest->most}}) {
    Intervals part = set;
    part[static_cast<std::size_t>(widest - set.begin())] = half;
    if (std::optional<Intervals> left = narrowed(std::move(part))) {
      found.push_back(*std::move(left));
    }
  }
  return found;
}

std::optional<Unrolling> IntervalSpace::unrolling(const Intervals& single) const {
  const PerDim<std::int64_t> ones(domains_.size(), 1);
  const std::size_t fanouts = problem_.arch().fanouts.size();
  Unrolling found{SpatialFactors(fanouts, ones), {}, 1};
  found.axes = PerFanout<Rules::AxisFactors>(fanouts, {ones, ones});
  for (std::size_t i = 0; i < single.size(); ++i) {
    const Place& place = places_[i];
    found.factors[place.fanout][place.dim] *= single[i].least;
    found.axes[place.fanout][place.axis][place.dim] = single[i].least;
  }
  return contains(found) ? std::optional{found} : std::nullopt;
}

bool IntervalSpace::contains(const Unrolling& unrolling) const {
  for (const FanoutId f : unrolling.axes.ids()) {
    const auto& given = rules_.spatial[f];
    const Rules::AxisFactors& axes = unrolling.axes[f];
    if (given ? axes != *given : !allows_unrolling(problem_, rules_, f, axes)) {
      return false;
    }
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      std::int64_t instances = 1;
      for (const DimId d : domains_.ids()) {
        const std::int64_t along = axes[static_cast<std::size_t>(axis)][d];
        if (along > 1 && !given && !may_unroll(problem_, f, axis, d)) {
          return false;
        }
        if (along > problem_.arch().fanouts[f].size(axis) / instances) {
          return false;
        }
        instances *= along;
      }
    }
  }
  return has_work(unrolling);
}

// Does some tile give all instances work? X splits it before Y does. Between two fanouts loops lead
// to any smaller extent.
bool IntervalSpace::has_work(const Unrolling& unrolling) const {
  for (const DimId d : domains_.ids()) {
    const std::vector<std::int64_t>& domain = domains_[d];
    std::int64_t largest = domain.back();
    for (const Rules::AxisFactors& axes : unrolling.axes) {
      std::vector<std::int64_t> tiles(domain.begin(),
                                      std::upper_bound(domain.begin(), domain.end(), largest));
      for (const PerDim<std::int64_t>& along : axes) {
        std::vector<std::int64_t> blocks;
        for (const std::int64_t tile : tiles) {
          const auto block = along[d] > 1 ? block_of(domain, tile, along[d]) : tile;
          if (block) {
            blocks.push_back(*block);
          }
        }
        tiles = std::move(blocks);
        if (tiles.empty()) {
          return false;
        }
      }
      largest = tiles.back();  // blocks of larger tiles are no smaller
    }
  }
  return true;
}

std::optional<std::vector<Unrolling>> IntervalSpace::list(std::size_t most, Stop stop) const {
  std::vector<Unrolling> all;
  const bool is_complete = visit_open_sets(
      *this, 1, stop, [](const ChoiceRanges&) { return false; },
      [&](const Unrolling& unrolling) {
        all.push_back(unrolling);
        return all.size() <= most;
      });
  return is_complete ? std::optional{std::move(all)} : std::nullopt;
}

ChoiceRanges IntervalSpace::ranges(const Intervals& set) const {
  const PerDim<Interval> ones(domains_.size());
  PerFanout<AxisIntervals> counts(problem_.arch().fanouts.size(), {ones, ones});
  for (std::size_t i = 0; i < set.size(); ++i) {
    counts[places_[i].fanout][places_[i].axis][places_[i].dim] = set[i];
  }
  ChoiceRanges ranges;
  for (const FanoutId f : counts.ids()) {
    ranges.push_back(range_of(problem_.workload(), problem_.arch().fanouts[f], counts[f]));
  }
  return ranges;
}

ChoiceRanges ranges_of_axes(const Problem& problem, const Unrolling& unrolling) {
  ChoiceRanges ranges;
  for (const FanoutId f : unrolling.axes.ids()) {
    AxisIntervals counts;
    for (std::size_t axis = 0; axis < counts.size(); ++axis) {
      for (const std::int64_t along : unrolling.axes[f][axis]) {
        counts[axis].push_back({along, along});
      }
    }
    ranges.push_back(range_of(problem.workload(), problem.arch().fanouts[f], counts));
  }
  return ranges;
}

// Depth first, so that few sets wait.
bool visit_open_sets(const IntervalSpace& space, int threads, Stop stop,
                     const std::function<bool(const ChoiceRanges&)>& is_closed,
                     const std::function<bool(const Unrolling&)>& visit) {
  constexpr std::size_t kBatch = 64;  // whatever the number of threads
  std::vector<Intervals> waiting;
  if (const std::optional<Intervals> whole = space.whole()) {
    waiting.push_back(*whole);
  }
  while (!waiting.empty()) {
    if (stop.is_set()) {
      return false;
    }
    const std::size_t begin = waiting.size() - std::min(kBatch, waiting.size());
    const std::vector<Intervals> batch(waiting.begin() + static_cast<std::ptrdiff_t>(begin),
                                       waiting.end());
    waiting.resize(begin);
    std::vector<std::vector<Intervals>> halves(batch.size());
    std::vector<std::optional<Unrolling>> open(batch.size());
    for_each_on_threads(batch.size(), threads, [&](std::size_t i) {
      if (is_single(batch[i])) {
        open[i] = space.unrolling(batch[i]);
        if (open[i] && is_closed(space.ranges(batch[i]))) {
          open[i].reset();
        }
      } else if (!is_closed(space.ranges(batch[i]))) {
        halves[i] = space.halves(batch[i]);
      }
    });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (open[i] && !visit(*open[i])) {
        return false;
      }
      std::move(halves[i].begin(), halves[i].end(), std::back_inserter(waiting));
    }
  }
  return true;
}

}  // namespace mapsim::check
