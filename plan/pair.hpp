// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

// What a network does next, on its own clock: it occupies an engine for a while, or waits.
struct PairTask {
  std::optional<std::size_t> engine{};  // nullopt: it waits
  double start = 0, end = 0;            // [s], if it had the chip to itself
  friend bool operator==(const PairTask&, const PairTask&) = default;
};

// The least time until two sequences of tasks are both done, where no engine does two things at a
// time, and when each task starts. Exact (Akers 1956): the two clocks span a plane in which tasks
// of one engine are forbidden rectangles, and the best schedule is a shortest path that leaves the
// diagonal at their corners only.
struct PairSchedule {
  double makespan = 0;
  std::array<std::vector<double>, 2> starts;  // by task
};
PairSchedule schedule_pair(const std::vector<PairTask>& a, const std::vector<PairTask>& b);

// Of two lists of plans, each a sequence of tasks, the two that are both done first.
struct BestPair {
  std::size_t first = 0, second = 0;
  double makespan = 0;    // [s]
  std::size_t tried = 0;  // number of pairs tried
};
// At time `end` it stops with the best pair tried; it tries at least one.
BestPair best_pair(const std::vector<std::vector<PairTask>>& first,
                   const std::vector<std::vector<PairTask>>& second,
                   PlanSearches::Clock::time_point end);

// Two networks, a frame (or a batch) of each from the same moment, each with its groups one after
// the other.
struct PairAnswer {
  std::array<PlanAnswer, 2> networks;  // each with the chip to itself
  std::array<Plan, 2> plans;           // with starts, if run with the other
  double makespan = 0;                 // [s] until both are done
  double bound = 0;                    // no plans of these groups at these prices are done before
  double rate = 0;        // frames of each a second, with many of both in flight (linear program)
  std::size_t tried = 0;  // pairs of plans
  std::size_t pairs = 0;  // there are
  // For comparison: one network behind the other, on the engine that is best for both.
  struct InTurn {
    std::string engine;
    double makespan = 0;
  };
  std::vector<InTurn> in_turn;
};
PairAnswer make_pair_plan(const Soc& soc, const std::array<const Network*, 2>& networks,
                          const PlanOptions& options, const std::string& soc_file,
                          const std::array<std::string, 2>& network_files);

std::string pair_text(const Soc& soc, const std::array<const Network*, 2>& networks,
                      const PairAnswer& answer);
std::string pair_json(const Provenance& origin, const Soc& soc,
                      const std::array<const Network*, 2>& networks, const PairAnswer& answer);

}  // namespace mapsim
