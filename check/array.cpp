// SPDX-License-Identifier: Apache-2.0
#include "check/array.hpp"

#include <algorithm>
#include <variant>

namespace mapsim::check {

ArrayTimes::ArrayTimes(const Graph& graph, const Case& at, const Tiles& tiles,
                       EdgeCosts& edge_costs)
    : graph_{graph},
      tiles_{tiles},
      edge_costs_{edge_costs},
      timing_{std::get<SystolicTiming>(graph.problem().arch().compute.timing)},
      steps_{static_cast<double>(graph.problem().arch().compute.issue_interval)},
      cycles_(graph.edges().size()) {
  const Fanout& array = graph.problem().arch().fanouts[timing_.array];
  for (const DimId d : graph.problem().workload().dims.ids()) {
    columns_ *= static_cast<double>(at.axes[timing_.array][0][d]);
    rows_ *= static_cast<double>(at.axes[timing_.array][1][d]);
    steps_ *= static_cast<double>(tiles.bound(d));
  }
  if (timing_.full_folds) {
    rows_ = static_cast<double>(array.y);
    columns_ = static_cast<double>(array.x);
  }
}

bool ArrayTimes::enters(std::size_t index) const {
  const BoundaryEdge& edge = graph_.edges()[index];
  const auto inside = [&](std::size_t residence) {
    return graph_.is_in_array(edge.tensor, graph_.residences(edge.tensor)[residence]);
  };
  return edge.inner != BoundaryEdge::kMac && inside(edge.inner) && !inside(edge.outer);
}

// l_1 + sum of the intervals between folds + t_F + s_F. Sums that come for the first time, `fresh`
// folds of them, are not shifted in, and one of them is the first fold.
double ArrayTimes::time(double folds, double fresh, double elements, bool sums) const {
  const double work = steps_ / folds;
  const double shift = rows_ * elements;
  const double leaves = sums ? shift + columns_ - 2 : rows_ + columns_ - 2;
  const double busy = timing_.hides_drain ? std::max(work, sums ? shift : 0.0) : work + leaves;
  const bool hidden = timing_.hides_load || (timing_.hides_drain && sums);
  const double next = busy + (hidden ? std::max(0.0, shift - busy) : shift);
  const double first = sums ? 0 : shift;
  const double between = sums ? (fresh - 1) * busy + (folds - fresh) * next : (folds - 1) * next;
  return first + between + work + leaves - (timing_.scalesim ? 1 : 0);
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
      const auto trips = static_cast<double>(tiles_.bound(d) / tiles_.extent(d, tile));
      folds *= trips;
      fresh *= own.contains(d) ? trips : 1.0;
    }
    const bool fits = bits[tile] < kInfinity;
    cycles.push_back(fits ? time(folds, fresh, bits[tile] / width, edge.tensor == workload.output())
                          : kInfinity);
  }
  return cycles;
}

}  // namespace mapsim::check
