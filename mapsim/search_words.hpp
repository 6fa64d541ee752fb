// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/objective.hpp"

namespace mapsim {

// An objective as people write it, in the words of the command line.
struct ObjectiveWords {
  std::string objective = "energy";  // latency, edp, energy^2*latency, "energy,latency"
  std::string latency = "steady";    // or ramped: which latency counts
  std::string max_energy;            // 800 uJ; empty: no limit
  std::string max_latency;           // 1.2e6 cycles, 6 ms; empty: no limit
};
// Throws std::invalid_argument with the fault. `clock`: the machine's, to turn times into cycles.
Objective objective_of(const ObjectiveWords& words, Hertz clock);

}  // namespace mapsim
