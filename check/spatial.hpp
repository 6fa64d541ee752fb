// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

using SpatialFactors = PerFanout<PerDim<std::int64_t>>;  // instances per dim, both axes together

// Spatial unrollings that differ only in which axis takes which factor. They cost the same, unless
// hops cost energy; then each stands alone, and `axes` says which one it is.
struct Unrolling {
  SpatialFactors factors;
  PerFanout<Rules::AxisFactors> axes;
  std::int64_t assignments = 0;  // ways to give the factors to the axes, >= 1
};

// The unrollings of one fanout; each may go with any of the other fanouts that the bounds allow.
std::vector<Unrolling> list_choices(const Problem& problem, const Rules& rules, FanoutId fanout);

// Every unrolling of the space, each once.
std::vector<Unrolling> list_unrollings(const Problem& problem, const Rules& rules);

// The tensors that may stay in a systolic array while the others move, each along an axis of its
// own (docs/systolic.md). nullopt: there is no such array.
std::optional<TensorSet> may_stay_in_array(const Problem& problem, const Unrolling& unrolling);

// "PEs: K 16, C 2" or, where the axes matter, "PEs: X K 16, Y C 2"
std::string unrolling_text(const Problem& problem, const Unrolling& unrolling);

// The bound of each dim that is left for temporal loops; with imperfect factors a lower bound.
PerDim<std::int64_t> temporal_bounds(const Workload& workload, const SpatialFactors& factors);

}  // namespace mapsim::check
