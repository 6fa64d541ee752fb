// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/tensor_moves.hpp"

#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

namespace {

std::vector<TensorMoves::Edge> edges_of(const StateGraph& graph, TensorId t, std::size_t stage) {
  std::vector<TensorMoves::Edge> edges;
  std::vector<bool> known(graph.edges().size(), false);
  for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
    for (const StateGraph::KeepMove& keep : graph.keep_moves(stage, residency)) {
      const BoundaryEdge& edge = graph.edges()[keep.edge];
      if (edge.tensor == t && !known[keep.edge]) {
        known[keep.edge] = true;
        edges.push_back({edge.from, edge.to, keep.edge});
      }
    }
  }
  return edges;
}

void find_ends(const StateGraph& graph, TensorId t, TensorMoves& moves) {
  for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
    const std::size_t residence = graph.residence_index(residency, t);
    if (!graph.end(residency) || moves.ends[residence]) {
      continue;
    }
    moves.ends[residence] = true;
    for (const std::size_t edge : *graph.end(residency)) {
      if (graph.edges()[edge].tensor == t) {
        moves.accesses[residence] = edge;
      }
    }
  }
}

}  // namespace

TensorMoves moves_of(const StateGraph& graph, TensorId t) {
  const std::size_t residences = graph.residences(t).size();
  TensorMoves moves;
  moves.ends.assign(residences, false);
  moves.accesses.assign(residences, TensorMoves::kNone);
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    moves.edges.push_back(edges_of(graph, t, stage));
  }
  find_ends(graph, t, moves);
  const Workload& workload = graph.problem().workload();
  for (const DimId d : workload.dims.ids()) {
    if (slides_along(workload, workload.tensors[t], d)) {
      moves.slides.push_back(d);
    }
  }
  return moves;
}

}  // namespace mapsim::exact
