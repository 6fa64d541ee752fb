// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// Limits of the space of fused mappings.
struct FusionLimits {
  std::size_t most_einsums = kMaxEinsums;  // in a group; 1: layer by layer
  std::size_t most_loops = kMaxDims;       // that a group shares
  bool may_hold = true;                    // may an intermediate stay on chip between groups?
  std::optional<LevelId> only_level{};     // where groups keep tensors; none: at any above arrays
  friend bool operator==(const FusionLimits&, const FusionLimits&) = default;
};

// A lower bound: no tree has energy + weight * latency [pJ] below `least`; for an infinite weight,
// no latency [cycles] below it.
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
  bool out_of_memory = false;   // memory was short
  std::size_t peak_bytes = 0;   // of tables, labels, classes and interfaces
  std::int64_t groups = 0;      // searched
  std::int64_t classes = 0;     // of interfaces with equal loops
  std::int64_t interfaces = 0;  // entered
  std::int64_t branches = 0;    // searches of one einsum
  std::int64_t labels = 0;      // ... expanded
};

// The objective of a tree, limits aside.
double value_of(const Objective& objective, const TreeCost& cost);

// Why fused mappings on this machine cannot be searched; empty: they can. Reasons: features that
// trees cannot express, or an outermost level of limited capacity.
std::string fusion_obstacle(const Arch& arch);
// ... or for this objective.
std::string fusion_obstacle(const Objective& objective);

// The best mapping tree of a chain. The space (docs/fusion.md) has these parts:
// - the chain is cut into groups of consecutive einsums;
// - an intermediate between groups is spilled, or held whole at a level;
// - a group shares at most one loop per dim of its sink, with perfect factors;
// - intermediates of a group have their scopes at any position, each at any level above all arrays,
//   and other tensors may be kept there, each at several such levels;
// - each branch is a mapping of its box with perfect factors.
//
// Stops with the best so far if options.stop is set or the budget of time or memory is spent. Where
// memory was too short for anything, that is each einsum by itself, on a part of its tiles. Apart
// from the objective, other options are not used. Objectives that are not sums over einsums are
// reduced to such sums (chain_hull.hpp). Throws UnsupportedSearch if a group has too many
// interfaces.
ChainResult search_chain(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                         const SearchOptions& options);

// The gain from fusion.
struct ChainComparison {
  Objective objective;
  ChainResult spilled;  // layer by layer, all that passes between layers in the outermost level
  ChainResult on_chip;  // layer by layer, intermediates held whole on chip where that pays
  ChainResult fused;    // groups of einsums besides
};

// Did any of the three searches end because memory was short?
bool is_short_of_memory(const ChainComparison& found);

// Makes all three searches within one budget. If one was stopped early, the result of the narrower
// space before it stands in for what it did not find, so that none is worse than that. A chain of
// one einsum is searched once. `cutoff`: of a sum over einsums without limits; fused trees that are
// no better are not looked for, and `fused` then says that none is.
ChainComparison compare_ways(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const SearchOptions& options,
                             double cutoff = std::numeric_limits<double>::infinity());

}  // namespace mapsim
