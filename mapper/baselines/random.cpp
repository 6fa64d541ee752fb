// SPDX-License-Identifier: Apache-2.0
// Uniform samples of the mapspace; the best one is kept.
#include "mapper/baselines/restarts.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kRandomPerRun = 256;

SampleStatistics draw(Run run) {
  SampleStatistics statistics;
  Evaluator evaluator{run.space.problem()};
  while (statistics.evaluations() < run.evaluations && !run.deadline.over()) {
    statistics.consider(evaluator, run.options.objective, run.sampler.sample(run.rng));
  }
  return statistics;
}

}  // namespace

SearchResult search_random(const Mapspace& space, const SearchOptions& options) {
  return search_with_restarts(space, options, kRandomPerRun, draw);
}

}  // namespace mapsim
