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
  ScopeLevels levels;               // all decided
  Interface interface;
  std::vector<SharedKeep> keeps;
  std::vector<std::vector<MappingNode>> branches;  // per einsum
};

struct GroupStatistics {
  std::int64_t classes = 0;     // classes of interfaces with equal loops that were listed
  std::int64_t interfaces = 0;  // interfaces in the classes that were opened
};

// A group, the most loops that it may share, and where it may keep tensors (none: anywhere). Plans
// that are no better than `limit`, by the objective of the optima, are pruned. All members outlive
// the search.
struct GroupQuery {
  const Arch& arch;
  const EinsumChain& chain;
  const Group& group;
  const Surroundings& surroundings;
  std::size_t most_loops = 0;
  std::optional<LevelId> only_level;
  double limit = exact::kInfinity;
};

// The best plan. nullopt: there is none. Throws OutOfBudget at the optima's deadline, and
// UnsupportedSearch if there are too many classes to list.
std::optional<GroupPlan> search_group(const GroupQuery& query, BranchOptima& optima,
                                      GroupStatistics& statistics);
// The front of energy and latency. The objective includes latency.
std::vector<GroupPlan> search_group_front(const GroupQuery& query, BranchOptima& optima,
                                          GroupStatistics& statistics);

}  // namespace mapsim::fusion
