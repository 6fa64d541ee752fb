// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mapper/mapper.hpp"

namespace mapsim {

// A part of the difference in energy between two mappings of a problem. Level and tensor set:
// traffic of the tensor at the level. Fanout and tensor: its hops. Fanout alone: its additions.
// None: operations, or leakage.
struct EnergyShare {
  std::optional<LevelId> level;
  std::optional<FanoutId> fanout;
  std::optional<TensorId> tensor;
  const char* action = "";   // read, write, update, hops, additions, compute or leakage
  double difference_pj = 0;  // given - best; positive: the given mapping wastes it
};

// Where `given` spends more (or less) than `best`: every level x tensor x action that differs, the
// largest waste first. The differences add up to the difference of the totals.
std::vector<EnergyShare> compare_energy(const Problem& problem, const Cost& given,
                                        const Cost& best);

// How much the optimum would improve if one resource were twice as large.
struct Relief {
  std::string resource;  // "GLB capacity", "spad capacity for weight", "DRAM bandwidth"
  double value = 0;      // the optimum of the objective with it
  double gain = 0;       // 1 - value / the optimum now; >= 0
  bool known = true;  // false: options.stop was set, or the budget was over, before it was proven
};

// Repeats the search with each finite capacity, partition and bandwidth doubled in turn; the
// largest gain comes first, unknown ones last. `now`: the optimum of the unchanged space. All
// searches share the time of the budget.
std::vector<Relief> what_would_help(const Mapspace& space, const SearchOptions& options,
                                    const Cost& now);

// The comparison of a mapping with the optimum of a mapspace, and what would improve that.
struct GapReport {
  Objective objective = Objective::kEnergy;
  std::optional<Cost> best;  // nullopt: nothing in the searched mapspace fits, or was found
  std::vector<Relief> reliefs;
  std::string outside{};                // why the mapping is not in that space; empty: it is
  std::optional<double> lower_bound{};  // of the objective over the space; nullopt: best is proven
};

// Searches the space exactly, and asks what_would_help() where its optimum is proven. The mapping
// is one of the space's problem, whether it lies in the space or not; `given` is its cost.
GapReport find_gap(const Mapspace& space, const SearchOptions& options, const Mapping& mapping,
                   const Cost& given);

}  // namespace mapsim
