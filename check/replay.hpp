// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "check/potential.hpp"

namespace mapsim::check {

struct Replay {
  std::int64_t labels = 0;       // partial nests looked into
  std::optional<double> better;  // the best value below the limit, if there is one
};

// Is there a nest of the case whose value is below `limit`, all tiles of a room in it together?
// Walks from the compute units outwards, node by node in the order in which walks can pass them, so
// that all partial nests of a node are there when it is its turn; of those, the ones that pay no
// less and take no less room than another are dropped, and so is what the potential says comes to
// no less than the limit.
Replay find_better(const Graph& graph, const Tiles& tiles, Tolls& tolls, const Potential& potential,
                   const Price& price, double limit);

}  // namespace mapsim::check
