// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/objective.hpp"

namespace mapsim::bench {

// What is searched for, by the name that it has in benchmarks.
struct Goal {
  const char* name;
  Objective objective;
};
inline constexpr Goal kGoals[]{
    {"energy", Objective::kEnergy}, {"edp", Objective::kEdp}, {"latency", Objective::kLatency}};

// Every distinct layer of ResNet-50, by name, in alphabetical order.
std::vector<std::string> resnet50_layers();

// A machine, shipped or of bench/machines, and a shipped layer ("resnet50/conv1").
Problem shipped_problem(const std::string& machine, const std::string& layer);

// The shipped unrolling of a ResNet-50 layer on Eyeriss or the NVDLA-like machine (the table in
// configs/README.md), or of the product of 4096 on the TPU; 16 K by 16 C on the square machines.
Constraints given_unrolling(const Problem& problem, const std::string& layer);

}  // namespace mapsim::bench
