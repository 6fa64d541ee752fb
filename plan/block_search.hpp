// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_parts.hpp"
#include "plan/servers.hpp"

namespace mapsim {

// A group that runs, or a tensor that is converted, on a clock.
struct Task {
  std::optional<std::size_t> choice{};  // nullopt: the move
  std::size_t server = 0;               // that runs the group; of a move, where the tensor goes
  std::size_t tensor = 0, from = 0;     // of a move: what, and the server that has it
  double start = 0, finish = 0;         // [s] from the start of the block
  std::size_t clock = 0;                // that the group or the conversion keeps busy
};

// The answer for one block and one place that makes its last tensor (last block: place 0).
struct BlockEnd {
  double value = kNever;  // [s]; never: impossible, or another place and a move are as fast
  double bound = kNever;  // nothing is faster, and less than the limit
  std::vector<Task> tasks{};
};

// The fastest schedules of a block, from the moment at which its first tensor is on server `in`
// and nothing runs.
//
// Branch and bound over append schedules: a node appends a group, or the conversion of a tensor, to
// what its server does (bounds: plan/block_bound.hpp). Two nodes may have run the same operations
// and have tensors in the same places. Then the one that is nowhere earlier is dropped. After
// `most_nodes` nodes, open nodes count by their bounds. Only what ends before limits[place] is
// looked for: no bound is above it. After `end` open nodes count likewise, once there is a schedule
// or a limit.
struct BlockAnswer {
  std::vector<BlockEnd> ends;  // by place
  std::size_t nodes = 0;
};
BlockAnswer search_block(const PlanProblem& problem, const std::vector<Server>& servers,
                         const PlanBlock& block, std::size_t in, const std::vector<double>& limits,
                         std::size_t most_nodes, PlanSearches::Clock::time_point end);

}  // namespace mapsim
