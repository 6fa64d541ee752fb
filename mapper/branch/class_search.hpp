// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/deadline.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

struct FrontTarget;  // mapper/branch/front_points.hpp

// Further inputs of a search over classes. All of them outlive the search.
struct ClassSearchInputs {
  // Labels to be expanded at most, whatever the budget says.
  std::int64_t labels = std::numeric_limits<std::int64_t>::max();
  // For objectives with latency, and for fronts: labels that a class may take before it is searched
  // by residency patterns (docs/mapper.md). Once one class has taken more, later classes are
  // searched by patterns at once. 0: all classes are.
  std::int64_t trial_labels = 2'000;
  // Work that idle threads do meanwhile: one step per call; false: no step was left. The first call
  // returns before others begin; then several threads may call it at once.
  std::function<bool()> beside{};
  struct Known {
    const Mapping* mapping;
    const Cost* cost;
    exact::ObjectiveKey key;
  };
  std::optional<Known> best{};  // a mapping that was found elsewhere
  // If set, the search looks for a front instead of the best mapping. It holds points that are
  // known, and gets those that are found. The result then has statistics, and says what is missing
  // in the proof.
  FrontTarget* front = nullptr;
  // Classes, each given by its first unrolling, that are known to have no mapping of interest.
  std::vector<Unrolling> ruled_out{};
};

// The best mapping of a space, or its front: searches the classes of unrollings one by one, and
// bounds all of them. The result, which of several equal mappings it is, and all statistics do not
// depend on the number of threads.
SearchResult search_classes(const Mapspace& space, const SearchOptions& options,
                            const Deadline& deadline, const ClassSearchInputs& more = {});

// Adds what another search took. Classes are not added: two searches of one space have the same.
void add_effort(Statistics& sum, const Statistics& other);

}  // namespace mapsim
