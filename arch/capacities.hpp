// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "arch/arch.hpp"

namespace mapsim {

// A capacity of limited size: a level's or, if the level is partitioned, that of a role.
struct FiniteCapacity {
  LevelId level{};
  std::optional<Role> role;
  Bits bits{0};  // that tiles may use, in one instance: half of a double-buffered level
};
// Outermost level first; partitions in the order of roles.
std::vector<FiniteCapacity> capacities_of(const Arch& arch);

// The size [b] of a level or of its partition for a role, as the architecture says it.
Bits& size_of(Storage& level, std::optional<Role> role);

}  // namespace mapsim
