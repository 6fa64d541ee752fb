// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "arch/capacities.hpp"

namespace mapsim {

// Bits of each capacity, in the order of capacities_of(), that are occupied by tensors held around
// a branch while it runs.
using TakenBits = std::vector<double>;

// The machine with its capacities reduced by `taken`.
Arch with_less(const Arch& arch, const TakenBits& taken);
// Adds the bits that a tensor of this role takes of the level.
void take(const std::vector<FiniteCapacity>& capacities, LevelId level, Role role, double bits,
          TakenBits& taken);
bool fits(const std::vector<FiniteCapacity>& capacities, const TakenBits& taken);
TakenBits sum_of(TakenBits a, const TakenBits& b);
bool takes_no_less(const TakenBits& a, const TakenBits& b);  // of any capacity

}  // namespace mapsim
