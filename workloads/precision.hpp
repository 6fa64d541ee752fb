// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/roles.hpp"
#include "core/units.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Widths of elements. What is not given: operands 8 b, the output as wide as the widest operand,
// partial sums as wide as the output.
struct Precision {
  std::map<Role, Bits> roles;
  std::map<std::string, Bits> tensors;  // by name; wins over the role
  std::optional<Bits> partial;
};

inline constexpr Bits kMaxElementBits{128};  // counts times widths stay within 64 bits

// Sets the widths of all tensors. False, and nothing set, if partial sums were narrower than the
// output.
bool apply(const Precision& precision, Workload& workload);

// The same, for factories: throws std::invalid_argument.
void apply_or_throw(const Precision& precision, Workload& workload);

}  // namespace mapsim
