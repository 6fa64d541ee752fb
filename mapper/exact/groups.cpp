// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/groups.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "costmodel/crossing.hpp"
#include "costmodel/timing/systolic.hpp"
#include "mapper/exact/rebuild.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nests/placement.hpp"

namespace mapsim::exact {

namespace {

constexpr std::size_t kFirstBatch = 4;
constexpr std::size_t kLargestBatch = 64;

void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective) {
  if (std::holds_alternative<NvdlaTiming>(space.problem().arch().compute.timing)) {
    throw UnsupportedSearch(
        "an engine after NVDLA has schedules of its own (docs/nvdla.md): fronts and curves of them "
        "are not searched");
  }
  if (!tracked(space.problem(), objective).ports || !space.problem().is_timed_by_model()) {
    return;
  }
  if (!std::holds_alternative<SystolicTiming>(space.problem().arch().compute.timing)) {
    throw UnsupportedSearch(
        "the exact strategy proves the least energy, but not yet the least time, of machines with "
        "this timing model; use --strategy annealing, genetic, random or exhaustive");
  }
  if (space.constraints().factors.balanced) {
    throw UnsupportedSearch(
        "the exact strategy proves the times of systolic arrays with perfect factors only; leave "
        "out --imperfect (factors: balanced)");
  }
}

}  // namespace

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// outermost level, and the compute units' accesses to whichever level could serve them most
// cheaply.
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

Groups::Groups(const Mapspace& space, const Objective& objective)
    : space_{space}, objective_{objective} {
  refuse_what_is_not_proven(space, objective);
  for (std::size_t g = 0; g < space.group_by_factors().size(); ++g) {
    const UnrollingGroup& group = space.group_by_factors()[g];
    may_stay_.push_back(may_stay_with(space.problem(), group));
    auto& skeleton = skeletons_[kind(g)];
    if (!skeleton) {
      skeleton = std::make_unique<Skeleton>(space, kind(g).first, may_stay_[g]);
    }
  }
  const double energy = energy_floor(space);
  for (std::size_t g = 0; g < space.group_by_factors().size(); ++g) {
    const Skeleton& skeleton = *skeletons_.begin()->second;
    std::vector<double> components(2 + skeleton.ports().size(), 0.0);
    components[0] = energy;
    const double cycles = least_cycles(g);
    floors_.push_back(
        cycles < kInfinity ? Valuation(skeleton, objective, cycles).key(components.data()) : Key{});
  }
}

Groups::Kind Groups::kind(std::size_t group) const {
  std::optional<std::uint32_t> stays;
  if (may_stay_[group]) {
    stays = may_stay_[group]->bits();
  }
  return {nests::used_fanouts(space_.group_by_factors()[group]), stays};
}

double Groups::least_cycles(std::size_t group) const {
  const Problem& problem = space_.problem();
  const UnrollingGroup& unrolled = space_.group_by_factors()[group];
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), unrolled);
  if (may_stay_[group] && !space_.constraints().factors.balanced) {
    return least_array_cycles(problem, unrolled, bounds, *may_stay_[group]);
  }
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    cycles *= static_cast<double>(bound);
  }
  return cycles;
}

const Skeleton& Groups::skeleton(std::size_t group) const { return *skeletons_.at(kind(group)); }

std::unique_ptr<Instance> Groups::build(std::size_t group, Key limit) const {
  Unrolled unrolled(space_.problem(), space_.group_by_factors()[group]);
  return std::make_unique<Instance>(skeleton(group), std::move(unrolled), objective_, limit);
}

Mapping Groups::mapping(const Instance& instance, std::size_t group,
                        const std::vector<Step>& steps) const {
  return rebuild(instance.skeleton, instance.unrolled, space_.group_by_factors()[group].first,
                 steps);
}

std::vector<std::size_t> Groups::by_steps() const {
  std::vector<double> cycles_of;
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < size(); ++g) {
    order.push_back(g);
    cycles_of.push_back(least_cycles(g));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cycles_of[a] < cycles_of[b]; });
  return order;
}

void Groups::for_batches(const std::vector<std::size_t>& order,
                         const std::function<bool(std::span<const std::size_t>)>& visit) {
  std::size_t length = kFirstBatch;
  for (std::size_t first = 0; first < order.size(); first += length) {
    length = std::min({first == 0 ? kFirstBatch : 2 * length, kLargestBatch, order.size() - first});
    if (!visit(std::span(order).subspan(first, length))) {
      return;
    }
  }
}

}  // namespace mapsim::exact
