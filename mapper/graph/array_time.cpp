// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/array_time.hpp"

#include <optional>

namespace mapsim::exact {

namespace {

// Cycles of one instance's steps at the issue interval.
double cycles_of_steps(const StateGraph& graph, const Unrolled& unrolled) {
  auto cycles = static_cast<double>(graph.problem().arch().compute.issue_interval);
  for (const DimId d : graph.problem().workload().dims.ids()) {
    cycles *= unrolled.entry.mean_size(d, unrolled.bound(d));
  }
  return cycles;
}

}  // namespace

Padding padding_of(const Problem& problem, const Unrolling& unrolling, TensorId tensor,
                   LevelId level) {
  const std::optional<FanoutId> array = array_of(problem.arch());
  std::int64_t used = 1;
  for (const Unroll& unroll : unrolling) {
    used *= unroll.fanout == array ? unroll.factor : 1;
  }
  return padding_at(problem, level, tensor, used);
}

ArrayUse array_use(const Problem& problem, const Unrolling& unrolling) {
  const std::optional<FanoutId> array = array_of(problem.arch());
  ArrayUse use = idle_array(problem.workload());
  for (const Unroll& unroll : unrolling) {
    if (unroll.fanout == array) {
      (unroll.axis == Axis::kX ? use.x : use.y)[unroll.dim] *= unroll.factor;
    }
  }
  return use;
}

double least_compute_cycles(const StateGraph& graph, const Unrolled& unrolled) {
  return timing_model(graph.problem().arch())
      .cycles_of_steps(graph.problem(), cycles_of_steps(graph, unrolled));
}

ArrayTime::ArrayTime(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs)
    : graph_{graph},
      unrolled_{unrolled},
      costs_{costs},
      model_{*timing_model(graph.problem().arch()).array},
      used_{size_of(array_use(graph.problem(), unrolled.unrolling))},
      steps_{cycles_of_steps(graph, unrolled)},
      cycles_(graph.edges().size()) {
  EqualFolds nothing;
  nothing.cycles = steps_;
  without_ = model_.cycles(graph.problem(), used_, nothing);
}

bool ArrayTime::enters(std::size_t index) const {
  const BoundaryEdge& edge = graph_.edges()[index];
  const std::vector<Residence>& residences = graph_.residences(edge.tensor);
  return edge.to != BoundaryEdge::kMac && !graph_.is_in_array(edge.tensor, residences[edge.from]) &&
         graph_.is_in_array(edge.tensor, residences[edge.to]);
}

bool ArrayTime::may_enter(std::size_t residency) const {
  for (const TensorId t : graph_.problem().workload().tensors.ids()) {
    if (!graph_.is_in_array(t, graph_.residence(residency, t)) &&
        graph_.is_in_array(t, graph_.residences(t).back())) {
      return true;
    }
  }
  return false;
}

bool ArrayTime::has_entered(std::size_t residency) const {
  for (const TensorId t : graph_.problem().workload().tensors.ids()) {
    if (graph_.is_in_array(t, graph_.residence(residency, t))) {
      return true;
    }
  }
  return false;
}

// folds: the array is filled anew whenever a loop above the edge advances, E_d / T_d times for
// every dim. distinct: the same over the tensor's own dims only, which counts the tiles that it has
// not held before.
const std::vector<double>& ArrayTime::cycles(std::size_t index) {
  std::vector<double>& cycles = cycles_[index];
  if (cycles.empty()) {
    const BoundaryEdge& edge = graph_.edges()[index];
    const DivisorLattice& lattice = unrolled_.lattices[edge.crossed];
    const std::vector<double>& elements = costs_.elements(index);
    unrolled_.held->fill(cycles, lattice.size(), 1.0);
    auto distinct = lattice.filled(1.0);
    const DimSet moving = graph_.problem().shape(edge.tensor).dims;
    for (const DimId d : graph_.problem().workload().dims.ids()) {
      lattice.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
        const std::int64_t visits = lattice.bound(d) / lattice.positions(d)[digit].extent;
        for (std::size_t tile = first; tile < last; ++tile) {
          cycles[tile] *= static_cast<double>(visits);
          distinct[tile] *= moving.contains(d) ? static_cast<double>(visits) : 1.0;
        }
      });
    }
    for (std::size_t tile = 0; tile < cycles.size(); ++tile) {
      cycles[tile] =
          model_.cycles(graph_.problem(), used_,
                        {edge.tensor, steps_, cycles[tile], distinct[tile], elements[tile]});
    }
  }
  return cycles;
}

}  // namespace mapsim::exact
