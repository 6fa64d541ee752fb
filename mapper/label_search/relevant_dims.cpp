// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/relevant_dims.hpp"

namespace mapsim::imperfect {

using exact::StateGraph;

namespace {

DimSet all_but(const Workload& workload, DimSet some) {
  DimSet others;
  for (const DimId d : workload.dims.ids()) {
    if (!some.contains(d)) {
      others.insert(d);
    }
  }
  return others;
}

DimSet unrolled_dims(const ExtentLattice& tiles, std::size_t fanout) {
  DimSet dims;
  for (const Unroll& unroll : tiles.unrolls(fanout)) {
    dims.insert(unroll.dim);
  }
  return dims;
}

}  // namespace

DimSet single_dims(const Tensor& tensor) {
  DimSet dims;
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      dims.insert(rank.terms.front().dim);
    }
  }
  return dims;
}

std::vector<DimSet> dims_that_matter(const StateGraph& graph, const ExtentLattice& tiles) {
  const Workload& workload = graph.problem().workload();
  std::vector<DimSet> all(graph.stages() * graph.residencies());
  for (std::size_t stage = graph.stages(); stage-- > 0;) {
    for (std::size_t residency = graph.residencies(); residency-- > 0;) {
      DimSet& dims = all[stage * graph.residencies() + residency];
      for (const StateGraph::KeepMove& keep : graph.keep_moves(stage, residency)) {
        const TensorId t = graph.edges()[keep.edge].tensor;
        dims = dims | all_but(workload, single_dims(workload.tensors[t])) |
               all[stage * graph.residencies() + keep.target];
      }
      if (stage + 1 < graph.stages()) {
        if (const auto behind = graph.after_stage(stage, residency)) {
          dims = dims | all[(stage + 1) * graph.residencies() + *behind];
        }
        if (const auto fanout = graph.end_of(stage).fanout) {
          dims = dims | unrolled_dims(tiles, *fanout);
        }
      }
    }
  }
  return all;
}

}  // namespace mapsim::imperfect
