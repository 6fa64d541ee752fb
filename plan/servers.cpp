// SPDX-License-Identifier: Apache-2.0
#include "plan/servers.hpp"

#include <algorithm>

namespace mapsim {

std::vector<Server> servers_of(const std::vector<std::size_t>& engine_of,
                               const std::vector<std::int64_t>& counts) {
  std::vector<std::size_t> first_clock;
  std::size_t clocks = 0;
  for (const std::int64_t count : counts) {
    first_clock.push_back(clocks);
    clocks += static_cast<std::size_t>(count);
  }
  std::vector<Server> servers;
  for (std::size_t place = 0; place < engine_of.size(); ++place) {
    const std::size_t engine = engine_of[place];
    for (std::size_t copy = 0; copy < static_cast<std::size_t>(counts[engine]); ++copy) {
      servers.push_back({place, engine, copy, first_clock[engine] + copy});
    }
  }
  return servers;
}

bool may_pass(const Server& from, const Server& to) {
  return from.engine == to.engine ? from.copy == to.copy && from.place != to.place : true;
}

const Load* move_of(const PlanProblem& problem, std::size_t tensor, std::size_t from,
                    std::size_t to) {
  const auto& moves = problem.tensors[tensor].moves;
  const std::size_t index = from * problem.places + to;
  return index < moves.size() && moves[index] ? &*moves[index] : nullptr;
}

const Load* move_between(const PlanProblem& problem, std::size_t tensor, const Server& from,
                         const Server& to) {
  return may_pass(from, to) ? move_of(problem, tensor, from.place, to.place) : nullptr;
}

void close_ways(double* ways, std::size_t n) {
  for (std::size_t over = 0; over < n; ++over) {
    for (std::size_t from = 0; from < n; ++from) {
      for (std::size_t to = 0; to < n; ++to) {
        ways[from * n + to] =
            std::min(ways[from * n + to], ways[from * n + over] + ways[over * n + to]);
      }
    }
  }
}

std::vector<std::size_t> converting_clocks(const std::vector<Server>& servers, std::size_t engine,
                                           std::size_t from, std::size_t to) {
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

}  // namespace mapsim
