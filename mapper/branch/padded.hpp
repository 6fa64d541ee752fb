// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "mapper/deadline.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/mapspace.hpp"

// Incumbents of spaces with imperfect factors, from padded problems.
//
// A dim of 997 has no divisors, but 1000 has sixteen. The search with perfect factors solves the
// padded problem in milliseconds. Its mapping becomes one of the imperfect space by lowering every
// tile extent to the next extent of the space. Tiles do not grow, so they still fit, and the last
// tile of a loop is partial. A coordinate descent over the extents follows.
// docs/decisions/0049-padded-incumbents.md.

namespace mapsim {

// A mapping of a space, its cost, and the key by which mappings are compared.
struct FoundMapping {
  Mapping mapping;
  Cost cost;
  exact::ObjectiveKey key;
};

struct PaddedSearch {
  std::optional<FoundMapping>
      best;                      // nullopt: no mapping was found that fits and lies in the space
  std::int64_t labels = 0;       // expanded
  std::int64_t evaluations = 0;  // of whole mappings
};

// Solves the padded problem of one class of spatial unrollings, in which every dim is a multiple of
// the class's instances for it. `labels` limits its search. `space` has imperfect factors.
PaddedSearch search_padded(const Mapspace& space, const UnrollingClass& unrolling_class,
                           SearchOptions options, std::int64_t labels, const Deadline& deadline);

// The same of all unrollings of padded problems, by the search with perfect factors that generates
// them: for spaces with more than can be listed. Dims are padded to numbers of many divisors, and
// to multiples of powers of two.
PaddedSearch search_padded(const Mapspace& space, const SearchOptions& options,
                           const Deadline& deadline);

}  // namespace mapsim
