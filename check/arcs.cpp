// SPDX-License-Identifier: Apache-2.0
#include "check/arcs.hpp"

namespace mapsim::check {

ArcLists::ArcLists(const Graph& graph, Direction direction)
    : graph_{graph},
      inwards_{direction == Direction::kInwards},
      arcs_(graph.stages() * graph.residencies()),
      listed_(arcs_.size(), inwards_) {
  for (std::size_t i = 0; inwards_ && i < arcs_.size(); ++i) {
    list_to(i / graph.residencies(), i % graph.residencies());
  }
}

const Arcs& ArcLists::at(std::size_t stage, std::size_t residency) {
  const std::size_t index = stage * graph_.residencies() + residency;
  if (!listed_[index]) {
    list_to(stage, residency);
    listed_[index] = true;
  }
  return arcs_[index];
}

// The graph stores arcs by the residency that they lead to from outside.
void ArcLists::list_to(std::size_t stage, std::size_t residency) {
  if (!graph_.alive(stage, residency)) {
    return;
  }
  const auto lists = [&](std::size_t outer_stage, std::size_t outer) -> Arcs& {
    return inwards_ ? arcs(outer_stage, outer) : arcs(stage, residency);
  };
  for (const Graph::Loop& loop : graph_.loops_to(stage, residency)) {
    lists(stage, loop.from).loops.emplace_back(&loop, inwards_ ? residency : loop.from);
  }
  for (const Graph::Move& move : graph_.moves_to(stage, residency)) {
    lists(stage, move.from).moves.emplace_back(&move, inwards_ ? residency : move.from);
  }
  for (const Graph::SlidingEdge& slide : graph_.sliding_edges_to(stage, residency)) {
    const std::size_t outer = slide.loop.from;
    lists(stage, outer).slides.emplace_back(&slide, inwards_ ? residency : outer);
  }
  for (const std::size_t from : graph_.crossings_to(stage, residency)) {
    lists(stage - 1, from).crossings.push_back(inwards_ ? residency : from);
  }
}

}  // namespace mapsim::check
