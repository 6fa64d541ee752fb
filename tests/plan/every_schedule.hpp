// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "plan/servers.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

// Engines of places that random problems have.
extern const std::vector<std::vector<std::size_t>> kEnginesOf;

// A graph of three to five operations on two or three kinds of engines, some of them twice, some
// with two formats of tensors. `engine_of`: by place.
// Tensors are converted on the first engine, or go over with a wait only. Each operation but some
// that start reads earlier ones, so that many of these graphs have cut tensors.
PlanProblem random_graph_problem(Rng& rng, const std::vector<std::size_t>& engine_of = {0, 1},
                                 std::size_t at_least = 0);
std::vector<Server> random_servers(const PlanProblem& problem,
                                   const std::vector<std::size_t>& engine_of, Rng& rng);

// The time of the fastest schedule, by trying every group and every conversion next, whatever came
// before: nothing is pruned and nothing cut. Never: there is none.
double best_of_all_schedules(const PlanProblem& problem, const std::vector<Server>& servers);

// A random graph, its servers and the time of its fastest schedule; nullopt: trying every schedule
// would take too long.
struct ComparedSchedules {
  PlanProblem problem;
  std::vector<std::size_t> engine_of;  // by place
  std::vector<Server> servers;
  double best = 0;
};
std::optional<ComparedSchedules> compared_schedules(std::uint64_t seed);

}  // namespace mapsim
