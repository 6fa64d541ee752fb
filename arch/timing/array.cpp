// SPDX-License-Identifier: Apache-2.0
#include "arch/timing/array.hpp"

#include <variant>

namespace mapsim {

std::optional<FanoutId> array_of(const Arch& arch) {
  return std::visit(
      [](const auto& timing) -> std::optional<FanoutId> {
        if constexpr (requires { timing.array; }) {
          return timing.array;
        } else {
          return std::nullopt;
        }
      },
      arch.compute.timing);
}

bool is_in_array(const Arch& arch, LevelId level) {
  const std::optional<FanoutId> array = array_of(arch);
  return array && !arch.is_above(level, *array);
}

RoleSet roles_in_array(const Arch& arch, FanoutId array) {
  RoleSet roles = arch.compute.register_reuse;
  for (const LevelId l : arch.levels.ids()) {
    roles = arch.is_above(l, array) ? roles : roles | arch.levels[l].keep;
  }
  return roles;
}

}  // namespace mapsim
