// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/floor.hpp"

#include <algorithm>
#include <optional>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"
#include "mapper/exact/group_floor.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

double energy_floor(const Mapspace& space) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  const auto macs = static_cast<double>(problem.workload().macs());
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const auto access = [&](LevelId l, bool output) {
    return parent_energy(arch.levels[l], output).crossing_pj;
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

std::vector<double> least_port_bits(const Skeleton& skeleton) {
  const Problem& problem = skeleton.problem();
  const Workload& workload = problem.workload();
  std::vector<double> bits(skeleton.ports().size(), 0.0);
  const PerFanout<std::size_t>& levels_above = problem.arch().levels_above;
  if (std::find(levels_above.begin(), levels_above.end(), 0) != levels_above.end()) {
    return bits;
  }
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    const Access access = crossing_access(/*at_parent=*/true, t == workload.output());
    for (std::size_t q = 0; q < bits.size(); ++q) {
      const Port& port = skeleton.ports()[q];
      bits[q] += port.level == LevelId{0} && passes(access, port.kind)
                     ? static_cast<double>(footprint(tensor, bounds_of(workload))) *
                           problem.moved_bits(t, tensor.bits) * (1 - kRounding)
                     : 0;
    }
  }
  return bits;
}

EnergyFloor::EnergyFloor(const Skeleton& skeleton) : skeleton_{&skeleton} {
  const Workload& workload = skeleton.problem().workload();
  const std::size_t latch = skeleton.problem().arch().levels.size();
  for (const TensorId t : workload.tensors.ids()) {
    Route route;
    route.use = use_of(workload, workload.tensors[t]);
    route.serves[latch] = skeleton.stops(t).back().latch;
    for (const Placing& placing : skeleton.placings()) {
      if (placing.tensor == t && placing.to == Placing::kMac) {
        route.serves[index_of(skeleton.stops(t)[placing.from].level)] = true;
      } else if (placing.tensor == t) {
        route.legs.push_back(leg_of(placing));
      }
    }
    std::sort(route.legs.begin(), route.legs.end());
    route.legs.erase(std::unique(route.legs.begin(), route.legs.end()), route.legs.end());
    for (const TensorId other : routes_.ids()) {
      if (meet_once(workload, routes_[other].use, route.use)) {
        pairs_.emplace_back(other, t);
      }
    }
    routes_.push_back(route);
  }
}

RouteLeg EnergyFloor::leg_of(const Placing& placing) const {
  const std::vector<Stop>& stops = skeleton_->stops(placing.tensor);
  const auto node = [&](const Stop& stop) {
    return stop.latch ? skeleton_->problem().arch().levels.size() : index_of(stop.level);
  };
  return {node(stops[placing.from]), node(stops[placing.to])};
}

double EnergyFloor::of(const UnrollingGroup& group) const {
  return GroupFloor(skeleton_->space(), routes_, pairs_, group).least();
}

double EnergyFloor::of(const GroupFloor::Boxes& boxes) const {
  return GroupFloor(skeleton_->space(), routes_, pairs_, boxes).least();
}

// A port's busiest instance moves at least the mean of those that the unrolling uses.
std::vector<FloorWeights> EnergyFloor::weights_of_figures(const UnrollingGroup& group) const {
  const Arch& arch = skeleton_->problem().arch();
  std::vector<FloorWeights> weights(1 + skeleton_->ports().size());
  weights.front() = energy_weights(skeleton_->problem());
  for (std::size_t q = 0; q < skeleton_->ports().size(); ++q) {
    const Port& port = skeleton_->ports()[q];
    double instances = 1;
    for (const FanoutId f : group.factors.ids()) {
      for (const std::int64_t factor : group.factors[f]) {
        instances *= arch.levels_above[f] <= index_of(port.level) ? static_cast<double>(factor) : 1;
      }
    }
    const auto weight = [&](Action action) {
      const bool all_pass = std::all_of(kAccesses.begin(), kAccesses.end(), [&](Access access) {
        return rule_of(access).action != action || passes(access, port.kind);
      });
      return all_pass ? 1 / instances : 0;
    };
    weights[1 + q].operations = 0;
    weights[1 + q].levels[index_of(port.level)] = {weight(Action::kRead), weight(Action::kWrite),
                                                   weight(Action::kUpdate)};
  }
  return weights;
}

std::vector<Pattern> EnergyFloor::patterns(const UnrollingGroup& group, const KeyOf& key_of,
                                           const Incumbent& known, bool first_only) const {
  return GroupFloor(skeleton_->space(), routes_, pairs_, group)
      .patterns(weights_of_figures(group), key_of, known, first_only);
}

std::vector<bool> EnergyFloor::placings_outside(const Pattern& pattern) const {
  std::vector<bool> outside;
  for (const Placing& placing : skeleton_->placings()) {
    const TensorId t = placing.tensor;
    if (placing.to == Placing::kMac) {
      const Stop& stop = skeleton_->stops(t)[placing.from];
      const std::size_t node =
          stop.latch ? skeleton_->problem().arch().levels.size() : index_of(stop.level);
      outside.push_back(node != pattern.serving[t]);
    } else {
      const std::vector<RouteLeg>& legs = pattern.legs[t];
      outside.push_back(std::find(legs.begin(), legs.end(), leg_of(placing)) == legs.end());
    }
  }
  return outside;
}

}  // namespace mapsim::exact
