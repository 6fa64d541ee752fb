// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

#include "core/rng.hpp"
#include "mapper/baselines/sampler.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapspace/sample_statistics.hpp"

namespace mapsim {

// The inputs of one run of a heuristic.
struct Run {
  const Mapspace& space;
  const Sampler& sampler;  // not empty
  const SearchOptions& options;
  const Deadline& deadline;
  std::int64_t evaluations = 0;  // to be spent completely, unless the deadline passes
  Rng rng;                       // a stream of its own
};

// Repeats runs of a heuristic with `per_run` evaluations each, until options.evaluations or the
// seconds of the budget are spent. Runs are independent, so the result does not depend on the
// number of threads, unless time ran out.
SearchResult search_with_restarts(const Mapspace& space, const SearchOptions& options,
                                  std::int64_t per_run,
                                  const std::function<SampleStatistics(Run)>& heuristic);

}  // namespace mapsim
