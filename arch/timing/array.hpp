// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "arch/arch.hpp"

namespace mapsim {

// The array of the timing model, if it has one.
std::optional<FanoutId> array_of(const Arch& arch);
// Is a level behind it? No, without one.
bool is_in_array(const Arch& arch, LevelId level);
// Roles that cannot but stay in an array: kept behind it, or latched at the compute units.
RoleSet roles_in_array(const Arch& arch, FanoutId array);

}  // namespace mapsim
