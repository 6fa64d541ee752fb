// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/block_search.hpp"
#include "plan/plan_types.hpp"

namespace mapsim {

// A schedule of one frame with engines at work at the same time.
struct AtOnce {
  std::vector<Server> servers;
  std::vector<Task> tasks;  // in the order of their starts
  double value = 0;         // [s]; never: none was found, or none faster than what was known
  double bound = 0;         // no schedule of these groups at these prices is faster
  std::size_t blocks = 0;
  std::size_t nodes = 0;
};

// The fastest schedule: exact at cut tensors, where blocks join by the place of the tensor between
// them (min-plus products), and a search inside of each block. `most_nodes`: of a block, in one
// round. `known`: the time of a plan that is already found; only a faster one is searched for.
AtOnce schedule_at_once(const PlanProblem& problem, const std::vector<Server>& servers,
                        std::size_t most_nodes, double known = kNever);

// The schedule as a plan: groups by their starts, each with the moves that were made for it.
Plan plan_of(const PlanProblem& problem, const AtOnce& schedule, std::size_t engines);

}  // namespace mapsim
