// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include "core/caught.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/timing/systolic.hpp"
#include "mapper/exact/rebuild.hpp"
#include "mapper/mapper.hpp"
#include "mapper/nests/placement.hpp"
#include "mapper/twins.hpp"

namespace mapsim::exact {

namespace {

// One group alone tells the others what to beat; threads then have a few at a time.
constexpr std::size_t kSecondBatch = 4;
constexpr std::size_t kLargestBatch = 64;
constexpr std::int64_t kFloors = 32;  // worth a task

}  // namespace

void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective) {
  if (std::holds_alternative<NvdlaTiming>(space.problem().arch().compute.timing)) {
    throw UnsupportedSearch(
        "an engine after NVDLA has schedules of its own (docs/nvdla.md): curves of them are not "
        "searched");
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

Groups::Groups(const Mapspace& space, const Objective& objective, const Patience* patience)
    : space_{space}, objective_{objective}, least_energy_{energy_floor(space)} {
  refuse_what_is_not_proven(space, objective);
  Caught caught;
#pragma omp taskgroup
  {
#pragma omp task shared(caught)
    caught.run([&] { first_alike_ = twins(space_); });
    caught.run([&] { find_kinds(); });
  }
  caught.rethrow();
  cycles_.resize(kind_.size());
  floors_.resize(kind_.size());
#pragma omp taskloop grainsize(kFloors) shared(caught)
  for (std::size_t g = 0; g < kind_.size(); ++g) {
    if (first_alike_[g] == g) {
      caught.run([&] { find_floor(g, patience); });
    }
  }
  caught.rethrow();
  for (std::size_t g = 0; g < kind_.size(); ++g) {
    cycles_[g] = cycles_[first_alike_[g]];
    floors_[g] = floors_[first_alike_[g]];
  }
}

void Groups::find_kinds() {
  std::map<std::pair<std::vector<FanoutId>, std::optional<std::uint32_t>>, std::size_t> known;
  std::vector<std::size_t> first;  // group of each kind
  for (const UnrollingGroup& group : space_.group_by_factors()) {
    may_stay_.push_back(may_stay_with(space_.problem(), group));
    std::optional<std::uint32_t> stays;
    if (may_stay_.back()) {
      stays = may_stay_.back()->bits();
    }
    const auto [entry, is_new] =
        known.try_emplace({nests::used_fanouts(group), stays}, first.size());
    if (is_new) {
      first.push_back(kind_.size());
    }
    kind_.push_back(entry->second);
  }
  kinds_.resize(first.size());
  Caught caught;
#pragma omp taskloop grainsize(1) shared(first, caught)
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    caught.run([&] {
      Kind& kind = kinds_[k];
      const UnrollingGroup& group = space_.group_by_factors()[first[k]];
      kind.skeleton =
          std::make_unique<Skeleton>(space_, nests::used_fanouts(group), may_stay_[first[k]]);
      kind.floor.emplace(*kind.skeleton);
      kind.port_bits = least_port_bits(*kind.skeleton);
      kind.valuation.emplace(*kind.skeleton, objective_, 0);
    });
  }
  caught.rethrow();
}

void Groups::find_floor(std::size_t group, const Patience* patience) {
  const Kind& kind = kinds_[kind_[group]];
  std::vector<double> components(2 + kind.port_bits.size(), 0.0);
  components[0] = patience != nullptr && patience->over()
                      ? least_energy_
                      : kind.floor->of(space_.group_by_factors()[group]);
  std::copy(kind.port_bits.begin(), kind.port_bits.end(), components.begin() + 1);
  cycles_[group] = least_cycles(group);
  if (cycles_[group] < kInfinity) {
    floors_[group] = kind.valuation->key(components.data(), cycles_[group]);
  }
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

std::vector<Pattern> Groups::patterns(std::size_t group, const Key& limit, bool first_only) const {
  const Kind& kind = kinds_[kind_[group]];
  std::vector<double> components(2 + kind.port_bits.size(), 0.0);
  const KeyOf key_of = [&](const std::vector<double>& least) {
    for (std::size_t k = 0; k < least.size(); ++k) {
      components[k] = least[k] * (1 - kRounding);
    }
    return kind.valuation->key(components.data(), cycles_[group]);
  };
  return kind.floor->patterns(space_.group_by_factors()[group], key_of, limit, first_only);
}

std::unique_ptr<Instance> Groups::build(std::size_t group, Key limit, bool one_is_enough,
                                        const Pattern* pattern) const {
  const UnrollingGroup& unrolling = space_.group_by_factors()[group];
  PlacingsBeyond beyond;
  if (has_many_rows(skeleton(group))) {
    beyond = [&](double most) {
      return kinds_[kind_[group]].floor->placings_beyond(unrolling, most);
    };
  }
  return std::make_unique<Instance>(skeleton(group), Unrolled(space_.problem(), unrolling),
                                    objective_, limit, one_is_enough, beyond,
                                    pattern == nullptr
                                        ? std::vector<bool>{}
                                        : kinds_[kind_[group]].floor->placings_outside(*pattern));
}

Mapping Groups::mapping(const Instance& instance, std::size_t group,
                        const std::vector<Step>& steps) const {
  return rebuild(instance.skeleton, instance.unrolled, space_.group_by_factors()[group].first,
                 steps);
}

std::vector<std::size_t> Groups::by_steps() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return cycles_[a] < cycles_[b]; });
  return order;
}

std::vector<std::size_t> Groups::by_floor() const {
  std::vector<std::size_t> order = by_steps();
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return floors_[a] < floors_[b]; });
  return order;
}

std::span<const std::size_t> Groups::batch(std::span<const std::size_t> order, std::size_t first) {
  std::size_t end = 1;  // of the first batch
  for (std::size_t length = kSecondBatch; end <= first;
       length = std::min(2 * length, kLargestBatch)) {
    end += length;
  }
  return order.subspan(first, std::min(end, order.size()) - first);
}

void Groups::for_batches(const std::vector<std::size_t>& order,
                         const std::function<bool(std::span<const std::size_t>)>& visit) {
  for (std::size_t first = 0; first < order.size();) {
    const std::span<const std::size_t> next = batch(order, first);
    if (!visit(next)) {
      return;
    }
    first += next.size();
  }
}

}  // namespace mapsim::exact
