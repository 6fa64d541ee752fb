// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/sharing.hpp"

#include <algorithm>

namespace mapsim::exact {

BoundarySharing sharing_of(const Problem& problem, const std::vector<FanoutId>& used,
                           const BoundaryEdge& edge, std::size_t parent_fanouts,
                           std::size_t child_fanouts) {
  BoundarySharing sharing;
  Sharing& parent = sharing.parent;
  parent.crossed = std::min(edge.crossed, child_fanouts);
  for (std::size_t f = 0; f < child_fanouts; ++f) {
    const bool merged = f >= parent_fanouts && problem.is_merged(used[f], edge.tensor);
    parent.uses.push_back(merged ? LoopUse::kMerge : LoopUse::kSum);
    parent.together = parent.together && (!merged || problem.arch().fanouts[used[f]].forwarding);
  }
  const auto first = [](Sharing of, std::size_t fanouts, LoopUse use) {
    std::fill_n(of.uses.begin(), fanouts, use);
    return of;
  };
  sharing.child = {std::vector<LoopUse>(child_fanouts, LoopUse::kSum), parent.crossed, true};
  sharing.busy_parent = first(parent, parent_fanouts, LoopUse::kFirst);
  sharing.busy_child = first(sharing.child, child_fanouts, LoopUse::kFirst);
  const Sharing met{std::vector<LoopUse>(child_fanouts, LoopUse::kMerge), parent.crossed, true,
                    LoopUse::kMerge};
  sharing.met_parent = first(met, parent_fanouts, LoopUse::kSum);
  sharing.met_child = first(met, child_fanouts, LoopUse::kSum);
  sharing.met_busy_parent = first(met, parent_fanouts, LoopUse::kFirst);
  sharing.met_busy_child = first(met, child_fanouts, LoopUse::kFirst);
  return sharing;
}

}  // namespace mapsim::exact
