// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "core/index.hpp"

namespace mapsim::exact {

class StateGraph;

// The moves of one tensor in any residency of the graph. What the other tensors do, and rules, may
// forbid some of them, so paths over these moves are a relaxation (TensorBound).
struct TensorMoves {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Edge {
    std::size_t from = 0;  // residences
    std::size_t to = 0;
    std::size_t edge = 0;
  };
  std::vector<std::vector<Edge>> edges;  // per stage
  std::vector<bool> ends;                // per residence: may a nest end there?
  // Per residence: the edge of the compute units' accesses, or kNone.
  std::vector<std::size_t> accesses;
  std::vector<DimId> slides;  // dims along which its tiles slide
};

TensorMoves moves_of(const StateGraph& graph, TensorId t);

}  // namespace mapsim::exact
