// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mapper/mapper.hpp"
#include "random_space.hpp"

namespace mapsim {

inline constexpr std::array kObjectives{Objective::kEnergy, Objective::kLatency, Objective::kEdp};

// What a mapping that fits costs.
struct Figures {
  double energy = 0;
  std::int64_t steady = 0;
  std::int64_t ramped = 0;
  double cycles(LatencyMode mode) const {
    return static_cast<double>(mode == LatencyMode::kSteady ? steady : ramped);
  }
};

// What evaluating every mapping of a space tells.
struct Survey {
  std::int64_t size = 0;
  std::vector<Figures> fitting;
};
Survey survey(const Mapspace& space);

// Energy, latency, their product; other powers, ramped latency, exact ties, and limits that bind
// in this space or cannot be kept.
std::vector<Objective> all_objectives(const Survey& seen);

// How the exact mapper's answers differ from what evaluating every mapping of the space says:
// feasibility, the optimum (to a relative 1e-9), where the mapping lies and what it costs, the
// certificate. The first difference, with the name of its objective; empty: none. `all`: the
// objectives of all_objectives, else kObjectives.
std::string exact_mismatch(const SearchCase& random, bool all = true);

// Do two results differ in anything but the seconds? Names the field; empty: no.
std::string result_difference(const SearchResult& a, const SearchResult& b);

// Instances per dim of each fanout that a mapping uses, both axes together.
PerFanout<PerDim<std::int64_t>> used_instances(const Problem& problem, const Mapping& mapping);

}  // namespace mapsim
