// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "plan/shortest_path.hpp"

namespace mapsim {

// Operations between two cut tensors. At a cut tensor exactly one tensor is alive: everything
// before it is needed to make it, everything behind it needs it, and no group lies across. So
// nothing behind it can start before everything in front has ended.
struct PlanBlock {
  std::size_t begin = 0, end = 0;          // operations, in the order of the problem
  std::optional<std::size_t> in{}, out{};  // cut tensors; nullopt: at the ends of the network
};

// The network cut at every cut tensor.
std::vector<PlanBlock> blocks_of(const PlanProblem& problem);

// By tensor: the operation that makes it.
std::vector<std::optional<std::size_t>> producers_of(const PlanProblem& problem);

}  // namespace mapsim
