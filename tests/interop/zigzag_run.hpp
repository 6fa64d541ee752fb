// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/problem.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// The best temporal mapping that ZigZag found for one objective.
struct ZigzagBest {
  Objective objective;
  double energy_pj = 0;  // as ZigZag counts
  double cycles = 0;
  std::optional<Mapping> mapping;  // in our words; nullopt: `reason`
  std::string reason;
};

// A run of ZigZag in our words: its machine for this unrolling, its layer, its mapspace.
struct ZigzagRun {
  std::string id;
  Problem problem;
  Constraints constraints;
  std::vector<ZigzagBest> bests;  // for energy, latency and EDP
  double seconds = 0;
  bool divides = true;  // the unrolling divides every dim
};

// What has no counterpart is a std::runtime_error that names it.
ZigzagRun read_zigzag_run(const std::filesystem::path& run,
                          const std::filesystem::path& architectures);

}  // namespace mapsim
