// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "arch/arch.hpp"

namespace mapsim {

// A limited capacity: that of a level or, if the level is partitioned, of one role.
struct FiniteCapacity {
  LevelId level{};
  std::optional<Role> role;
  Bits bits{0};  // usable by tiles, in one instance: half of a double-buffered level's size
};
// All limited capacities, outermost level first; partitions in the order of roles.
std::vector<FiniteCapacity> capacities_of(const Arch& arch);

// The size [b] of a level, or of its partition for a role, in the architecture.
Bits& size_of(Storage& level, std::optional<Role> role);

}  // namespace mapsim
