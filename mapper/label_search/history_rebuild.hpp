// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/graph/imperfect_tiles.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/label_search/label_store.hpp"

namespace mapsim::imperfect {

// What the `move` of a loop's step says: its extent is passed on the way to a smaller one, or a
// loop ends there though nothing is kept there.
inline constexpr std::size_t kPassed = 0;
inline constexpr std::size_t kLeftStanding = 1;

// The mapping that the steps of a label describe, in canonical form. Loops over one dim that are
// not to be joined stand apart if there are other loops to put between them, or a keep from above
// that none of them moves. Where there is neither, further mappings have a keep from below there,
// each another one: its tile is larger, and may not fit.
std::vector<Mapping> rebuild(const exact::StateGraph& graph, const Tiles& tiles,
                             const std::vector<exact::Step>& steps);

}  // namespace mapsim::imperfect
