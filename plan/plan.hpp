// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/buffers.hpp"
#include "plan/options.hpp"
#include "plan/plan_types.hpp"
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

using Prices = std::vector<std::vector<Price>>;  // by group and engine

struct PlanAnswer {
  Operations operations;  // refers to the graph of the network
  Groups groups;          // of the last pass
  Prices prices;
  std::vector<PlanPass> passes;
  Plan plan;
  std::vector<EngineAlone> alone;  // by engine
  // Each group on the engine that is best for it without moves, moves added.
  std::optional<Load> greedy{};
  double free_moves = 0;    // of the objective [s, pJ]: the best plan if tensors moved for nothing
  MemoryMap memory;         // of the plan's tensors
  std::vector<Plan> front;  // corners of the convex front (plan/front.hpp), if asked for
  std::vector<std::string> unpriced;  // operations that are in no sum
  std::int64_t searches = 0;          // of layers
  bool proven = true;                 // nothing of these groups and prices is better
};

// The best plan of a network, which is a graph, on a chip. Throws ConfigError where an operation
// runs on no engine, or a tensor has no way; about `network_file` and `soc_file`.
PlanAnswer make_plan(const Soc& soc, const Network& network, const PlanOptions& options,
                     const std::string& soc_file, const std::string& network_file);

std::string plan_text(const Soc& soc, const Network& network, const PlanOptions& options,
                      const PlanAnswer& answer);
std::string plan_json(const Provenance& origin, const Soc& soc, const Network& network,
                      const PlanOptions& options, const PlanAnswer& answer);

// The plan in time as trace events of Chrome, which Perfetto shows: an engine is a row, transitions
// another, and what tensors take in memory a counter.
std::string plan_trace(const Soc& soc, const Network& network, const PlanAnswer& answer);

}  // namespace mapsim
