// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/block_parts.hpp"
#include "plan/blocks.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

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

// The move of a tensor from one server to another; null: there is none.
inline const Load* move_between(const PlanProblem& problem, std::size_t tensor, const Server& from,
                                const Server& to) {
  const auto& moves = problem.tensors[tensor].moves;
  const std::size_t index = from.place * problem.places + to.place;
  return may_pass(from, to) && index < moves.size() && moves[index] ? &*moves[index] : nullptr;
}

// Of times from each of n to each: the least over any others.
inline void close_ways(double* ways, std::size_t n) {
  for (std::size_t over = 0; over < n; ++over) {
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        ways[from * n + to] =
            std::min(ways[from * n + to], ways[from * n + over] + ways[over * n + to]);
      }
    }
  }
}

// The clocks on which an engine may convert a tensor: that of one of both servers, else any of its
// kind.
inline std::vector<std::size_t> converting_clocks(const std::vector<Server>& servers,
                                                  std::size_t engine, std::size_t from,
                                                  std::size_t to) {
  for (const std::size_t s : {from, to}) {
    if (servers[s].engine == engine) {
      return {servers[s].clock};
    }
  }
  std::vector<std::size_t> clocks;
  for (const Server& each : servers) {
    if (each.engine == engine &&
        std::find(clocks.begin(), clocks.end(), each.clock) == clocks.end()) {
      clocks.push_back(each.clock);
    }
  }
  return clocks;
}

// A group that runs, or a tensor that is converted, on a clock.
struct Task {
  std::optional<std::size_t> choice{};  // nullopt: the move
  std::size_t server = 0;               // that runs the group; of a move, where the tensor goes
  std::size_t tensor = 0, from = 0;     // of a move: what, and the server that has it
  double start = 0, finish = 0;         // [s] from the start of the block
  std::size_t clock = 0;                // that the group or the conversion keeps busy
};

// Of one block, by the place that makes the tensor at its end (at the end of the network: place 0).
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
