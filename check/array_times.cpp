// SPDX-License-Identifier: Apache-2.0
#include "check/array_times.hpp"

namespace mapsim::check {

ArrayTimes::ArrayTimes(const Graph& graph, const BlockedUnrolling& at, const Lattice& tiles,
                       EdgeCosts& edge_costs)
    : graph_{graph},
      tiles_{tiles},
      edge_costs_{edge_costs},
      model_{*timing_model(graph.problem().arch()).array},
      steps_{static_cast<double>(graph.problem().arch().compute.issue_interval)},
      cycles_(graph.edges().size()) {
  const PerFanout<Rules::AxisFactors>& axes = at.axes;
  const FanoutId array = *array_of(graph.problem().arch());
  used_ = size_of({axes[array][0], axes[array][1]});
  for (const DimId d : graph.problem().workload().dims.ids()) {
    steps_ *= static_cast<double>(tiles.bound(d));
  }
}

bool ArrayTimes::enters(std::size_t index) const {
  const BoundaryEdge& edge = graph_.edges()[index];
  const auto inside = [&](std::size_t residence) {
    return graph_.is_in_array(edge.tensor, graph_.residences(edge.tensor)[residence]);
  };
  return edge.inner != BoundaryEdge::kMac && inside(edge.inner) && !inside(edge.outer);
}

const std::vector<double>& ArrayTimes::cycles(std::size_t index) {
  std::vector<double>& cycles = cycles_[index];
  if (!cycles.empty()) {
    return cycles;
  }
  const BoundaryEdge& edge = graph_.edges()[index];
  const Workload& workload = graph_.problem().workload();
  const Tensor& tensor = workload.tensors[edge.tensor];
  const Residence& residence = graph_.residences(edge.tensor)[edge.inner];
  const auto width =
      static_cast<double>((residence.final ? tensor.bits : tensor.partial_bits).count());
  const std::vector<double>& bits = edge_costs_.bits(index);
  const DimSet own = tensor.dims();
  for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
    double folds = 1;
    double fresh = 1;
    for (const DimId d : workload.dims.ids()) {
      const auto visits = static_cast<double>(tiles_.bound(d) / tiles_.extent(d, tile));
      folds *= visits;
      fresh *= own.contains(d) ? visits : 1.0;
    }
    const bool fits = bits[tile] < kInfinity;
    cycles.push_back(fits ? model_.cycles(graph_.problem(), used_,
                                          {edge.tensor, steps_, folds, fresh, bits[tile] / width})
                          : kInfinity);
  }
  return cycles;
}

}  // namespace mapsim::check
