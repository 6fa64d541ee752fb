// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// Part of the difference in energy between two mappings of a problem. level and tensor: traffic of
// a tensor at a level; fanout and tensor: its hops; fanout alone: its additions; none: the MACs, or
// leakage.
struct EnergyShare {
  std::optional<LevelId> level;
  std::optional<FanoutId> fanout;
  std::optional<TensorId> tensor;
  const char* action = "";   // read, write, update, hops, additions, compute or leakage
  double difference_pj = 0;  // given - best: positive is what the given mapping wastes
};

// Where `given` spends more (and less) than `best`: every level x tensor x action that differs, the
// largest waste first. The differences add up to the difference of the totals.
std::vector<EnergyShare> compare_energy(const Problem& problem, const Cost& given,
                                        const Cost& best);

// What the optimum would gain if one resource were twice as large.
struct Relief {
  std::string resource;  // "GLB capacity", "spad capacity for weight", "DRAM bandwidth"
  double value = 0;      // the optimum of the objective then
  double gain = 0;       // 1 - value / the optimum now; >= 0
};

// Searches again with each finite capacity, partition and bandwidth doubled in turn: what would
// help first comes first. `now`: the optimum of the space as it is. Stops early, with what it has,
// when options.stop is set.
std::vector<Relief> what_would_help(const Mapspace& space, const SearchOptions& options,
                                    const Cost& now);

}  // namespace mapsim
