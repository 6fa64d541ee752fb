// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "check/fused_bound.hpp"

namespace mapsim::check {

// The rest of a chain, as far as it matters to its einsums first .. last while they run as one
// group: the levels of their inputs, and the capacity that others take.
struct GroupContext {
  std::size_t first = 0;
  std::size_t last = 0;
  std::vector<PerTensor<LevelId>> sources;  // per einsum, of tensors from outside the group
  std::optional<bool> final_sums;           // of the last one's output
  TakenBits taken;
};

// A lower bound of a group's part of the sum, searched up to `enough`.
double bound_group(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                   const GroupContext& around, double enough, BranchBounds& bounds,
                   FusedBound& counts);

}  // namespace mapsim::check
