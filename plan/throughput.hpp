// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

// One of the plans among which the frames of a stream are divided.
struct PlanShare {
  double rate = 0;  // frames a second that take it
  Plan plan;        // by the frame
};

// A resource that limits a stream: an engine's time, the memory's bandwidth, or power.
struct StreamLimit {
  std::string name;     // of the engine; "memory", "power"
  std::string unit;     // of `capacity`: "" (engines), "GB/s", "W"
  double capacity = 0;  // in this unit
  double used = 0;      // share of the capacity
  double gain = 0;      // more frames a second per unit more, for small changes
};

// A stream of frames, many in flight: plans and how many frames take each, so that no engine works
// more than all of the time, the memory moves no more than it can, and the limit on power holds.
struct StreamAnswer {
  std::vector<Place> places;
  Versions versions;      // of the network, by place
  Operations operations;  // of the first place
  Groups groups;
  std::vector<std::int64_t> batches;  // by engine
  double rate = 0;                    // frames a second
  double bound = 0;                   // no plans give more
  PlanProblem problem;
  std::vector<double> capacities, duals;  // by row: engines, memory [B/s], power [pJ/s]
  std::vector<PlanShare> mix;
  std::vector<StreamLimit> limits;
  std::vector<double> alone;  // frames a second of each engine, all of its count; 0: impossible
  int rounds = 0;             // of column generation
  std::vector<std::string> unpriced;
  LayerSearches searches;  // behind the prices
  double clock_share = 1;  // as in PlanAnswer
  double full_clock_power = 0;
};

// The most frames a second of a network. `networks`: by engine, the network for the batch that it
// runs at a time, `batches`. Loads are by the frame. Throws ConfigError as make_plan() does.
//
// A linear program over plans, solved by column generation (Gilmore and Gomory 1961): its duals
// weigh what a plan takes, and the shortest path finds the plan that takes least. When none takes
// less than a frame is worth, no other plan can help; before that, value / least is a bound (Farley
// 1990).
StreamAnswer make_stream(const Soc& soc, const std::vector<const Network*>& networks,
                         const std::vector<std::int64_t>& batches, const PlanOptions& options,
                         const std::string& soc_file, const std::string& network_file);

// The linear program alone.
struct StreamMix {
  double rate = 0, bound = 0;
  std::vector<std::pair<double, std::vector<PlanStep>>> plans;  // rate, steps
  std::vector<double> duals;                                    // by row: engines, memory, power
  int rounds = 0;
};
std::vector<double> capacities_of(const Soc& soc);
// `capacities`: counts of engines, bytes a second, and if there is a limit pJ a second.
StreamMix best_mix(const PlanProblem& problem, const std::vector<double>& capacities);

std::string stream_text(const Soc& soc, const Network& network, const StreamAnswer& answer);
std::string stream_json(const Provenance& origin, const Soc& soc, const Network& network,
                        const PlanOptions& options, const StreamAnswer& answer);

// As plan_certificate(), with the duals.
std::string stream_certificate(const Soc& soc, const Network& network, const PlanOptions& options,
                               const StreamAnswer& answer);

}  // namespace mapsim
