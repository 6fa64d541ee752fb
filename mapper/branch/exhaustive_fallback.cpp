// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/exhaustive_fallback.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "mapper/counting/mapspace_size.hpp"

namespace mapsim {

namespace {

// With at most so many tiles in all unrollings, counting takes milliseconds. A space has at least
// as many mappings as tiles.
constexpr double kFewTiles = 50'000;

}  // namespace

std::int64_t count_if_enumerable(const Mapspace& space) {
  if (!space.constraints().factors.imperfect || !space.is_listable()) {
    return 0;
  }
  auto tiles = static_cast<double>(space.class_count());
  for (const ExtentDomain& domain : space.domains()) {
    tiles *= static_cast<double>(domain.size());
  }
  const std::optional<std::string> size =
      tiles <= kFewTiles ? mapspace_size_unless(space, [] { return false; }) : std::nullopt;
  const bool is_few = size && size->size() <= std::to_string(kMostEnumerated).size();
  const std::int64_t count = is_few ? std::stoll(*size) : 0;
  return count <= kMostEnumerated ? count : 0;
}

std::int64_t labels_before_enumeration(std::int64_t few) {
  // Measured: 50 to 100 us per label, 7 to 10 us per mapping
  constexpr std::int64_t kMappingsPerLabel = 8;
  constexpr std::int64_t kAtLeast = 1'000;
  return few > 0 ? kAtLeast + few / kMappingsPerLabel : std::numeric_limits<std::int64_t>::max();
}

void enumerate_instead(const Mapspace& space, SearchOptions options, const Deadline& deadline,
                       SearchResult& result) {
  options.progress = nullptr;
  options.budget.seconds -= deadline.seconds();
  SearchResult seen = search_exhaustive(space, options);
  if (seen.interrupted) {
    return;
  }
  seen.statistics.evaluations += result.statistics.evaluations;
  seen.statistics.labels = result.statistics.labels;
  seen.statistics.states = result.statistics.states;
  seen.statistics.unrollings_total = space.class_count();
  seen.statistics.unrollings = seen.statistics.unrollings_total;
  for (const ClassBound& unrolling_class : result.classes) {
    seen.classes.push_back(unrolling_class);
    seen.classes.back().bound = std::max(unrolling_class.bound, seen.certificate.lower_bound);
    seen.classes.back().by = Argument::kSearch;
  }
  result = std::move(seen);
}

}  // namespace mapsim
