// SPDX-License-Identifier: Apache-2.0
#include "mapper/tally.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mapsim {

void Tally::consider(const Problem& problem, const Objective& objective, const Mapping& mapping) {
  ++evaluations;
  const Evaluation evaluation = evaluate(problem, mapping);
  if (const auto* reason = std::get_if<Infeasible>(&evaluation)) {
    mapsim::add(infeasible, problem, *reason);
    return;
  }
  const Cost& found = std::get<Cost>(evaluation);
  if (!is_within_limits(objective, found)) {
    add_beyond_limits(infeasible, objective, found);
    return;
  }
  if (!cost || better(objective, found, *cost)) {
    best = mapping;
    cost = found;
  }
}

void Tally::add(const Objective& objective, Tally other) {
  evaluations += other.evaluations;
  mapsim::add(infeasible, other.infeasible);
  if (other.cost && (!cost || better(objective, *other.cost, *cost))) {
    best = std::move(other.best);
    cost = std::move(other.cost);
  }
}

Tally consider_all(const Problem& problem, const SearchOptions& options, std::int64_t count,
                   const MappingAt& mapping_at) {
  const int threads = std::max(1, options.threads);
  std::vector<Tally> parts(static_cast<std::size_t>(threads));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int part = 0; part < threads; ++part) {
    Tally& tally = parts[static_cast<std::size_t>(part)];
    for (std::int64_t i = count * part / threads; i < count * (part + 1) / threads; ++i) {
      tally.consider(problem, options.objective, mapping_at(i));
    }
  }
  Tally all;
  for (Tally& part : parts) {
    all.add(options.objective, std::move(part));
  }
  return all;
}

bool is_stopped(const SearchOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

}  // namespace mapsim
