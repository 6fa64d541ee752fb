// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "costmodel/problem.hpp"
#include "mapper/graph/parts.hpp"

namespace mapsim::fusion {

// Bits that are taken of each capacity (a level's, or its partition for a role), in the order of
// capacities_of().
using Taken = std::vector<double>;

struct CapacityOf {
  LevelId level{};
  std::optional<Role> role;
  double bits = exact::kInfinity;  // that tiles may use, in one instance
};
// The capacities in the order of StateGraph::capacities().
std::vector<CapacityOf> capacities_of(const Arch& arch);

// The machine with its capacities reduced by what is taken.
Arch with_less(const Arch& arch, const std::vector<CapacityOf>& capacities, const Taken& taken);

// Adds the bits that a tensor of this role takes of the level.
void take(const std::vector<CapacityOf>& capacities, LevelId level, Role role, double bits,
          Taken& taken);
bool fits(const std::vector<CapacityOf>& capacities, const Taken& taken);
Taken operator+(const Taken& a, const Taken& b);

}  // namespace mapsim::fusion
