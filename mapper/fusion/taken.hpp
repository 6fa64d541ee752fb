// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "costmodel/problem.hpp"
#include "mapper/graph/parts.hpp"

namespace mapsim::fusion {

// Bits that are taken of each capacity: a level's, or the partition of a role. In the order of
// capacities_of().
using Taken = std::vector<double>;

struct CapacityOf {
  LevelId level{};
  std::optional<Role> role;
  double bits = exact::kInfinity;  // of one instance, that tiles may use
};
// As StateGraph::capacities() has them.
std::vector<CapacityOf> capacities_of(const Arch& arch);

// The machine without what is taken.
Arch with_less(const Arch& arch, const std::vector<CapacityOf>& capacities, const Taken& taken);

// Adds what a tensor of this role takes of the level.
void take(const std::vector<CapacityOf>& capacities, LevelId level, Role role, double bits,
          Taken& taken);
bool fits(const std::vector<CapacityOf>& capacities, const Taken& taken);
Taken operator+(const Taken& a, const Taken& b);

}  // namespace mapsim::fusion
