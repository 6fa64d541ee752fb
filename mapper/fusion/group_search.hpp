// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/fusion/group_model.hpp"

namespace mapsim::fusion {

// A tensor kept in the shared part, above the loops from `position` on.
struct SharedKeep {
  ChainTensor use;  // of the group's chain
  std::size_t position = 0;
};

struct GroupPlan {
  double energy = exact::kInfinity;  // [pJ]
  LevelId level{};                   // of scopes and shared keeps
  Interface interface;
  std::vector<SharedKeep> keeps;
  std::vector<std::vector<MappingNode>> branches;  // per einsum
};

struct GroupStatistics {
  std::int64_t classes = 0;     // of interfaces with equal loops, listed
  std::int64_t interfaces = 0;  // of those classes that were opened, entered
};

// The least energy of a group that shares so many loops at most, within the optima's deadline, or
// OutOfBudget. nullopt: nothing needs less than `limit`. Throws UnsupportedSearch where there are
// too many classes to list.
std::optional<GroupPlan> search_group(const Arch& arch, const EinsumChain& chain,
                                      const Group& group, const Surroundings& surroundings,
                                      std::size_t most_loops, double limit, BranchOptima& optima,
                                      GroupStatistics& statistics);

}  // namespace mapsim::fusion
