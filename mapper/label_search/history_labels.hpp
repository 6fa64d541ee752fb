// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "mapper/label_search/label_setting.hpp"
#include "mapper/label_search/loop_chains.hpp"

namespace mapsim::imperfect {

// What a label remembers of its loops with imperfect factors, where the cost of an edge depends on
// the loops outside it.
struct LoopHistory {
  PerDim<Chains::Id> chains;  // as far as the last point: a keep that stands here, or a fanout
  DimSet since;    // dims cut since something was placed before; if it is placed here, above it
  DimSet settled;  // dims that no loop may cut next: the keep above might as well stand below it
  // Where loops have an order: dims that the next loop may not be over; those cut since the last
  // point, loops over which end nowhere yet.
  DimSet barred, open;
  std::size_t begun = 0;  // the tile at which the region began, as far as its rules ask
  bool placed = true;     // something here, ahead of its place or not
  // What was placed ahead at less than it may cost in the end; 0: nothing. Such a label is dearer
  // than it looks, by as much as any other that owes the same.
  std::size_t deferred = 0;
  bool at_point = true;
  std::size_t next_dim = 0;      // loops of a block come in the order of dims, edges apart
  std::size_t run = Run::kNone;  // dim of the last loop, if tiles slide along it
  double steps = 0;              // temporal, of the first instance: at least
};

using Label = exact::Label<LoopHistory>;
using LabelSetting = exact::LabelSetting<LoopHistory>;
using Labels = LabelSetting::Labels;

// Of the list of labels that one is compared with: those of its node and chains, and few others.
std::uint64_t list_of(const Label& label);
// See label_store.hpp.
bool may_stand_for(const Label& a, const Label& b);

}  // namespace mapsim::imperfect
