// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "mapper/label_search/label_setting.hpp"
#include "mapper/label_search/loop_chains.hpp"

namespace mapsim::imperfect {

// The history of a label with imperfect factors: what it remembers of the loops further out. The
// cost of an edge depends on `loops`. A *point* is a position of the nest where a fanout or a keep
// that is not deferred stands. One nest can be described by several paths; most other members
// forbid steps so that the search follows only one of them.
struct LoopHistory {
  // What is remembered of the loops of each dim, down to the last point: with loop chains the id of
  // a chain, with tile counts the id of TileCounts
  PerDim<LoopChains::Id> loops;
  // Dims of the loops since the keep further out; a keep here does not change them
  DimSet loops_since_keep;
  // Dims over which no loop may come next: the last keep could as well stand below that loop
  DimSet no_loop_next;
  // Only in regions with an ordered loop rule: the dims over which no further loop may come, and
  // those of loops since the last point that still end at no point
  DimSet no_loop_in_region, open_loops;
  std::size_t region_start = 0;  // TileCountRules::region_start() of the current region
  bool kept_since_loop = true;   // has a keep, deferred or not, been made since the last loop?
  // Identifies the deferred keeps whose cost may still rise; 0: none. Two labels with the same
  // value have the same costs outstanding.
  std::size_t deferred = 0;
  // Does a point stand here?
  bool at_point = true;
  // Loops between two points come in the order of dims, except those of sliding-window edges
  std::size_t next_dim = 0;
  std::size_t slide =
      SlidingLoop::kNone;  // dim of the last loop, if it belongs to a sliding-window edge
  double steps = 0;        // lower bound of the temporal steps of the first instance
};

using Label = exact::Label<LoopHistory>;
using LabelSetting = exact::LabelSetting<LoopHistory>;
using Labels = LabelSetting::Labels;

// A hash of the node and the history's loops, which selects the list of labels that this one is
// compared with.
std::uint64_t hash_of(const Label& label);
// Dominance, see label_store.hpp: true only for labels at the same node with equal loops.
bool may_dominate(const Label& a, const Label& b);

}  // namespace mapsim::imperfect
