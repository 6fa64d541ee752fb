// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/instance.hpp"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "core/caught.hpp"
#include "mapper/exact/alone.hpp"
#include "mapper/exact/dive.hpp"

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

// The most energy that what is known does not rule out: ports and edges can only add to the
// figures. Negative: there is none.
double most_energy(const Valuation& valuation, std::size_t components, const Incumbent& known,
                   double least_second) {
  std::vector<double> values(components);
  const auto is_beyond = [&](double energy) {
    values[0] = energy;
    const Key key = valuation.key(values.data());
    return known.rules_out(known.is_front() ? Key{key.first, std::max(key.second, least_second)}
                                            : key);
  };
  if (is_beyond(0)) {
    return -1;
  }
  double most = 0;
  double beyond = 1;
  while (!is_beyond(beyond)) {
    most = beyond;
    beyond *= 2;
    if (!(beyond < kInfinity)) {
      return kInfinity;
    }
  }
  while (true) {
    const double middle = most + (beyond - most) / 2;
    if (!(most < middle && middle < beyond)) {
      return most;
    }
    (is_beyond(middle) ? beyond : most) = middle;
  }
}

// Side by side, where there are threads: a dive needs only what is to go.
Dive dive_and_find_paid(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                        const Valuation& valuation, Alone& alone) {
  Dive found;
  Caught caught;
#pragma omp taskgroup
  {
#pragma omp task shared(found, skeleton, unrolled, costs, valuation, alone, caught)
    caught.run([&] { found = dive(skeleton, unrolled, costs, alone, valuation); });
    caught.run([&] { alone.find_paid(costs); });
  }
  caught.rethrow();
  return found;
}

// Of what is not ruled out. If nothing is known, of what may be better than what a dive finds.
Bound make_bound(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                 const Valuation& valuation, Incumbent known, bool may_dive, double least_second,
                 std::vector<bool> left_out, Dive& dived) {
  Bound::Scope scope;
  if (!left_out.empty()) {
    scope.reachable = skeleton.reachable_without(left_out);
  }
  const auto find_most = [&] {
    scope.most = known.points().empty()
                     ? kInfinity
                     : most_energy(valuation, costs.components(), known, least_second);
    return scope.most < kInfinity;
  };
  const bool is_limited = find_most();
  if (!left_out.empty()) {
    costs.leave_out(std::move(left_out));
  }
  may_dive = may_dive && known.points().empty() && !known.is_measured();
  if (is_limited ? !has_many_rows(skeleton) : !may_dive) {
    if (!is_limited || costs.components() > 1) {
      costs.prepare();  // components are found side by side
    }
    return Bound(skeleton, unrolled, costs, scope);
  }
  Alone alone(skeleton, unrolled, costs);
  if (may_dive) {
    dived = dive_and_find_paid(skeleton, unrolled, costs, valuation, alone);
    known.insert(dived.key);
    find_most();
  } else if (alone.root() <= scope.most) {
    alone.find_paid(costs);
  }
  if (scope.most < kInfinity) {
    scope.alone = &alone;
  }
  return Bound(skeleton, unrolled, costs, scope);
}

}  // namespace

bool is_ruled_out_by_energy(const Skeleton& skeleton, const Unrolled& unrolled,
                            const Objective& objective, const Incumbent& known,
                            std::vector<bool> left_out, double least_second) {
  const bool is_timed = skeleton.problem().is_timed_by_model();  // then only leakage is less
  const Valuation valuation(skeleton, objective, is_timed ? 0 : steps_cycles(skeleton, unrolled));
  Bound::Scope scope;
  scope.most = most_energy(valuation, 2 + skeleton.ports().size(), known, least_second);
  if (!left_out.empty()) {
    scope.reachable = skeleton.reachable_without(left_out);
  }
  Costs costs(skeleton, unrolled, {});
  if (!left_out.empty()) {
    costs.leave_out(std::move(left_out));
  }
  const Bound bound(skeleton, unrolled, costs, scope);
  return std::none_of(
      skeleton.starts().begin(), skeleton.starts().end(), [&](std::size_t pointers) {
        return bound.at({0, pointers, unrolled.lattices.front().size() - 1}, 0) < kInfinity;
      });
}

bool has_many_rows(const Skeleton& skeleton) {
  constexpr std::size_t kMany = 200;
  return skeleton.phases() * skeleton.pointers() >= kMany;
}

Instance::Instance(const Skeleton& skeleton_in, Unrolled unrolled_in, const Objective& objective,
                   const Incumbent& known, bool may_dive, std::vector<bool> left_out,
                   double least_second)
    : skeleton{skeleton_in},
      unrolled{std::move(unrolled_in)},
      costs(skeleton, unrolled, tracked(skeleton.problem(), objective)),
      array(array_time(skeleton, unrolled, costs, objective)),
      valuation(skeleton, objective, array ? array->without() : steps_cycles(skeleton, unrolled)),
      bound(make_bound(skeleton, unrolled, costs, valuation, known, may_dive && !array,
                       least_second, std::move(left_out), dived)) {
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
