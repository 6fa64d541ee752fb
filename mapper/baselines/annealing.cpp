// SPDX-License-Identifier: Apache-2.0
// Simulated annealing as in SALSA (Jung et al., AICAS 2023), from uniform samples.
#include <cmath>
#include <utility>

#include "mapper/baselines/neighbours.hpp"
#include "mapper/baselines/restarts.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kAnnealingPerRun = 4'000;
constexpr double kStart = 0.1;      // T_0
constexpr double kCooling = 0.999;  // T_i = T_0 * this^i
constexpr int kTries = 32;          // attempts to find a change that stays in the space

// c / c' of the first figure of Fitness in which the two differ. 0: one of them fits, or is within
// the limits, and the other is not.
double ratio(const Fitness& now, const Fitness& next) {
  if (now.excess > 0) {
    return (1 + now.excess) / (1 + next.excess);
  }
  if (next.excess > 0 || (now.beyond == 0 && next.beyond > 0)) {
    return 0;
  }
  return now.beyond > 0 ? (1 + now.beyond) / (1 + next.beyond) : now.value / next.value;
}

// A worse cost c' instead of c is accepted with probability exp((c / c' - 1) / T).
bool accepts(const Fitness& now, const Fitness& next, double temperature, Rng& rng) {
  return next <= now || rng.uniform() < std::exp((ratio(now, next) - 1) / temperature);
}

SampleStatistics anneal(Run run, const Neighbours& neighbours) {
  SampleStatistics statistics;
  Evaluator evaluator{run.space.problem()};
  const auto candidate = [&](PrimeNest nest) {
    const Fitness fitness = evaluate_fitness(run.space, evaluator, run.options, nest, statistics);
    return Candidate{std::move(nest), fitness};
  };
  Candidate at = candidate(to_prime_nest(run.space, run.sampler.sample(run.rng)));
  double temperature = kStart;
  while (statistics.evaluations() < run.evaluations && !run.deadline.over()) {
    PrimeNest nest = at.nest;
    for (int i = 0; i < kTries && !neighbours.change(nest, run.rng); ++i) {
      nest = at.nest;
    }
    Candidate next = candidate(std::move(nest));
    if (accepts(at.fitness, next.fitness, temperature, run.rng)) {
      at = std::move(next);
    }
    temperature *= kCooling;
  }
  return statistics;
}

}  // namespace

SearchResult search_annealing(const Mapspace& space, const SearchOptions& options) {
  const Neighbours neighbours{space};
  return search_with_restarts(space, options, kAnnealingPerRun,
                              [&](Run run) { return anneal(std::move(run), neighbours); });
}

}  // namespace mapsim
