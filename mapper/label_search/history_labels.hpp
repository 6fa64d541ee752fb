// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "mapper/label_search/label_setting.hpp"
#include "mapper/label_search/loop_chains.hpp"

namespace mapsim::imperfect {

// The history of a label with imperfect factors: what it remembers of the outer loops. The cost of
// an edge depends on `loops`. A *point* is a position of the nest where a fanout stands, or a keep
// that is not deferred. One nest can be described by several paths. Some members forbid steps, so
// that the search follows only one of them:
//
// - loops_since_keep: no keep of a tensor that lacks such a dim. Above that loop it costs no more.
// - no_loop_next: no loop over such a dim next. The last keep, moved below it, costs the same.
// - no_loop_in_region: no loop over such a dim before a point. Parts of a loop are adjacent.
// - next_dim: no loop over an earlier dim before a point. Loops between two points commute.
struct LoopHistory {
  // What is remembered of the loops of each dim, down to the last point: with loop chains the id of
  // a chain, with tile counts the id of TileCounts
  PerDim<LoopChains::Id> loops;
  // Dims of the loops since the last keep above; unchanged by a keep at this position
  DimSet loops_since_keep;
  DimSet no_loop_next;
  // Only in regions with an ordered loop rule; open_loops: dims whose last loop does not end at a
  // point yet
  DimSet no_loop_in_region, open_loops;
  std::size_t region_start = 0;  // TileCountRules::region_start() of the current region
  bool kept_since_loop = true;   // has a keep, deferred or not, been made since the last loop?
  // Identifies the deferred keeps whose cost may still rise; 0: none. Two labels with the same
  // value have the same costs outstanding.
  std::size_t deferred = 0;
  bool at_point = true;      // does a point stand here?
  std::size_t next_dim = 0;  // sliding-window edges ignore it
  // Dim of the last loop, if it belongs to a sliding-window edge
  std::size_t slide = SlidingLoop::kNone;
  double steps = 0;  // lower bound of the temporal steps of the first instance
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
