// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "core/caught.hpp"
#include "costmodel/crossing.hpp"
#include "mapper/exact/rebuild.hpp"
#include "mapper/mapper.hpp"
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

Groups::Groups(const Mapspace& space, const Objective& objective, const Patience* patience)
    : space_{space}, objective_{objective} {
  refuse_what_is_not_proven(space, objective);
  own_.emplace(space, objective);
  floors_ = &*own_;
  const std::vector<UnrollingGroup>& groups = space_.group_by_factors();
  first_alike_ = twins(space_);
  members_.resize(groups.size());
  Caught caught;
#pragma omp taskloop grainsize(kFloors) shared(groups, caught)
  for (std::size_t g = 0; g < groups.size(); ++g) {
    caught.run([&] {
      const bool closely = patience == nullptr || !patience->over();
      members_[g] = {&groups[g], first_alike_[g] == g ? floors_->of(groups[g], closely)
                                                      : floors_->kind_of(groups[g])};
    });
  }
  caught.rethrow();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    members_[g].floor.cycles = members_[first_alike_[g]].floor.cycles;
    members_[g].floor.key = members_[first_alike_[g]].floor.key;
  }
}

Groups::Groups(ClassFloors& floors, const Mapspace& space, const Objective& objective)
    : space_{space}, objective_{objective}, floors_{&floors} {}

std::size_t Groups::add(UnrollingGroup unrolling) {
  ClassFloors::Floor floor = floors_->of(unrolling);
  const std::lock_guard lock(mutex_);
  added_.push_back(std::move(unrolling));
  members_.push_back({&added_.back(), floor});
  return members_.size() - 1;
}

std::size_t Groups::size() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

const Groups::Member& Groups::at(std::size_t group) const {
  const std::lock_guard lock(mutex_);
  return members_[group];
}

std::vector<Pattern> Groups::patterns(std::size_t group, const Incumbent& known,
                                      bool first_only) const {
  const ClassFloors::Floor& floor = at(group).floor;
  const Kind& kind = *floor.kind;
  std::vector<double> components(2 + kind.port_bits.size(), 0.0);
  const KeyOf key_of = [&](const std::vector<double>& least) {
    for (std::size_t k = 0; k < least.size(); ++k) {
      components[k] = least[k] * (1 - kRounding);
    }
    return kind.valuation->key(components.data(), floor.cycles);
  };
  return kind.floor->patterns(unrolling(group), key_of, known, first_only);
}

std::unique_ptr<Instance> Groups::build(std::size_t group, const Incumbent& known, bool may_dive,
                                        const Pattern* pattern) const {
  return std::make_unique<Instance>(skeleton(group), Unrolled(space_.problem(), unrolling(group)),
                                    objective_, known, may_dive, left_out(group, pattern),
                                    least_second(group, pattern));
}

bool Groups::is_ruled_out(std::size_t group, const Incumbent& known, const Pattern* pattern) const {
  return is_ruled_out_by_energy(skeleton(group), Unrolled(space_.problem(), unrolling(group)),
                                objective_, known, left_out(group, pattern),
                                least_second(group, pattern));
}

std::vector<bool> Groups::left_out(std::size_t group, const Pattern* pattern) const {
  return pattern == nullptr ? std::vector<bool>{}
                            : at(group).floor.kind->floor->placings_outside(*pattern);
}

double Groups::least_second(std::size_t group, const Pattern* pattern) const {
  return (pattern == nullptr ? floor(group) : pattern->bound).second;
}

Mapping Groups::mapping(const Instance& instance, std::size_t group,
                        const std::vector<Step>& steps) const {
  return rebuild(instance.skeleton, instance.unrolled, unrolling(group).first, steps);
}

std::vector<std::size_t> Groups::by_steps() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return at(a).floor.cycles < at(b).floor.cycles;
  });
  return order;
}

std::vector<std::size_t> Groups::by_floor() const {
  std::vector<std::size_t> order = by_steps();
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return floor(a) < floor(b); });
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
