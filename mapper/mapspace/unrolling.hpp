// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
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
  bool one_axis = false;  // a free fanout has a dim on one of its axes at most
};

// A class: unrollings that differ only in which axis takes which factor. Costs do not depend on
// that, unless hops cost energy; then each unrolling is a class of its own.
struct UnrollingClass {
  PerFanout<PerDim<std::int64_t>> factors;  // instances per dim, both axes together
  std::int64_t assignments = 0;             // ways to give the factors to the axes, >= 1
  Unrolling first;                          // the first of them
};

// How one fanout is used, independently of the others.
struct FanoutChoice {
  PerDim<std::int64_t> factors;  // instances per dim, both axes together
  std::int64_t instances = 1;    // their product
  std::int64_t assignments = 0;  // ways to give the factors to the axes, >= 1
};

// Takes the choices of a fanout one by one, as they are found dim by dim.
struct ChoiceVisitor {
  // Is a choice of interest whose first `dims` dims have these factors? The others may have any,
  // with at most `left` instances together.
  std::function<bool(const PerDim<std::int64_t>& factors, std::size_t dims, std::int64_t left)>
      enter;
  std::function<void(const FanoutChoice&)> take;
};
// Visits the choices of a fanout in a fixed order.
void visit_choices(const Problem& problem, FanoutId fanout, const UnrollingLimits& limits,
                   const ChoiceVisitor& visitor);
// All choices of a fanout in this order. Throws UnsupportedSearch if there are too many.
std::vector<FanoutChoice> choices_of(const Problem& problem, FanoutId fanout,
                                     const UnrollingLimits& limits);

// Sorts classes by number of instances, fewest first, stably. Classes are large, so each is moved
// only once.
std::vector<UnrollingClass> by_instances(std::vector<UnrollingClass> classes);

// The unrolling as a constraint that names all fanouts: those that it does not use stay idle.
Unrolling with_idle_fanouts(Unrolling unrolling, const Arch& arch);

// The ways to give factors to the axes of a fanout, in a fixed order.
std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        FanoutId fanout, const PerDim<std::int64_t>& factors);
// The first of them; there must be one.
Unrolling first_assignment(const Problem& problem, const UnrollingLimits& limits, FanoutId fanout,
                           const PerDim<std::int64_t>& factors);
// The members of a class, `unrolling_class.first` first.
std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        const UnrollingClass& unrolling_class);

// The bound of each dim that is left to temporal loops: bound / factors; imperfect factors: a lower
// bound.
PerDim<std::int64_t> temporal_bounds(const Workload& workload,
                                     const UnrollingClass& unrolling_class);

}  // namespace mapsim
