// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "plan/load.hpp"
#include "plan/pricing.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

// A conversion of a tensor before a group that reads it.
struct PlannedMove {
  PlanMove move;
  Load load;
  double start = 0;  // [s]
};

// A group where it runs.
struct PlannedGroup {
  std::size_t group = 0;  // of the groups of the answer
  std::size_t place = 0;  // of the places of the answer
  Price price;
  std::vector<PlannedMove> moves{};
  double start = 0;      // [s]
  std::size_t copy = 0;  // which of the engines of this name
};

// A whole network: its groups one after the other, or at once.
struct Plan {
  std::vector<PlannedGroup> groups;  // in the order of their starts
  Load total{};                      // latency, energy, bytes
  std::vector<double> busy;          // by engine [s]
  double moves_latency = 0;          // part of the total
  std::size_t labels = 0;            // partial plans that the search examined
};

}  // namespace mapsim
