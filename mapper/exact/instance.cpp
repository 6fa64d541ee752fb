// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/instance.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mapsim::exact {

namespace {

double compute_cycles(const Skeleton& skeleton, const Unrolled& unrolled) {
  auto cycles = static_cast<double>(skeleton.problem().arch().compute.issue_interval);
  for (const DimId d : skeleton.problem().workload().dims.ids()) {
    cycles *= static_cast<double>(unrolled.bound(d));
  }
  return cycles;
}

// Energy alone that takes the key beyond the limit: ports and edges can only add to it.
Bound::Hopeless hopeless(const Valuation& valuation, std::size_t components, Key limit) {
  if (!(limit.first < kInfinity)) {
    return {};
  }
  return [&valuation, limit, values = std::vector<double>(components)](double energy) mutable {
    values[0] = energy;
    return worse(valuation.key(values.data()), limit);
  };
}

}  // namespace

Instance::Instance(const Skeleton& skeleton_in, Unrolled unrolled_in, const Objective& objective,
                   Key limit)
    : skeleton{skeleton_in},
      unrolled{std::move(unrolled_in)},
      costs(skeleton, unrolled, tracked(skeleton.problem(), objective)),
      valuation(skeleton, objective, compute_cycles(skeleton, unrolled)),
      bound(skeleton, unrolled, costs, hopeless(valuation, costs.components(), limit)) {}

Key Instance::root() const {
  Key best;
  std::vector<double> values(costs.components());
  for (const std::size_t pointers : skeleton.starts()) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = bound.at({0, pointers, unrolled.lattices.front().size() - 1}, k);
    }
    best = std::min(best, valuation.key(values.data()));
  }
  return best;
}

}  // namespace mapsim::exact
