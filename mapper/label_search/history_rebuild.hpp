// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/label_search/label_store.hpp"

namespace mapsim::imperfect {

// Values of Step::move for a loop's step. kPassed: the loop goes on to a smaller extent.
// kLeftStanding: it ends there, although nothing is kept there (a free tile boundary).
inline constexpr std::size_t kPassed = 0;
inline constexpr std::size_t kLeftStanding = 1;

// The mappings that the steps of a label describe, in canonical form. Two loops over one dim, with
// a free tile boundary between them, must be kept apart by something: another loop, or a keep from
// further out that neither loop moves. If there is neither, one mapping is returned for each keep
// from further in that could be moved there. Its tile is larger there, so it may not fit.
std::vector<Mapping> rebuild(const exact::StateGraph& graph, const ExtentLattice& tiles,
                             const std::vector<exact::Step>& steps);

}  // namespace mapsim::imperfect
