// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/branch/shared_bounds.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

struct FrontTarget;  // mapper/branch/front_points.hpp

// What a search of classes may be given beside its space. All of it outlives the search.
struct ClassSearch {
  std::vector<SharedBounds*> shared{};
  // To be expanded at most, whatever the budget.
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();
  // Objectives with latency, and fronts: of a class of unrollings, before it is searched by
  // residency patterns. Once one class has taken more, the others are searched by patterns at once.
  // 0: all are.
  std::int64_t trial_labels = 2'000;
  // A step of what is done meanwhile by threads that are free; false: there was none left. Called
  // by several threads at once when it has returned for the first time.
  std::function<bool()> beside{};
  struct Known {
    const Mapping* mapping;
    const Cost* cost;
    exact::Key key;
  };
  std::optional<Known> best{};  // known from elsewhere
  // A front is looked for in place of the best mapping: points that are known, to which those are
  // added that are found. The result has statistics and what of the proof is missing.
  FrontTarget* front = nullptr;
  // The first unrollings of classes that are known to hold nothing of interest.
  std::vector<Unrolling> ruled_out{};
};

// The best mapping of a space, or its front, class by class of its unrollings, with bounds of all
// of them. Which of equal mappings it is, and all statistics, do not depend on the number of
// threads.
SearchResult search_classes(const Mapspace& space, const SearchOptions& options,
                            const Deadline& deadline, const ClassSearch& more = {});

}  // namespace mapsim
