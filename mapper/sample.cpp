// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/rng.hpp"
#include "mapper/mapper.hpp"
#include "mapper/sampler.hpp"
#include "mapper/tally.hpp"

namespace mapsim {
namespace {

// Samples between two looks at options.stop.
constexpr std::int64_t kBatch = 1024;

// A stream of its own for each sample, whichever thread draws it.
Rng stream(std::uint64_t seed, std::int64_t sample) {
  return Rng{Rng{seed}.next() ^ Rng{~static_cast<std::uint64_t>(sample)}.next()};
}

}  // namespace

SearchResult search_sample(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Sampler sampler{space};
  const std::int64_t samples = sampler.empty() ? 0 : options.samples;
  Tally tally;
  std::int64_t drawn = 0;
  while (drawn < samples && !is_stopped(options)) {
    const std::int64_t count = std::min(kBatch, samples - drawn);
    tally.add(options.objective, consider_all(space.problem(), options, count, [&](std::int64_t i) {
                Rng rng = stream(options.seed, drawn + i);
                return sampler.sample(rng);
              }));
    drawn += count;
  }

  SearchResult result;
  result.best = std::move(tally.best);
  result.cost = std::move(tally.cost);
  result.infeasible = std::move(tally.infeasible);
  result.interrupted = drawn < samples;
  result.certificate.mapspace_size = space.size();
  result.statistics.evaluations = tally.evaluations;
  result.statistics.unrollings_total = space.unrolling_count();
  result.statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace mapsim
