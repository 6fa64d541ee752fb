// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/tensor_moves.hpp"

#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

namespace {

std::vector<TensorMoves::Edge> edges_of(const Skeleton& skeleton, TensorId t, std::size_t phase) {
  std::vector<TensorMoves::Edge> edges;
  std::vector<bool> known(skeleton.placings().size(), false);
  for (std::size_t pointers = 0; pointers < skeleton.pointers(); ++pointers) {
    for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
      const Placing& placing = skeleton.placings()[place.placing];
      if (placing.tensor == t && !known[place.placing]) {
        known[place.placing] = true;
        edges.push_back({placing.from, placing.to, place.placing});
      }
    }
  }
  return edges;
}

void find_ends(const Skeleton& skeleton, TensorId t, TensorMoves& moves) {
  for (std::size_t pointers = 0; pointers < skeleton.pointers(); ++pointers) {
    const std::size_t stop = skeleton.stop_index(pointers, t);
    if (!skeleton.end(pointers) || moves.ends[stop]) {
      continue;
    }
    moves.ends[stop] = true;
    for (const std::size_t placing : *skeleton.end(pointers)) {
      if (skeleton.placings()[placing].tensor == t) {
        moves.accesses[stop] = placing;
      }
    }
  }
}

}  // namespace

TensorMoves moves_of(const Skeleton& skeleton, TensorId t) {
  const std::size_t stops = skeleton.stops(t).size();
  TensorMoves moves;
  moves.ends.assign(stops, false);
  moves.accesses.assign(stops, TensorMoves::kNone);
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    moves.edges.push_back(edges_of(skeleton, t, phase));
  }
  find_ends(skeleton, t, moves);
  const Workload& workload = skeleton.problem().workload();
  for (const DimId d : workload.dims.ids()) {
    if (slides_along(workload, workload.tensors[t], d)) {
      moves.slides.push_back(d);
    }
  }
  return moves;
}

}  // namespace mapsim::exact
