// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plan/blocks.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// One of the machines of a chip: engines that are there several times are several servers.
struct Server {
  std::size_t place = 0;  // of the problem: what its groups and tensors are priced for
  std::size_t engine = 0;
  std::size_t copy = 0;   // of this engine
  std::size_t clock = 0;  // servers of one clock do one thing at a time
};

// Whether a tensor can go from the one to the other: nothing is known of ways between two engines
// of one kind, so that there are none.
inline bool may_pass(const Server& from, const Server& to) {
  return from.engine == to.engine ? from.copy == to.copy && from.place != to.place : true;
}

// A group that runs, or a tensor that is converted, on a clock.
struct Task {
  std::optional<std::size_t> choice{};  // nullopt: the move
  std::size_t server = 0;               // that runs the group; of a move, where the tensor goes
  std::size_t tensor = 0, from = 0;     // of a move: what, and the server that has it
  double start = 0, finish = 0;         // [s] from the start of the block
};

// Of one block, by the place that makes the tensor at its end (at the end of the network: place 0).
struct BlockEnd {
  double value = kNever;  // [s]; never: impossible, or another place and a move are as fast
  double bound = kNever;  // nothing is faster
  std::vector<Task> tasks{};
};

// The fastest schedules of a block, from the moment at which its first tensor is on server `in`
// and nothing runs.
//
// Branch and bound over append schedules: a node appends a group, or the conversion of a tensor, to
// what its server does. A node has two bounds: the longest path from an operation that has not run
// to the end, begun when its inputs are there; and the work that is left, shared among all servers.
// Two nodes may have run the same operations and have tensors in the same places. Then the one that
// is nowhere earlier is dropped. After `most_nodes` nodes, open nodes count by their bounds.
struct BlockAnswer {
  std::vector<BlockEnd> ends;  // by place
  std::size_t nodes = 0;
};
BlockAnswer search_block(const PlanProblem& problem, const std::vector<Server>& servers,
                         const PlanBlock& block, std::size_t in, std::size_t most_nodes);

}  // namespace mapsim
