// SPDX-License-Identifier: Apache-2.0
#include "mapper/least_busiest.hpp"

#include <algorithm>
#include <utility>

#include "costmodel/busiest.hpp"
#include "mapper/baselines/neighbours.hpp"
#include "mapper/mapspace/sample_statistics.hpp"

namespace mapsim {

namespace {

// Neighbours that are tried, and operations that are counted for all of them: about a second.
constexpr std::int64_t kMostNeighbours = 1'000;
constexpr std::int64_t kMostCounted = 500'000'000;

// Mappings of the same value, of which the busiest instance is faster than in the best so far.
void try_neighbours(const Mapspace& space, const SearchOptions& options, BusiestValue least,
                    SearchResult& result) {
  const Problem& problem = space.problem();
  const Objective& objective = options.objective;
  const Neighbours neighbours{space};
  Rng rng{options.seed};
  Evaluator evaluator{problem};
  PrimeNest at = to_prime_nest(space, *result.best);
  const std::int64_t tries =
      std::clamp<std::int64_t>(kMostCounted / problem.macs(), 10, kMostNeighbours);
  for (std::int64_t i = 0; i < tries && !is_stopped(options); ++i) {
    if (least.value <= result.certificate.lower_bound * (1 + kRounding)) {
      break;  // the bound is reached
    }
    PrimeNest next = at;
    if (!neighbours.change(next, rng)) {
      continue;
    }
    const Mapping mapping = to_mapping(space, next);
    ++result.statistics.evaluations;
    if (evaluator.evaluate(mapping) || !is_within_limits(objective, evaluator.cost()) ||
        objective_value(objective, evaluator.cost()) > least.value) {
      continue;
    }
    const BusiestValue found =
        busiest_value(problem, objective, mapping, evaluator.cost()).value_or(least);
    if (found.value <= least.value) {  // on a plateau, too, but the first mapping of it stays
      at = std::move(next);
      if (found.value < least.value) {
        least = found;
        result.best = mapping;
        result.cost = evaluator.cost();
      }
    }
  }
}

}  // namespace

std::optional<BusiestValue> busiest_value(const Problem& problem, const Objective& objective,
                                          const Mapping& mapping, const Cost& cost) {
  const bool leaks = problem.leakage(Cycles{1}) > Picojoules{0};
  if (objective.mode != LatencyMode::kSteady ||
      (!objective.function.uses_latency() && !(leaks && objective.function.uses_energy()))) {
    return std::nullopt;
  }
  const std::optional<BusiestInstance> busiest = busiest_instance(problem, mapping, cost);
  if (!busiest) {
    return std::nullopt;
  }
  const Picojoules energy =
      cost.energy.total - cost.energy.leakage + problem.leakage(busiest->steady);
  const auto cycles = static_cast<double>(busiest->steady.count());
  return BusiestValue{objective.function.value(energy.count(), cycles), busiest->exact};
}

void take_least_busiest(const Mapspace& space, const SearchOptions& options, SearchResult& result) {
  const Problem& problem = space.problem();
  const Objective& objective = options.objective;
  if (!result.best || !result.cost || result.interrupted || objective.exact_ties ||
      space.constraints().factors.imperfect) {
    return;
  }
  const std::optional<BusiestValue> least =
      busiest_value(problem, objective, *result.best, *result.cost);
  if (least && space.is_listable()) {
    try_neighbours(space, options, *least, result);
  }
  Certificate& proof = result.certificate;
  const double value = objective_value(objective, *result.cost);
  if (proof.status == Proof::kOptimal && value > proof.lower_bound * (1 + kRounding)) {
    proof.status = Proof::kBounded;
  }
  if (proof.status == Proof::kBounded) {
    proof.gap = value / proof.lower_bound - 1;
  }
}

}  // namespace mapsim
