// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/class_floors.hpp"

#include <algorithm>
#include <variant>

#include "core/arithmetic.hpp"
#include "costmodel/timing/systolic.hpp"
#include "mapper/exact/array_time.hpp"
#include "mapper/nests/placement.hpp"

namespace mapsim::exact {

std::optional<TensorSet> may_stay_with(const Problem& problem, const UnrollingGroup& group) {
  const auto* timing = std::get_if<SystolicTiming>(&problem.arch().compute.timing);
  if (timing == nullptr) {
    return std::nullopt;
  }
  ArrayUse use = idle_array(problem.workload());
  for (const Unroll& unroll : group.first) {
    if (unroll.fanout == timing->array) {
      (unroll.axis == Axis::kX ? use.x : use.y)[unroll.dim] *= unroll.factor;
    }
  }
  return may_stay(problem, *timing, use);
}

ClassFloors::ClassFloors(const Mapspace& space, const Objective& objective)
    : space_{space},
      objective_{objective},
      least_energy_{energy_floor(space)},
      steps_{static_cast<double>(space.problem().arch().compute.issue_interval)} {
  for (const Dim& dim : space.problem().workload().dims) {
    steps_ *= real(dim.bound);
  }
}

const Kind& ClassFloors::kind(const std::vector<FanoutId>& used,
                              const std::optional<TensorSet>& may_stay) {
  std::optional<std::uint32_t> stays;
  if (may_stay) {
    stays = may_stay->bits();
  }
  const std::lock_guard lock(mutex_);
  Kind& kind = kinds_[{used, stays}];
  if (!kind.skeleton) {
    kind.skeleton = std::make_unique<Skeleton>(space_, used, may_stay);
    kind.floor.emplace(*kind.skeleton);
    kind.port_bits = least_port_bits(*kind.skeleton);
    kind.valuation.emplace(*kind.skeleton, objective_, 0);
  }
  return kind;
}

ClassFloors::Floor ClassFloors::kind_of(const UnrollingGroup& group) {
  Floor floor;
  floor.may_stay = may_stay_with(space_.problem(), group);
  floor.kind = &kind(nests::used_fanouts(group), floor.may_stay);
  return floor;
}

ClassFloors::Floor ClassFloors::of(const UnrollingGroup& group, bool closely) {
  Floor floor = kind_of(group);
  floor.cycles = least_cycles(group, floor.may_stay);
  if (floor.cycles < kInfinity) {
    floor.key =
        key(*floor.kind, closely ? floor.kind->floor->of(group) : least_energy_, floor.cycles);
  }
  return floor;
}

// A systolic array takes no less than the steps of its units but for the number of the first cycle.
// Energies add up in another order than those of one class.
Key ClassFloors::of(const GroupFloor::Boxes& boxes) {
  std::vector<FanoutId> used;
  double instances = 1;
  for (const FanoutId f : boxes.ids()) {
    instances *= boxes[f]->instances;
    if (boxes[f]->instances > 1) {
      used.push_back(f);
    }
  }
  const auto* timing = std::get_if<SystolicTiming>(&space_.problem().arch().compute.timing);
  const double early = timing != nullptr ? real(slip(*timing)) : 0;
  const Kind& shared = kind(used, std::nullopt);
  return key(shared, shared.floor->of(boxes) * (1 - kRounding), steps_ / instances - early);
}

Key ClassFloors::key(const Kind& kind, double energy, double cycles) const {
  std::vector<double> components(2 + kind.port_bits.size(), 0.0);
  components[0] = energy;
  std::copy(kind.port_bits.begin(), kind.port_bits.end(), components.begin() + 1);
  return kind.valuation->key(components.data(), cycles);
}

double ClassFloors::least_cycles(const UnrollingGroup& group,
                                 const std::optional<TensorSet>& may_stay) const {
  const Problem& problem = space_.problem();
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), group);
  if (may_stay && !space_.constraints().factors.balanced) {
    return least_array_cycles(problem, group, bounds, *may_stay);
  }
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    cycles *= real(bound);
  }
  return cycles;
}

}  // namespace mapsim::exact
