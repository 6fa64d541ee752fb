// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/instance.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace mapsim::exact {

namespace {

double steps_cycles(const Skeleton& skeleton, const Unrolled& unrolled) {
  auto cycles = static_cast<double>(skeleton.problem().arch().compute.issue_interval);
  for (const DimId d : skeleton.problem().workload().dims.ids()) {
    cycles *= static_cast<double>(unrolled.bound(d));
  }
  return cycles;
}

std::optional<ArrayTime> array_time(const Skeleton& skeleton, const Unrolled& unrolled,
                                    Costs& costs, const Objective& objective) {
  const Problem& problem = skeleton.problem();
  const bool systolic = std::holds_alternative<SystolicTiming>(problem.arch().compute.timing);
  return systolic && tracked(problem, objective).ports
             ? std::optional(ArrayTime(skeleton, unrolled, costs))
             : std::nullopt;
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

// Without a limit all of them are needed.
Costs& prepared(Costs& costs, const Key& limit) {
  if (!(limit.first < kInfinity)) {
    costs.prepare();
  }
  return costs;
}

}  // namespace

Instance::Instance(const Skeleton& skeleton_in, Unrolled unrolled_in, const Objective& objective,
                   Key limit)
    : skeleton{skeleton_in},
      unrolled{std::move(unrolled_in)},
      costs(skeleton, unrolled, tracked(skeleton.problem(), objective)),
      array(array_time(skeleton, unrolled, costs, objective)),
      valuation(skeleton, objective, array ? array->without() : steps_cycles(skeleton, unrolled)),
      bound(skeleton, unrolled, prepared(costs, limit),
            hopeless(valuation, costs.components(), limit)) {
  if (array) {
    array_bound.emplace(skeleton, unrolled, costs, *array, bound);
  }
}

double Instance::compute_cycles(const Node& node, double entered) const {
  if (!array) {
    return valuation.compute_cycles();
  }
  const double least = std::min(entered, array_bound->at(node));
  return least < kInfinity ? least : array->without();
}

Key Instance::root() const {
  Key best;
  std::vector<double> values(costs.components());
  for (const std::size_t pointers : skeleton.starts()) {
    const Node start{0, pointers, unrolled.lattices.front().size() - 1};
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = bound.at(start, k);
    }
    best = std::min(best, valuation.key(values.data(), compute_cycles(start, kInfinity)));
  }
  return best;
}

}  // namespace mapsim::exact
