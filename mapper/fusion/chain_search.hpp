// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// What a search of fused mappings may look at.
struct FusionLimits {
  std::size_t most_einsums = kMaxEinsums;  // in a group; 1: layer by layer
  std::size_t most_loops = kMaxDims;       // that a group shares
  bool may_hold = true;                    // may an intermediate lie on chip between groups?
};

struct ChainResult {
  std::optional<MappingTree> best;
  std::optional<TreeCost> cost;  // of best
  Picojoules lower_bound{0};     // nothing in the space needs less
  bool proven = false;           // nothing in the space is better; else time was over
  double seconds = 0;
  std::int64_t groups = 0;      // searched
  std::int64_t classes = 0;     // of interfaces with equal loops
  std::int64_t interfaces = 0;  // entered
  std::int64_t branches = 0;    // searches of one einsum
  std::int64_t labels = 0;      // ... expanded
};

// Why fused mappings on this machine cannot be searched (empty: they can): all that trees cannot
// say yet, leakage, and an outermost level of limited capacity.
std::string fusion_obstacle(const Arch& arch);

// The mapping tree of a chain of least energy. The space (docs/fusion.md): einsums are cut into
// groups of consecutive ones; what passes between groups is spilled or held whole at a level;
// within a group one loop per dim of the sink at most is shared, with perfect factors, and
// intermediates have their scopes, and any other tensor a keep, at one level, at any position; each
// branch is a mapping of its box with perfect factors. Stops with the best so far where
// options.stop or the budget of time or memory says so; other options are not used. Throws
// UnsupportedSearch where the interfaces of a group are too many.
ChainResult search_chain(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                         const SearchOptions& options);

// What fusion brings.
struct ChainComparison {
  ChainResult spilled;  // layer by layer, all that passes between layers in the outermost level
  ChainResult on_chip;  // layer by layer, intermediates held whole on chip where that pays
  ChainResult fused;    // groups of einsums besides
};

// All three. Where the last search was stopped early, the best that was found layer by layer stands
// in for what it had not found yet. A chain of one einsum is searched once.
ChainComparison compare_ways(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const SearchOptions& options);

}  // namespace mapsim
