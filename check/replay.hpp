// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "check/potential.hpp"

namespace mapsim::check {

struct BackwardSearch {
  std::int64_t labels = 0;        // partial nests looked into
  std::optional<Figures> better;  // of a nest that the frontier does not cover, if there is one
};

// Is there a nest of the case that the frontier does not cover, all tiles of a room in it together?
// Walks from the compute units outwards, node by node in the order in which walks can pass them, so
// that all partial nests of a node are there when it is its turn; of those, the ones that pay no
// less and take no less room than another are dropped, and so is what the frontier covers with what
// the completion_bound says that it comes to at least. `array`: as the completion_bound has it.
BackwardSearch find_better(const Graph& graph, const Tiles& tiles, EdgeCosts& edge_costs,
                           const CompletionBound& completion_bound, ArrayTimes* array,
                           const Price& price, const Goal& goal, const Frontier& frontier);

}  // namespace mapsim::check
