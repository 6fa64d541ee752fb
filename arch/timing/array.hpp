// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "arch/arch.hpp"

namespace mapsim {

// The fanout that is the array of the timing model, if it has one.
std::optional<FanoutId> array_of(const Arch& arch);
// Does a level lie inside of that array? Without an array, none does.
bool is_in_array(const Arch& arch, LevelId level);
// Roles whose tensors must stay in an array: kept inside of it, or latched at the compute units.
RoleSet roles_in_array(const Arch& arch, FanoutId array);

}  // namespace mapsim
