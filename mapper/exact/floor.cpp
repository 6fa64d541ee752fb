// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/floor.hpp"

#include <algorithm>

#include "costmodel/nest.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

double energy_floor(const Mapspace& space) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  const auto macs = static_cast<double>(problem.workload().macs());
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const auto access = [&](LevelId l, bool output) {
    const StorageEnergy& energy = arch.levels[l].energy;
    return (output ? energy.update : energy.read).count();
  };
  double floor = macs * problem.mac_energy().count();
  for (const TensorId t : problem.workload().tensors.ids()) {
    const Tensor& tensor = problem.workload().tensors[t];
    const bool output = t == problem.workload().output();
    const double bits = problem.moved_bits(t, tensor.bits);
    const double once = static_cast<double>(footprint(tensor, whole)) * bits;
    double least = kInfinity;
    for (std::size_t i = arch.levels.size(); i-- > 0;) {
      const auto l = static_cast<LevelId>(i);
      double served = arch.compute.register_reuse.contains(tensor.role) ? 0 : macs * bits;
      for (const FanoutId f : arch.fanouts.ids()) {
        if (arch.is_above(l, f) && problem.is_merged(f, t)) {
          served /= static_cast<double>(arch.fanouts[f].x * arch.fanouts[f].y);
        }
      }
      if (space.keep_rule(l, t) != KeepRule::kBypass) {
        const double outermost = once * access(LevelId{0}, output);
        least = std::min(least, i == 0 ? std::max(once, served) * access(l, output)
                                       : outermost + served * access(l, output));
      }
      if (space.keep_rule(l, t) == KeepRule::kKeep) {
        break;  // nothing further out can be the last
      }
    }
    floor += least;
  }
  return floor;
}

namespace {

// Instances that one transfer between a level and the compute units serves at most. Along a window
// of k dims, a_1 to a_k instances need a_1 + .. + a_k - k + 1 coordinates at least: a sum of two
// sets of numbers has |A| + |B| - 1 elements or more. Fewer instances with work share no better:
// a / (a + c) grows with a.
double most_shared(const Problem& problem, const UnrollingGroup& group, LevelId level, TensorId t) {
  PerDim<double> along(problem.workload().dims.size(), 1.0);
  double instances = 1;
  for (const FanoutId f : group.factors.ids()) {
    if (!problem.arch().is_above(level, f) || !problem.is_merged(f, t)) {
      continue;
    }
    for (const DimId d : along.ids()) {
      along[d] *= static_cast<double>(group.factors[f][d]);
      instances *= static_cast<double>(group.factors[f][d]);
    }
  }
  DimSet seen;
  double coordinates = 1;
  for (const Rank& rank : problem.workload().tensors[t].ranks) {
    double of_rank = 1;
    bool is_new = true;
    for (const Term& term : rank.terms) {
      of_rank += along[term.dim] - 1;
      is_new = is_new && !seen.contains(term.dim);
      seen.insert(term.dim);
    }
    coordinates *= is_new ? of_rank : 1;
  }
  return instances / coordinates;
}

// Sums that the compute units send to a level: what they, the network and what comes back cost.
// With balanced factors instances without work leave sums of others unmet: from all of them
// merging to none, at the price of the cheapest network, costs are convex in how many arrive.
double sums_floor(const Problem& problem, bool balanced, const UnrollingGroup& group,
                  LevelId level) {
  const TensorId t = problem.workload().output();
  const Tensor& tensor = problem.workload().tensors[t];
  const StorageEnergy& energy = problem.arch().levels[level].energy;
  const auto macs = static_cast<double>(problem.macs());
  if (std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                  [](const Rank& rank) { return rank.terms.size() > 1; })) {
    // How many sums meet in a window is known of whole nests only.
    return macs / most_shared(problem, group, level, t) * energy.update.count() *
           std::min(problem.moved_bits(t, tensor.bits), problem.moved_bits(t, tensor.partial_bits));
  }
  const auto distinct = static_cast<double>(footprint(tensor, bounds_of(problem.workload())));
  double begun = distinct;  // sums that do not come back: the first of each instance of the level
  double sums = macs;
  double additions = 0;
  double cheapest = kInfinity;  // addition
  for (std::size_t i = group.factors.size(); i-- > 0;) {
    const FanoutId f{static_cast<std::uint8_t>(i)};
    double irrelevant = 1;
    for (const DimId d : problem.workload().dims.ids()) {
      irrelevant *= tensor.dims().contains(d) ? 1 : static_cast<double>(group.factors[f][d]);
    }
    if (!problem.arch().is_above(level, f)) {
      begun *= irrelevant;
    } else if (problem.is_merged(f, t) && irrelevant > 1) {
      cheapest = std::min(cheapest, problem.addition_energy(f).count());
      additions += problem.addition_energy(f).count() * (sums - sums / irrelevant);
      sums /= irrelevant;
    }
  }
  const double bits = problem.moved_bits(t, sums > distinct ? tensor.partial_bits : tensor.bits);
  const auto arrival = [&](double arriving) {
    return bits * (arriving * energy.update.count() +
                   std::max(0.0, arriving - begun) * energy.read.count());
  };
  if (!balanced || !(cheapest < kInfinity)) {
    return additions + arrival(sums);
  }
  double least = arrival(macs);
  for (const double arriving : {sums, std::clamp(begun, sums, macs)}) {
    least = std::min(least, cheapest * (macs - arriving) + arrival(arriving));
  }
  return least;
}

double accesses_floor(const Problem& problem, bool balanced, const UnrollingGroup& group,
                      LevelId level, TensorId t) {
  return t == problem.workload().output()
             ? sums_floor(problem, balanced, group, level)
             : static_cast<double>(problem.macs()) / most_shared(problem, group, level, t) *
                   problem.moved_bits(t, problem.workload().tensors[t].bits) *
                   problem.arch().levels[level].energy.read.count();
}

}  // namespace

EnergyFloor::EnergyFloor(const Skeleton& skeleton)
    : skeleton_{&skeleton}, latched_(skeleton.problem().workload().tensors.size(), kInfinity) {
  for (const TensorId t : latched_.ids()) {
    const std::vector<Stop>& stops = skeleton.stops(t);
    if (stops.back().latch) {
      latched_[t] = skeleton.least_paid(t, stops.size() - 1);
    }
  }
  for (const Placing& placing : skeleton.placings()) {
    if (placing.to != Placing::kMac) {
      continue;
    }
    const LevelId level = skeleton.stops(placing.tensor)[placing.from].level;
    const double paid = skeleton.least_paid(placing.tensor, placing.from);
    const auto known = std::find_if(ways_.begin(), ways_.end(), [&](const Way& way) {
      return way.tensor == placing.tensor && way.level == level;
    });
    if (known == ways_.end()) {
      ways_.push_back({placing.tensor, level, paid});
    } else {
      known->paid = std::min(known->paid, paid);
    }
  }
}

double EnergyFloor::of(const UnrollingGroup& group) const {
  const Problem& problem = skeleton_->problem();
  const bool balanced = skeleton_->space().constraints().factors.balanced;
  PerTensor<double> least = latched_;
  for (const Way& way : ways_) {
    if (way.paid < least[way.tensor]) {
      least[way.tensor] =
          std::min(least[way.tensor],
                   way.paid + accesses_floor(problem, balanced, group, way.level, way.tensor));
    }
  }
  double floor = static_cast<double>(problem.macs()) * problem.mac_energy().count();
  for (const double energy : least) {
    floor += energy;
  }
  return floor;
}

}  // namespace mapsim::exact
