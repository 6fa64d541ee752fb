// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/unrolling_intervals.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/arithmetic.hpp"
#include "mapper/mapspace/factors.hpp"

namespace mapsim::branch {

using exact::Incumbent;

namespace {

// Classes with the fewest steps that come before their turn.
constexpr std::size_t kMostEarly = 8;

template <class Entry>
std::vector<std::int64_t> counts_of(const Entry& unrolling) {
  std::vector<std::int64_t> counts;
  for (const Interval& count : unrolling.counts) {
    counts.push_back(count.least);
  }
  return counts;
}

// The counts that are allowed, from the least to the most of them; least > most: none is.
Interval within(const Allowed& allowed, const Interval& interval) {
  if (allowed.values.empty()) {
    return {std::max(interval.least, allowed.least), std::min(interval.most, allowed.most)};
  }
  const auto first = std::lower_bound(allowed.values.begin(), allowed.values.end(), interval.least);
  const auto end = std::upper_bound(first, allowed.values.end(), interval.most);
  return first == end ? Interval{1, 0} : Interval{*first, *(end - 1)};
}

}  // namespace

UnrollingIntervals::UnrollingIntervals(const Mapspace& space, exact::ClassBounds& bounds)
    : space_{space}, bounds_{bounds} {
  const Workload& workload = space.problem().workload();
  for (const Tensor& tensor : workload.tensors) {
    uses_.push_back(exact::use_of(workload, tensor));
  }
  const PerFanout<Fanout>& fanouts = space.problem().arch().fanouts;
  for (const FanoutId f : fanouts.ids()) {
    add_places(f);
  }
  Entry root{{}, 0, false, PerFanout<bool>(fanouts.size(), false), {}};
  const Unrolling given = space.constraints().spatial.value_or(Unrolling{});
  std::vector<bool> is_given(fanouts.size(), false);
  for (const Unroll& unroll : given) {
    is_given[index_of(unroll.fanout)] = true;
  }
  for (const DimId d : workload.dims.ids()) {
    all_dims_.insert(d);
  }
  for (const UnrollRule& rule : space.constraints().unroll) {
    if (!is_given[index_of(rule.fanout)]) {
      rules_.push_back(rule);
    }
  }
  for (const Place& place : places_) {
    const auto fixed = std::find_if(given.begin(), given.end(), [&](const Unroll& unroll) {
      return unroll.fanout == place.fanout && unroll.axis == place.axis && unroll.dim == place.dim;
    });
    const std::int64_t count = fixed == given.end() ? 1 : fixed->factor;
    root.counts.push_back(is_given[index_of(place.fanout)]
                              ? Interval{count, count}
                              : Interval{1, std::min(place.size, workload.dims[place.dim].bound)});
  }
  if (bounds.objective().function.uses_latency() && !space.entry().varies()) {
    fewest_ = fewest_steps(workload, places_, root.counts);
  }
  // One node for each set of fanouts in use.
  for (std::uint32_t used = 0; used < 1U << fanouts.size(); ++used) {
    Entry entry = root;
    for (const FanoutId f : fanouts.ids()) {
      entry.busy[f] = (used >> index_of(f) & 1U) != 0;
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!entry.busy[places_[i].fanout]) {
        entry.counts[i].most = 1;  // fewer than a rule may want, which leaves nothing
      }
    }
    if (const std::optional<Entry> node = bounded(std::move(entry))) {
      queue_.push(*this, *node, {});
    }
  }
}

void UnrollingIntervals::add_places(FanoutId fanout) {
  const Problem& problem = space_.problem();
  const Fanout& node = problem.arch().fanouts[fanout];
  const Unrolling given = space_.constraints().spatial.value_or(Unrolling{});
  for (const Axis axis : {Axis::kX, Axis::kY}) {
    for (const DimId d : problem.workload().dims.ids()) {
      const bool is_given = std::any_of(given.begin(), given.end(), [&](const Unroll& unroll) {
        return unroll.fanout == fanout && unroll.axis == axis && unroll.dim == d;
      });
      if (is_given || may_unroll(problem.workload(), node.dims(axis), d)) {
        places_.push_back({fanout, axis, d, node.size(axis)});
      }
    }
  }
}

std::optional<UnrollingClass> UnrollingIntervals::next(const Incumbent& known,
                                                       const std::function<bool()>& over,
                                                       bool in_haste) {
  while (const std::optional<Entry> found = queue_.next(*this, known, over, in_haste)) {
    if (!early_.contains(counts_of(*found))) {
      return class_of(found->counts);
    }
  }
  return std::nullopt;
}

std::vector<UnrollingClass> UnrollingIntervals::of_fewest_steps() {
  std::vector<UnrollingClass> found;
  for (const FewSteps& few : fewest_) {
    if (bounds_.objective().function.uses_energy() || found.size() == kMostEarly) {
      break;
    }
    Entry entry{{}, 0, false, PerFanout<bool>(space_.problem().arch().fanouts.size(), false), {}};
    for (std::size_t i = 0; i < few.counts.size(); ++i) {
      entry.counts.push_back({few.counts[i], few.counts[i]});
      entry.busy[places_[i].fanout] = entry.busy[places_[i].fanout] || few.counts[i] > 1;
    }
    const std::optional<Entry> unrolling = bounded(std::move(entry));
    if (unrolling && unrolling->key.first < exact::kInfinity) {
      early_.insert(few.counts);
      found.push_back(*class_of(unrolling->counts));
    }
  }
  return found;
}

// Of equal bounds, intervals come before classes, since they may contain one that comes first.
bool UnrollingIntervals::comes_later(const Entry& a, const Entry& b) const {
  const auto rank = [](const Entry& e) {
    return std::tie(e.key.first, e.key.second, e.is_class, e.cycles);
  };
  return rank(a) != rank(b) ? rank(b) < rank(a) : b.counts < a.counts;
}

std::vector<UnrollingIntervals::Entry> UnrollingIntervals::split(const Entry& entry) {
  const auto widest = std::max_element(
      entry.counts.begin(), entry.counts.end(), [](const Interval& a, const Interval& b) {
        return real(a.most) * real(b.least) < real(b.most) * real(a.least);
      });
  const auto mean = static_cast<std::int64_t>(std::sqrt(real(widest->least) * real(widest->most)));
  const std::int64_t middle = std::clamp(mean, widest->least, widest->most - 1);
  const auto at = widest - entry.counts.begin();
  std::vector<Entry> parts;
  for (const Interval part :
       {Interval{widest->least, middle}, Interval{middle + 1, widest->most}}) {
    Entry half = entry;
    half.counts[static_cast<std::size_t>(at)] = part;
    if (std::optional<Entry> node = bounded(std::move(half))) {
      parts.push_back(*std::move(node));
    }
  }
  return parts;
}

// Takes away counts that no unrolling within has. False: there is none.
bool UnrollingIntervals::narrow(Entry& entry) const {
  std::vector<Interval> before;
  while (before != entry.counts) {
    before = entry.counts;
    if (!narrow_by_rules(entry.counts) || !narrow_by_axes(entry.counts) ||
        !narrow_by_dims(entry.counts)) {
      return false;
    }
  }
  return is_busy_where_it_must_be(entry);
}

// The counts along an axis have a product of at most its size.
bool UnrollingIntervals::narrow_by_axes(std::vector<Interval>& counts) const {
  for (std::size_t begin = 0, end = 0; begin < places_.size(); begin = end) {
    std::int64_t least = 1;
    for (end = begin; end < places_.size() && places_[end].fanout == places_[begin].fanout &&
                      places_[end].axis == places_[begin].axis;
         ++end) {
      least *= counts[end].least;
      if (least > places_[begin].size) {
        return false;
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      counts[i].most = std::min(counts[i].most, places_[begin].size / (least / counts[i].least));
    }
  }
  return true;
}

// Each parallel loop over a dim has at most as many instances as the tiles outside of it have
// indices, and the fewer instances those have, the larger are the tiles.
bool UnrollingIntervals::narrow_by_dims(std::vector<Interval>& counts) const {
  for (const DimId d : space_.problem().workload().dims.ids()) {
    std::int64_t tile = space_.problem().workload().dims[d].bound;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].dim == d) {
        counts[i].most = std::min(counts[i].most, tile);
        if (counts[i].most < counts[i].least) {
          return false;
        }
        tile = ceil_div(tile, counts[i].least);
      }
    }
  }
  return true;
}

bool UnrollingIntervals::is_busy_where_it_must_be(const Entry& entry) const {
  for (const FanoutId f : entry.busy.ids()) {
    bool may_be = false;
    bool must_be = false;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      may_be = may_be || (places_[i].fanout == f && entry.counts[i].most > 1);
      must_be = must_be || (places_[i].fanout == f && entry.counts[i].least > 1);
    }
    if (entry.busy[f] ? !may_be : must_be) {
      return false;
    }
  }
  return true;
}

// Takes away counts that the rules exclude. False: no unrolling within obeys them.
bool UnrollingIntervals::narrow_by_rules(std::vector<Interval>& counts) const {
  return std::all_of(rules_.begin(), rules_.end(), [&](const UnrollRule& rule) {
    const Fanout& fanout = space_.problem().arch().fanouts[rule.fanout];
    return narrow_by_rule(rule, Axis::kX, counts) && narrow_by_rule(rule, Axis::kY, counts) &&
           most_along(rule.fanout, counts, all_dims_) >=
               rule.min_utilization * real(fanout.x * fanout.y);
  });
}

bool UnrollingIntervals::narrow_by_rule(const UnrollRule& rule, Axis axis,
                                        std::vector<Interval>& counts) const {
  const AxisRule& along = rule.along(axis);
  std::int64_t unrolled = 0;
  DimSet with_a_place;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.fanout != rule.fanout || place.axis != axis) {
      continue;
    }
    Interval& count = counts[i];
    with_a_place.insert(place.dim);
    if (along.dims && !along.dims->contains(place.dim)) {
      count.most = std::min<std::int64_t>(count.most, 1);
    }
    for (const FactorRule& factor : along.factors) {
      if (factor.dim == place.dim) {
        count = within(factor.factors, count);
      }
    }
    if (count.least > count.most) {
      return false;
    }
    unrolled += count.least > 1 ? 1 : 0;
  }
  return unrolled <= along.max_dims.value_or(unrolled) &&
         std::all_of(along.factors.begin(), along.factors.end(), [&](const FactorRule& factor) {
           return with_a_place.contains(factor.dim) || factor.factors.contains(1);
         });
}

// nullopt: there is no unrolling within.
std::optional<UnrollingIntervals::Entry> UnrollingIntervals::bounded(Entry entry) {
  if (!narrow(entry)) {
    return std::nullopt;
  }
  entry.is_class = std::all_of(entry.counts.begin(), entry.counts.end(),
                               [](const Interval& count) { return count.least == count.most; });
  if (entry.is_class) {
    const std::optional<UnrollingClass> unrolling_class = class_of(entry.counts);
    if (!unrolling_class) {
      return std::nullopt;
    }
    const exact::ClassBounds::Bound bound = bounds_.of(*unrolling_class);
    entry.key = bound.key;
    entry.cycles = bound.cycles;
    return entry;
  }
  const PerFanout<FactorBox> boxes = boxes_of(entry);
  exact::UnrollingBound::Boxes of_fanouts;
  for (const FactorBox& box : boxes) {
    of_fanouts.push_back(&box);
  }
  entry.key = bounds_.of(of_fanouts, fewest_.empty() ? 0 : fewest_.front().steps);
  return entry;
}

PerFanout<FactorBox> UnrollingIntervals::boxes_of(const Entry& entry) const {
  PerFanout<FactorBox> boxes;
  for (const FanoutId f : entry.busy.ids()) {
    boxes.push_back(box_of(f, entry.counts));
  }
  return boxes;
}

FactorBox UnrollingIntervals::box_of(FanoutId fanout, const std::vector<Interval>& counts) const {
  const std::size_t dims = space_.problem().workload().dims.size();
  FactorBox box;
  box.most = box.divisor = PerDim<double>(dims, 1.0);
  box.fewest_along.fill(PerDim<double>(dims, 1.0));
  DimSet all;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    all.insert(places_[i].dim);
    if (places_[i].fanout == fanout) {
      box.most[places_[i].dim] *= real(counts[i].most);
      box.fewest_along[places_[i].axis == Axis::kX ? 0 : 1][places_[i].dim] = real(counts[i].least);
    }
  }
  box.instances = most_along(fanout, counts, all);
  for (const exact::TensorUse& use : uses_) {
    DimSet lacking;  // dims that the tensor does not have
    DimSet sharing;  // those along which an element may be needed again
    for (const DimId d : box.most.ids()) {
      if (!use.dims.contains(d)) {
        lacking.insert(d);
      }
      if (!use.determined.contains(d)) {
        sharing.insert(d);
      }
    }
    box.most_copies.push_back(most_along(fanout, counts, lacking));
    box.most_served.push_back(
        std::min(exact::most_operations(use, box.most), most_along(fanout, counts, sharing)));
    double fewest = 1;
    for (const DimId d : box.most.ids()) {
      fewest *= lacking.contains(d) ? box.fewest_along[0][d] * box.fewest_along[1][d] : 1;
    }
    box.fewest_copies.push_back(fewest);
  }
  return box;
}

// At most: instances along these dims. Those along the other dims have a part of each axis.
double UnrollingIntervals::most_along(FanoutId fanout, const std::vector<Interval>& counts,
                                      DimSet dims) const {
  double both = 1;
  for (const Axis axis : {Axis::kX, Axis::kY}) {
    double most = 1;
    double room = real(space_.problem().arch().fanouts[fanout].size(axis));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].fanout == fanout && places_[i].axis == axis) {
        most *= dims.contains(places_[i].dim) ? real(counts[i].most) : 1;
        room /= dims.contains(places_[i].dim) ? 1 : real(counts[i].least);
      }
    }
    both *= std::min(most, room);
  }
  return both;
}

// nullopt: no tile gives all instances work.
std::optional<UnrollingClass> UnrollingIntervals::class_of(
    const std::vector<Interval>& counts) const {
  const PerDim<Dim>& dims = space_.problem().workload().dims;
  const std::size_t fanouts = space_.problem().arch().fanouts.size();
  UnrollingClass found{PerFanout<PerDim<std::int64_t>>(fanouts), 1, {}};
  for (PerDim<std::int64_t>& factors : found.factors) {
    factors = PerDim<std::int64_t>(dims.size(), 1);
  }
  PerDim<std::vector<std::int64_t>> instances(dims.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    const std::int64_t count = counts[i].least;
    instances[place.dim].push_back(count);
    found.factors[place.fanout][place.dim] *= count;
    if (count > 1) {
      found.first.push_back({place.dim, place.fanout, place.axis, count});
    }
  }
  for (const DimId d : instances.ids()) {
    if (!has_work(d, instances[d])) {
      return std::nullopt;
    }
  }
  return found;
}

// Follows the tiles that parallel loops over the dim cut, outermost first. Between two fanouts
// temporal loops cut them further.
bool UnrollingIntervals::has_work(DimId dim, const std::vector<std::int64_t>& instances) const {
  const ExtentDomain& all = space_.domains()[dim];
  ExtentDomain tiles = all;
  std::optional<FanoutId> fanout;
  auto count = instances.begin();
  for (const Place& place : places_) {
    if (place.dim != dim) {
      continue;
    }
    if (fanout && *fanout != place.fanout) {
      const std::int64_t largest = *std::max_element(tiles.begin(), tiles.end());
      tiles.assign(all.begin(), std::upper_bound(all.begin(), all.end(), largest));
    }
    fanout = place.fanout;
    if (*count > 1) {
      ExtentDomain blocks;
      for (const std::int64_t tile : tiles) {
        if (const auto block = block_of(all, tile, *count)) {
          blocks.push_back(*block);
        }
      }
      tiles = std::move(blocks);
      if (tiles.empty()) {
        return false;
      }
    }
    ++count;
  }
  return true;
}

}  // namespace mapsim::branch
