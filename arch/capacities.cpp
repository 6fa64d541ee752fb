// SPDX-License-Identifier: Apache-2.0
#include "arch/capacities.hpp"

#include "arch/buffering.hpp"

namespace mapsim {

std::vector<FiniteCapacity> capacities_of(const Arch& arch) {
  std::vector<FiniteCapacity> capacities;
  for (const LevelId l : arch.levels.ids()) {
    const auto add = [&](std::optional<Role> role, Bits size) {
      capacities.push_back({l, role, Bits{size.count() / copies_of(arch.levels[l])}});
    };
    const Capacity& capacity = arch.levels[l].capacity;
    if (capacity.shared) {
      add(std::nullopt, *capacity.shared);
    }
    for (const auto& [role, size] : capacity.per_role) {
      add(role, size);
    }
  }
  return capacities;
}

Bits& size_of(Storage& level, std::optional<Role> role) {
  Capacity& capacity = level.capacity;
  if (!role && !capacity.shared) {
    capacity.shared = Bits{0};
  }
  return role ? capacity.per_role[*role] : *capacity.shared;
}

}  // namespace mapsim
