// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "core/index.hpp"

namespace mapsim::exact {

class StateGraph;

// What the ways of one tensor are made of, whatever the other tensors do: the moves of any
// residency of a graph; borders, rules and the other tensors may forbid some of them.
struct TensorMoves {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Edge {
    std::size_t from = 0;  // residences
    std::size_t to = 0;
    std::size_t edge = 0;
  };
  std::vector<std::vector<Edge>> edges;  // per stage
  std::vector<bool> ends;                // per stop: may a nest end there?
  std::vector<std::size_t> accesses;     // per stop: the edge of the units', or kNone
  std::vector<DimId> slides;             // dims along which tiles slide
};

TensorMoves moves_of(const StateGraph& graph, TensorId t);

}  // namespace mapsim::exact
