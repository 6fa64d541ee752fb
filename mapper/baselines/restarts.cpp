// SPDX-License-Identifier: Apache-2.0
#include "mapper/baselines/restarts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/threads.hpp"
#include "mapper/counting/mapspace_size.hpp"

namespace mapsim {

namespace {

// Runs whose statistics wait to be added in order.
constexpr std::int64_t kRunsAtOnce = 64;

// Each run has a random stream of its own, whichever thread executes it.
Rng stream(std::uint64_t seed, std::int64_t run) {
  return Rng{Rng{seed}.next() ^ Rng{~static_cast<std::uint64_t>(run)}.next()};
}

}  // namespace

SearchResult search_with_restarts(const Mapspace& space, const SearchOptions& options,
                                  std::int64_t per_run,
                                  const std::function<SampleStatistics(Run)>& heuristic) {
  const Deadline deadline(options);
  const auto stop = [&deadline] { return deadline.over(); };
  const auto is_half_over = [&] {
    return stop() || deadline.seconds() > options.budget.seconds / 2;
  };
  const Sampler sampler{space, is_half_over};
  if (sampler.is_partial() && sampler.empty() && !is_stopped(options)) {
    throw UnsupportedSearch(
        "half of the budget was not enough to count any mappings to draw from; raise --budget, or "
        "use --strategy exact");
  }
  const std::int64_t wanted = sampler.empty() ? 0 : options.evaluations;
  const std::int64_t runs = (wanted + per_run - 1) / per_run;
  SampleStatistics statistics;
  for (std::int64_t first = 0; first < runs && !deadline.over(); first += kRunsAtOnce) {
    const std::int64_t count = std::min(kRunsAtOnce, runs - first);
    std::vector<SampleStatistics> parts(static_cast<std::size_t>(count));
    for_each_on_threads(parts.size(), options.threads, [&](std::size_t i) {
      const std::int64_t run = first + static_cast<std::int64_t>(i);
      const std::int64_t share = std::min(per_run, wanted - run * per_run);
      parts[i] = heuristic({space, sampler, options, deadline, share, stream(options.seed, run)});
    });
    for (SampleStatistics& part : parts) {
      statistics.add(options.objective, std::move(part));
    }
  }
  SearchResult result = statistics.result(space.problem());
  result.interrupted = statistics.evaluations() < wanted || sampler.is_partial();
  result.certificate.mapspace_size =
      sampler.is_partial() ? "" : mapspace_size_unless(space, stop).value_or("");
  result.statistics.seconds = deadline.seconds();
  return result;
}

}  // namespace mapsim
