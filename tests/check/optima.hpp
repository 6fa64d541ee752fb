// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

#include "check/spatial.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/objective.hpp"

namespace mapsim {

// Instances per fanout, axis and dim.
using Instances = std::vector<std::int64_t>;

inline Instances instances_of(const check::Unrolling& unrolling) {
  Instances flat;
  for (const auto& axes : unrolling.axes) {
    flat.insert(flat.end(), axes[0].begin(), axes[0].end());
    flat.insert(flat.end(), axes[1].begin(), axes[1].end());
  }
  return flat;
}

inline Instances instances_of(const Problem& problem, const Mapping& mapping) {
  const std::size_t dims = problem.workload().dims.size();
  Instances flat(problem.arch().fanouts.size() * 2 * dims, 1);
  PerDim<std::int64_t> extents(dims);
  for (const DimId d : extents.ids()) {
    extents[d] = problem.workload().dims[d].bound;
  }
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents[loop->dim] = loop->extent;
    } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
      const std::size_t axis =
          index_of(parallel->fanout) * 2 + static_cast<std::size_t>(parallel->axis);
      flat[axis * dims + index_of(parallel->dim)] =
          (extents[parallel->dim] + parallel->extent - 1) / parallel->extent;
      extents[parallel->dim] = parallel->extent;
    }
  }
  return flat;
}

// The least of every unrolling, by evaluating all mappings. Those beyond a limit do not count.
inline std::map<Instances, double> optima(const Mapspace& space, const Objective& objective) {
  std::map<Instances, double> least;
  space.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(space.problem(), mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost != nullptr && is_within_limits(objective, *cost)) {
      double& best = least.emplace(instances_of(space.problem(), mapping), HUGE_VAL).first->second;
      best = std::min(best, objective_value(objective, *cost));
    }
    return true;
  });
  return least;
}

}  // namespace mapsim
