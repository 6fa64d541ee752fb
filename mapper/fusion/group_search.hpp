// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/fusion/group_options.hpp"

namespace mapsim::fusion {

struct GroupPlan {
  double value = exact::kInfinity;  // of the objective
  double energy = 0;                // of a front: [pJ]
  double cycles = 0;                // ... and its latency
  LevelId level{};                  // of scopes and shared keeps
  Interface interface;
  std::vector<SharedKeep> keeps;
  std::vector<std::vector<MappingNode>> branches;  // per einsum
};

struct GroupStatistics {
  std::int64_t classes = 0;     // of interfaces with equal loops, listed
  std::int64_t interfaces = 0;  // of those classes that were opened, entered
};

// A group that shares so many loops at most. What is no better than `limit`, by the optima's
// objective, is not looked for. All outlives the search.
struct GroupQuery {
  const Arch& arch;
  const EinsumChain& chain;
  const Group& group;
  const Surroundings& surroundings;
  std::size_t most_loops = 0;
  double limit = exact::kInfinity;
};

// The best within the optima's deadline, or OutOfBudget. nullopt: there is nothing. Throws
// UnsupportedSearch where there are too many classes to list.
std::optional<GroupPlan> search_group(const GroupQuery& query, BranchOptima& optima,
                                      GroupStatistics& statistics);
// All whose energy and latency no other one has, or less. The objective counts time.
std::vector<GroupPlan> search_group_front(const GroupQuery& query, BranchOptima& optima,
                                          GroupStatistics& statistics);

}  // namespace mapsim::fusion
