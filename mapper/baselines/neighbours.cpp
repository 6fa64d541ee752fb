// SPDX-License-Identifier: Apache-2.0
#include "mapper/baselines/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mapsim {

namespace {

using SpatialFactors = PerFanout<PerDim<std::int64_t>>;

std::vector<std::int64_t> key_of(const SpatialFactors& factors) {
  std::vector<std::int64_t> key;
  for (const PerDim<std::int64_t>& along : factors) {
    key.insert(key.end(), along.begin(), along.end());
  }
  return key;
}

SpatialFactors factors_of(const Problem& problem, const Unrolling& unrolling) {
  SpatialFactors factors(problem.arch().fanouts.size(),
                         PerDim<std::int64_t>(problem.workload().dims.size(), 1));
  for (const Unroll& unroll : unrolling) {
    factors[unroll.fanout][unroll.dim] *= unroll.factor;
  }
  return factors;
}

// Calls visit(point) for every point of the nest that is in use.
template <class Visit>
void for_each_point(PrimeNest& nest, const Visit& visit) {
  for (std::size_t& crossing : nest.crossings) {
    visit(crossing);
  }
  for (PrimeNest::KeepPoint& place : nest.keeps) {
    if (place.point) {
      visit(*place.point);
    }
  }
}

PrimeNest::Prime take_loop(PrimeNest& nest, std::size_t i) {
  const PrimeNest::Prime loop = nest.loops[i];
  nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(i));
  for_each_point(nest, [i](std::size_t& point) { point -= point > i ? 1 : 0; });
  return loop;
}

// Inserts a loop at any position; at a point, above or below it.
void insert_loop(PrimeNest& nest, PrimeNest::Prime loop, Rng& rng) {
  const std::size_t i = rng.below(nest.loops.size() + 1);
  const std::size_t first_below = i + rng.below(2);
  nest.loops.insert(nest.loops.begin() + static_cast<std::ptrdiff_t>(i), loop);
  for_each_point(nest,
                 [first_below](std::size_t& point) { point += point >= first_below ? 1 : 0; });
}

std::int64_t draw_prime(std::int64_t n, Rng& rng) {
  std::vector<std::int64_t> primes;
  for (std::int64_t p = 2; n > 1; ++p) {
    for (; n % p == 0; n /= p) {
      primes.push_back(p);
    }
  }
  return primes[rng.below(primes.size())];
}

}  // namespace

Neighbours::Neighbours(const Mapspace& space) : space_{&space} {
  const auto& classes = space.unrolling_classes();
  for (std::size_t g = 0; g < classes.size(); ++g) {
    classes_[key_of(classes[g].factors)].push_back(g);
  }
}

bool Neighbours::change(PrimeNest& nest, Rng& rng) const {
  const std::uint64_t kinds = space_->unrolling_count() > 1 ? 4 : 3;
  switch (rng.below(kinds)) {
    case 0:
      return move_loop(nest, rng);
    case 3:
      return change_unrolling(nest, rng);
    default:
      return rearrange(*space_, nest, rng);
  }
}

bool Neighbours::move_loop(PrimeNest& nest, Rng& rng) const {
  if (nest.loops.empty()) {
    return false;
  }
  insert_loop(nest, take_loop(nest, rng.below(nest.loops.size())), rng);
  return is_ordered(*space_, nest);
}

// Moves a prime factor from a fanout to the loops or back, or exchanges two.
bool Neighbours::change_unrolling(PrimeNest& nest, Rng& rng) const {
  const Problem& problem = space_->problem();
  SpatialFactors factors = factors_of(problem, nest.unrolling);
  const bool leaves = !nest.unrolling.empty() && rng.below(3) > 0;
  const bool joins = !nest.loops.empty() && (!leaves || rng.below(2) == 0);
  auto fanout = static_cast<FanoutId>(rng.below(factors.size()));
  std::optional<PrimeNest::Prime> leaving;
  if (leaves) {
    const Unroll& unroll = nest.unrolling[rng.below(nest.unrolling.size())];
    fanout = unroll.fanout;
    leaving = {unroll.dim, draw_prime(unroll.factor, rng)};
    factors[fanout][leaving->dim] /= leaving->factor;
  }
  if (joins) {
    const PrimeNest::Prime joining = take_loop(nest, rng.below(nest.loops.size()));
    factors[fanout][joining.dim] *= joining.factor;
  }
  if (leaving) {
    insert_loop(nest, *leaving, rng);
  }
  return unroll_as(nest, factors, rng);
}

bool Neighbours::unroll_as(PrimeNest& nest, const SpatialFactors& factors, Rng& rng) const {
  const auto found = classes_.find(key_of(factors));
  if (found == classes_.end()) {
    return false;
  }
  const std::size_t unrolling_class = found->second[rng.below(found->second.size())];
  const std::vector<Unrolling> members =
      space_->assignments(space_->unrolling_classes()[unrolling_class]);
  nest.unrolling = members[rng.below(members.size())];
  return update_crossings(nest, rng) && is_ordered(*space_, nest);
}

// A fanout that comes into use is crossed anywhere between the keeps that must be above and below
// it.
bool Neighbours::update_crossings(PrimeNest& nest, Rng& rng) const {
  const Arch& arch = space_->problem().arch();
  std::vector<FanoutId> used;
  std::vector<std::size_t> crossings;
  for (const FanoutId f : arch.fanouts.ids()) {
    const bool in_use = std::any_of(nest.unrolling.begin(), nest.unrolling.end(),
                                    [f](const Unroll& unroll) { return unroll.fanout == f; });
    if (!in_use) {
      continue;
    }
    const auto known = std::find(nest.fanouts.begin(), nest.fanouts.end(), f);
    if (known != nest.fanouts.end()) {
      crossings.push_back(nest.crossings[static_cast<std::size_t>(known - nest.fanouts.begin())]);
    } else {
      std::size_t first = crossings.empty() ? 0 : crossings.back();
      std::size_t last = nest.loops.size();
      for (const PrimeNest::KeepPoint& place : nest.keeps) {
        if (place.point && arch.is_above(place.level, f)) {
          first = std::max(first, *place.point);
        } else if (place.point) {
          last = std::min(last, *place.point);
        }
      }
      if (first > last) {
        return false;
      }
      crossings.push_back(first + rng.below(last - first + 1));
    }
    used.push_back(f);
  }
  nest.fanouts = std::move(used);
  nest.crossings = std::move(crossings);
  return true;
}

Fitness evaluate_fitness(const Mapspace& space, Evaluator& evaluator, const SearchOptions& options,
                         const PrimeNest& nest, SampleStatistics& statistics) {
  const Objective& objective = options.objective;
  const Cost& cost = evaluator.cost();
  if (statistics.consider(evaluator, objective, to_mapping(space, nest))) {
    return {0, 0, objective_value(objective, cost)};
  }
  if (const double excess = evaluator.excess(); excess > 0) {
    return {excess, 0, 0};
  }
  double beyond = 0;
  if (objective.max_energy) {
    beyond += std::max(0.0, std::log2(cost.energy.total.count() / objective.max_energy->count()));
  }
  if (objective.max_latency) {
    const Cycles latency = latency_of(objective.mode, cost.latency);
    beyond += std::max(0.0, std::log2(static_cast<double>(latency.count()) /
                                      static_cast<double>(objective.max_latency->count())));
  }
  return {0, beyond, 0};
}

}  // namespace mapsim
