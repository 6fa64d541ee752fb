// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/shortest_path.hpp"

namespace mapsim {

// One of the machines of a chip: engines that are there several times are several servers.
struct Server {
  std::size_t place = 0;  // of the problem: what its groups and tensors are priced for
  std::size_t engine = 0;
  std::size_t copy = 0;   // of this engine
  std::size_t clock = 0;  // servers of one clock do one thing at a time
};

// One server for each copy of each engine; places of one engine share its clocks. `engine_of`: by
// place.
std::vector<Server> servers_of(const std::vector<std::size_t>& engine_of,
                               const std::vector<std::int64_t>& counts);

// Whether a tensor can go from the one to the other: nothing is known of ways between two engines
// of one kind, so that there are none.
bool may_pass(const Server& from, const Server& to);

// The move of a tensor from one place, or server, to another; null: there is none.
const Load* move_of(const PlanProblem& problem, std::size_t tensor, std::size_t from,
                    std::size_t to);
const Load* move_between(const PlanProblem& problem, std::size_t tensor, const Server& from,
                         const Server& to);

// Replaces the times of moves between n servers by the least ones, over any other servers.
void close_ways(double* ways, std::size_t n);

// The clocks on which an engine may convert a tensor: that of `from` or `to` if it is one of the
// engine's, else any of the engine's.
std::vector<std::size_t> converting_clocks(const std::vector<Server>& servers, std::size_t engine,
                                           std::size_t from, std::size_t to);

}  // namespace mapsim
