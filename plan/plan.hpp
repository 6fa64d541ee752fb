// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/block_search.hpp"
#include "plan/buffers.hpp"
#include "plan/limits.hpp"
#include "plan/options.hpp"
#include "plan/places.hpp"
#include "plan/plan_types.hpp"
#include "plan/shortest_path.hpp"
#include "plan/soc.hpp"
#include "report/json.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// The best plan when no more than this is fused.
struct PlanPass {
  Fusion fusion = Fusion::kNone;
  Load total{};
};

// All of the network on one engine, or why that is impossible.
struct EngineAlone {
  std::optional<Load> total{};
  std::string problem{};
};

using Prices = std::vector<std::vector<Price>>;  // by group and place

// What engines at work at the same time gain, for one frame.
struct AtOnceAnswer {
  double latency = 0;  // [s]
  double bound = 0;    // no schedule of these groups at these prices is faster
  std::size_t blocks = 0;
  std::size_t nodes = 0;  // of the searches inside blocks
  std::vector<Server> servers{};
  std::vector<Task> tasks{};  // of the schedule; none: the plan in turn is as fast
};

// The best plan on another chip.
struct WhatIf {
  std::string what;
  Load total{};
  std::vector<double> busy;  // by engine [s]
};

struct PlanAnswer {
  std::vector<Place> places;
  Versions versions;      // of the network, by place
  Operations operations;  // of the first place
  Groups groups;          // of the last pass
  Prices prices;
  PlanProblem problem;  // of the last pass
  std::vector<PlanPass> passes;
  Plan plan;
  std::string misfit;             // why no plan keeps the limits; empty: this one does
  bool is_limited = false;        // the chip's memory is too small for the best plan
  std::vector<PlanLimit> limits;  // on latency and power that the best plan does not keep by itself
  std::vector<double> multipliers;  // of these limits (plan/limits.hpp)
  bool is_tie_open = false;         // between plans that take as much, within the limits
  bool is_within_memory = false;    // a better plan takes too much memory
  // Then `bound` is about plans whose tensors take no more at least (plan/needs.hpp) [B].
  std::optional<double> most_least{};
  double bound = 0;             // of the objective, under the limits: no plan has less [s, pJ]
  std::optional<Plan> given{};  // the plan that was made elsewhere
  double in_turn = 0;           // latency of the best plan whose groups run one after the other [s]
  std::optional<AtOnceAnswer> at_once{};
  std::vector<WhatIf> what_if;
  std::vector<EngineAlone> alone;  // by engine
  // Each group on the engine that is best for it without moves, moves added.
  std::optional<Load> greedy{};
  double free_moves = 0;  // of the objective [s, pJ]: the best plan if tensors moved for nothing
  MemoryMap memory;       // of the plan's tensors
  // [B] of constants that its groups read, in their precisions; they lie beside the tensors.
  std::int64_t weights = 0;
  std::vector<Plan> front;            // corners of the convex front (plan/front.hpp), if asked for
  std::vector<std::string> unpriced;  // operations that are in no sum
  LayerSearches searches;             // behind the prices
  bool proven = true;      // nothing of these groups is better, as far as prices are the least
  double clock_share = 1;  // of the full clock of GPUs: all figures are at this clock
  // [W]: what the best plan would draw at the full clock, where a limit on power lowers it.
  double full_clock_power = 0;
};

// The best plan of a network, which is a graph, on a chip, whose GPUs lower their clock at a limit
// on power (plan/clock.hpp). Throws ConfigError where an operation runs on no engine, or a tensor
// has no way; about `network_file` and `soc_file`.
PlanAnswer make_plan(const Soc& soc, const Network& network, const PlanOptions& options,
                     const std::string& soc_file, const std::string& network_file);

// The best plans if transitions, launches or the memory were faster; of so many chips, or those
// that there is time for.
std::size_t count_what_ifs(const Soc& soc);
std::vector<WhatIf> what_if(const Soc& soc, const Network& network, PlanOptions options,
                            const std::string& soc_file, const std::string& network_file);

// The price of steps of an answer's problem, one after the other.
Plan plan_of(const PlanAnswer& answer, std::vector<PlanStep> steps);

// What a plan is to have least of, and what decides between plans that are equal in it.
Weights weights_of(PlanObjective objective);
Weights ties_of(PlanObjective objective);
// The most mean power that a plan may take, by the chip and the options [W].
std::optional<double> power_limit(const Soc& soc, const PlanOptions& options);

std::string plan_text(const Soc& soc, const Network& network, const PlanOptions& options,
                      const PlanAnswer& answer);
std::string plan_json(const Provenance& origin, const Soc& soc, const Network& network,
                      const PlanOptions& options, const PlanAnswer& answer);
// The same where no plan keeps the limits, and why.
std::string no_plan_json(const Provenance& origin, const Soc& soc, const Network& network,
                         const PlanOptions& options, const std::string& misfit);

// The plan in time as trace events of Chrome, which Perfetto shows: an engine is a row, transitions
// another, and what tensors take in memory a counter.
std::string plan_trace(const Soc& soc, const Network& network, const PlanAnswer& answer);

// A page with the timeline, the memory map and tables.
std::string plan_page(const Soc& soc, const Network& network, const PlanOptions& options,
                      const PlanAnswer& answer);

// What an independent checker needs to prove that nothing is better (mapsim check), or, with
// engines at once and where a better plan takes too much memory, how much better it may be. There
// is none for both together, nor else where it is not known what is best.
bool has_certificate(const PlanOptions& options, const PlanAnswer& answer);
std::string plan_certificate(const Soc& soc, const Network& network, const PlanOptions& options,
                             const PlanAnswer& answer);

}  // namespace mapsim
