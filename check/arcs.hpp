// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "check/graph.hpp"

namespace mapsim::check {

// The direction in which labels walk the graph: from the outermost level to the compute units, or
// back.
enum class Direction : std::uint8_t { kInwards, kOutwards };

// The arcs that leave a residency in a stage, each with the residency that it leads to.
struct Arcs {
  template <class What>
  using List = std::vector<std::pair<const What*, std::size_t>>;
  List<Graph::Loop> loops;
  List<Graph::Move> moves;
  List<Graph::SlidingEdge> slides;
  // Residencies of the neighbouring stage, across a fanout or the close of a level
  std::vector<std::size_t> crossings;
};

// The arcs at each node where a label may stand. The graph indexes arcs by their inner end; this
// indexes them by the end at which a label takes them. Outwards, lists are made when they are first
// needed; inwards, all at once.
class ArcLists {
 public:
  ArcLists(const Graph& graph, Direction direction);
  const Arcs& at(std::size_t stage, std::size_t residency);

 private:
  Arcs& arcs(std::size_t stage, std::size_t residency) {
    return arcs_[stage * graph_.residencies() + residency];
  }
  void list_to(std::size_t stage, std::size_t residency);

  const Graph& graph_;
  bool inwards_;
  std::vector<Arcs> arcs_;
  std::vector<bool> listed_;
};

}  // namespace mapsim::check
