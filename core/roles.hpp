// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "core/edit_distance.hpp"
#include "core/index.hpp"

namespace mapsim {

// What a tensor is to the hardware. Architectures speak of roles, so that one description serves
// every einsum; a workload gives each of its tensors one.
enum class Role : std::uint8_t { kInput, kWeight, kOutput };
using RoleSet = IdSet<Role>;
inline constexpr RoleSet kAllRoles{Role::kInput, Role::kWeight, Role::kOutput};

// A dimension by the operands it indexes, in the words of the (implicit) GEMM: m = {input, output},
// n = {weight, output}, k = every reduction dim, batch = {input, weight, output}.
enum class GemmAxis : std::uint8_t { kM, kN, kK, kBatch };

const char* to_string(Role role);
const Words& role_words();             // "input", "weight", "output", in the order of Role
const char* to_string(GemmAxis axis);  // "gemm_m", "gemm_n", "gemm_k", "gemm_batch"

}  // namespace mapsim
