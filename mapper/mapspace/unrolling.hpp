// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/rules.hpp"

namespace mapsim {

// May `dim` be unrolled along an axis with this constraint?
bool may_unroll(const Workload& workload, const AxisConstraint& constraint, DimId dim);

// The axes that no dim of the workload may be unrolled along, as warnings: "axis X of PEs takes Q,
// N: gemm_64x64x64 has none of them, so that the axis stays idle".
std::vector<std::string> idle_axes(const Problem& problem);

// One unrolled dim along an axis of a fanout: `factor` instances side by side.
struct Unroll {
  DimId dim{};
  FanoutId fanout{};
  Axis axis = Axis::kX;
  std::int64_t factor = 1;  // > 1; in Constraints, 1 names an axis that stays idle
  friend bool operator==(const Unroll&, const Unroll&) = default;
};

// A whole spatial unrolling: fanouts in order, X before Y, dims in order, every factor > 1.
using Unrolling = std::vector<Unroll>;

// Limits of unrollings. A fanout that `given` names is fixed by it; the others are free, apart from
// their rules.
struct UnrollingLimits {
  const std::optional<Unrolling>& given;
  const std::vector<UnrollRule>& rules;
  // Also factors that do not divide a bound: ceil(bound / n) instances, n = 1, 2, ...
  bool remainders = false;
};

// A class: unrollings that differ only in which axis takes which factor. Costs do not depend on
// that, unless hops cost energy; then each unrolling is a class of its own.
struct UnrollingClass {
  PerFanout<PerDim<std::int64_t>> factors;  // instances per dim, both axes together
  std::int64_t assignments = 0;             // ways to give the factors to the axes, >= 1
  Unrolling first;                          // the first of them
};

// A way to use one fanout, whatever the others do.
struct FanoutChoice {
  PerDim<std::int64_t> factors;  // instances per dim, both axes together
  std::int64_t instances = 1;    // their product
  std::int64_t assignments = 0;  // ways to give the factors to the axes, >= 1
  Unrolling first;               // the first of them
  std::size_t rank = 0;  // position of the factors in the list of all that the fanout may have
  // If costs depend on axes: position of `first` among the assignments
  std::size_t assignment_rank = 0;
};

// All choices of a fanout, in a fixed order. If costs depend on axes, each assignment of factors to
// axes is a choice of its own.
std::vector<FanoutChoice> choices_of(const Problem& problem, FanoutId fanout,
                                     const UnrollingLimits& limits);

// Sorts classes by number of instances, fewest first, stably. Classes are large, so each is moved
// only once.
std::vector<UnrollingClass> by_instances(std::vector<UnrollingClass> classes);

// The unrolling as a constraint that names all fanouts: those that it does not use stay idle.
Unrolling with_idle_fanouts(Unrolling unrolling, const Arch& arch);

// The members of a class, `unrolling_class.first` first.
std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        const UnrollingClass& unrolling_class);

// The bound of each dim that is left to temporal loops: bound / factors; imperfect factors: a lower
// bound.
PerDim<std::int64_t> temporal_bounds(const Workload& workload,
                                     const UnrollingClass& unrolling_class);

}  // namespace mapsim
