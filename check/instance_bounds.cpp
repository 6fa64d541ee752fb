// SPDX-License-Identifier: Apache-2.0
#include "check/instance_bounds.hpp"

#include <algorithm>

#include "check/extent_domains.hpp"
#include "core/arithmetic.hpp"
#include "core/factor.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

InstanceBounds::InstanceBounds(const Problem& problem, const Rules& rules,
                               const ChoiceRanges& ranges)
    : problem_{problem},
      arch_{problem.arch()},
      rules_{rules},
      ranges_{ranges},
      bounds_{bounds_of(problem.workload())} {}

double InstanceBounds::fewest_copies(TensorId t, const Node& at) const {
  double copies = 1;
  if (rules_.imperfect) {
    for (const DimId d : bounds_.ids()) {
      copies *=
          problem_.workload().tensors[t].dims().contains(d) ? 1 : real(fewest_at_work(d, at, true));
    }
    return copies;
  }
  for (const FanoutId f : ranges_.ids()) {
    copies *= is_before(f, at) ? ranges_[f].fewest_lacking[t] : 1;
  }
  return copies;
}

double InstanceBounds::most_copies(TensorId t, const Node& at) const {
  double copies = 1;
  for (const FanoutId f : ranges_.ids()) {
    copies *= is_before(f, at) ? ranges_[f].most_lacking[t] : 1;
  }
  return copies;
}

PerDim<std::int64_t> InstanceBounds::most_along(const Node& at) const {
  PerDim<std::int64_t> along(bounds_.size(), 1);
  for (const FanoutId f : ranges_.ids()) {
    for (const DimId d : along.ids()) {
      along[d] = is_before(f, at) ? std::min(bounds_[d], along[d] * ranges_[f].most[d]) : along[d];
    }
  }
  return along;
}

// Imperfect factors: the fewest instances along the dim that have work, among those outside of a
// level or those inside. Where a parallel loop splits as much as it ever does, all of its instances
// have work: all but the last one a full block, the last one a part of it.
std::int64_t InstanceBounds::fewest_at_work(DimId d, const Node& at, bool outside) const {
  std::int64_t busy = 1;
  for (std::size_t i = ranges_.size(); i-- > 0;) {
    const auto f = static_cast<FanoutId>(i);
    for (const std::size_t axis : {1U, 0U}) {  // Y splits what X leaves
      const std::int64_t instances = ranges_[f].least_along[axis][d];
      busy = instances > 1 && is_before(f, at) == outside ? (instances - 1) * busy + 1 : busy;
    }
  }
  return busy;
}

InstanceBounds::Merged InstanceBounds::merged(TensorId t, LevelId from, const Node& to) const {
  Merged merged{PerDim<std::int64_t>(bounds_.size(), 1)};
  for (const FanoutId f : ranges_.ids()) {
    if (is_between(f, from, to) && problem_.is_merged(f, t)) {
      merged.lacking *= ranges_[f].most_lacking[t];
      merged.sharing *= ranges_[f].most_sharing[t];
      for (const DimId d : merged.along.ids()) {
        merged.along[d] = std::min(bounds_[d], merged.along[d] * ranges_[f].most[d]);
      }
    }
  }
  double lacking = 1;
  for (const DimId d : merged.along.ids()) {
    if (!problem_.workload().tensors[t].dims().contains(d)) {
      lacking *= real(merged.along[d]);
    } else if (merged.along[d] > 1) {
      merged.along_lacking_only = false;
    }
  }
  merged.lacking = std::min(merged.lacking, lacking);
  return merged;
}

SharedCapacities InstanceBounds::capacities_at(const Node& at) const {
  SharedCapacities capacities;
  capacities.latch = !at;
  for (const DimId d : bounds_.ids()) {
    if (rules_.imperfect) {
      add_imperfect(d, at, capacities);
    } else {
      add_divisors(d, at, capacities);
    }
    if (capacities.extents[d].empty()) {  // no unrolling of the box has such a tile
      capacities.extents[d].push_back(capacities.below[d]);
    }
    capacities.met.push_back(rules_.imperfect ? bounds_[d] : capacities.extents[d].back());
  }
  return capacities;
}

void InstanceBounds::add_divisors(DimId d, const Node& at, SharedCapacities& capacities) const {
  std::int64_t outside = 1;  // common divisors of the instances there
  std::int64_t inside = 1;
  std::int64_t below = 1;
  for (const FanoutId f : ranges_.ids()) {
    (is_before(f, at) ? outside : inside) *= ranges_[f].common[d];
    below *= is_before(f, at) ? 1 : ranges_[f].least[d];
  }
  capacities.below.push_back(below);
  capacities.extents.push_back({});
  for (const std::int64_t extent : divisors_of(bounds_[d])) {
    if (bounds_[d] / outside % extent == 0 && extent % inside == 0 && extent >= below) {
      capacities.extents[d].push_back(extent);
    }
  }
}

// A tile is no larger than what the fewest instances further out leave, and is large enough to give
// the fewest instances further in work. It is some ceil(D/n), or one that the rules add.
void InstanceBounds::add_imperfect(DimId d, const Node& at, SharedCapacities& capacities) const {
  std::int64_t most = bounds_[d];
  for (const FanoutId f : ranges_.ids()) {
    for (const std::size_t axis : {0U, 1U}) {
      most = is_before(f, at) ? ceil_div(most, ranges_[f].least_along[axis][d]) : most;
    }
  }
  const std::int64_t least = fewest_at_work(d, at, false);
  capacities.below.push_back(least);
  std::vector<std::int64_t> extents;
  const auto add = [&](std::int64_t extent) {
    if (least <= extent && extent <= most) {
      extents.push_back(extent);
    }
  };
  const std::vector<std::int64_t> even = even_extents(bounds_[d]);
  std::for_each(even.begin(), even.end(), add);
  std::for_each(rules_.tiles[d].begin(), rules_.tiles[d].end(), add);
  std::sort(extents.begin(), extents.end());
  capacities.extents.push_back(std::move(extents));
}

}  // namespace mapsim::check
