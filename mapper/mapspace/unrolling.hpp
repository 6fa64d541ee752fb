// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/rules.hpp"

namespace mapsim {

// May `dim` be unrolled along an axis with this constraint?
bool may_unroll(const Workload& workload, const AxisConstraint& constraint, DimId dim);

// One unrolled dim of a fanout axis: `factor` instances side by side along it.
struct Unroll {
  DimId dim{};
  FanoutId fanout{};
  Axis axis = Axis::kX;
  std::int64_t factor = 1;  // > 1; in Constraints, 1 names an axis that stays idle
  friend bool operator==(const Unroll&, const Unroll&) = default;
};

// A whole spatial unrolling: fanouts in order, X before Y, dims in order, every factor > 1.
using Unrolling = std::vector<Unroll>;

// What is fixed about unrollings. A fanout that `given` names is fixed to what it says; the others
// are free but for their rules.
struct UnrollingLimits {
  const std::optional<Unrolling>& given;
  const std::vector<UnrollRule>& rules;
  // Also factors that divide no bound: for n = 1, 2, ... ceil(bound / n) instances.
  bool remainders = false;
};

// The unrollings that differ only in which axis takes which factor. Costs do not depend on that,
// unless hops cost something: then each is a class of its own.
struct UnrollingClass {
  PerFanout<PerDim<std::int64_t>> factors;  // instances per dim, both axes together
  std::int64_t assignments = 0;             // ways to give the factors to the axes, >= 1
  Unrolling first;                          // the first of them
};

// What one fanout may do, whatever the others do.
struct FanoutChoice {
  PerDim<std::int64_t> factors;  // instances per dim, both axes together
  std::int64_t instances = 1;    // their product
  std::int64_t assignments = 0;  // ways to give the factors to the axes, >= 1
  Unrolling first;               // the first of them
  std::size_t rank = 0;  // where the factors stand in the list of all that the fanout may have
  std::size_t assignment_rank = 0;  // where costs depend on the axes: of `first` among the ways
};

// All choices of a fanout, in a fixed order. Where costs depend on the axes each way to give
// factors to them is a choice of its own.
std::vector<FanoutChoice> choices_of(const Problem& problem, FanoutId fanout,
                                     const UnrollingLimits& limits);

// Those with the fewest instances first, of equally many in the order that they have. Classes are
// large, so that each is moved once.
std::vector<UnrollingClass> by_instances(std::vector<UnrollingClass> classes);

// The members of a class, `unrolling_class.first` first.
std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        const UnrollingClass& unrolling_class);

// What is left of each dim for temporal loops: its bound / its factors; imperfect: at least.
PerDim<std::int64_t> temporal_bounds(const Workload& workload,
                                     const UnrollingClass& unrolling_class);

}  // namespace mapsim
