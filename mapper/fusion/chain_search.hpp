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
  friend bool operator==(const FusionLimits&, const FusionLimits&) = default;
};

// No tree has a smaller energy + weight * latency [pJ] than `least`; of an infinite weight no
// smaller latency [cycles].
struct HullLine {
  double weight = 0;
  double least = 0;
};

struct ChainResult {
  std::optional<MappingTree> best;
  std::optional<TreeCost> cost;  // of best
  double lower_bound = 0;        // of the objective: nothing in the space is better
  std::vector<HullLine> lines;   // ... by these, where the objective is no sum over einsums
  bool proven = false;           // nothing in the space is better; else time was over
  double seconds = 0;
  std::int64_t groups = 0;      // searched
  std::int64_t classes = 0;     // of interfaces with equal loops
  std::int64_t interfaces = 0;  // entered
  std::int64_t branches = 0;    // searches of one einsum
  std::int64_t labels = 0;      // ... expanded
};

// The objective of a tree, limits aside.
double value_of(const Objective& objective, const TreeCost& cost);

// Why fused mappings on this machine cannot be searched (empty: they can): all that trees cannot
// say yet, and an outermost level of limited capacity.
std::string fusion_obstacle(const Arch& arch);
// ... or for this objective.
std::string fusion_obstacle(const Objective& objective);

// The best mapping tree of a chain. The space (docs/fusion.md): einsums are cut into
// groups of consecutive ones; what passes between groups is spilled or held whole at a level;
// within a group one loop per dim of the sink at most is shared, with perfect factors, and
// intermediates have their scopes, and any other tensor a keep, at one level, at any position; each
// branch is a mapping of its box with perfect factors. Stops with the best so far where
// options.stop or the budget of time or memory says so; but for the objective, other options are
// not used. Objectives that are no sums over einsums are searched by way of such sums
// (chain_hull.hpp). Throws
// UnsupportedSearch where the interfaces of a group are too many.
ChainResult search_chain(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                         const SearchOptions& options);

// What fusion brings.
struct ChainComparison {
  Objective objective;
  ChainResult spilled;  // layer by layer, all that passes between layers in the outermost level
  ChainResult on_chip;  // layer by layer, intermediates held whole on chip where that pays
  ChainResult fused;    // groups of einsums besides
};

// All three, within the budget together. Where the last search was stopped early, the best that was
// found layer by layer stands in for what it had not found yet. A chain of one einsum is searched
// once.
ChainComparison compare_ways(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const SearchOptions& options);

}  // namespace mapsim
