// SPDX-License-Identifier: Apache-2.0
#include "check/boundary_use.hpp"

#include <algorithm>
#include <optional>

#include "check/geometry.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

void pad(const Problem& problem, const PerFanout<Rules::AxisFactors>& axes, Boundary& boundary) {
  std::int64_t used = 1;  // instances of the array of a timing model
  if (const auto array = array_of(problem.arch())) {
    for (const DimId d : problem.workload().dims.ids()) {
      used *= axes[*array][0][d] * axes[*array][1][d];
    }
  }
  boundary.parent_padding = padding_at(problem, boundary.parent, boundary.tensor, used);
  if (boundary.child) {
    boundary.child_padding = padding_at(problem, *boundary.child, boundary.tensor, used);
  }
}

// Of the mean entry, whose tensors have no windows along dims that vary if sums are told apart.
double mean_elements(const Graph& graph, TensorId t, double of_largest) {
  const Workload& workload = graph.problem().workload();
  for (const DimId d : workload.dims.ids()) {
    if (graph.entry().varies(d) && workload.tensors[t].dims().contains(d)) {
      const std::int64_t bound = workload.dims[d].bound;
      of_largest *= graph.entry().mean_size(d, bound) / static_cast<double>(bound);
    }
  }
  return of_largest;
}

double least_addition_pj(const Graph& graph, const BoundaryUse& of) {
  std::optional<double> least;
  for (std::size_t f = of.outer_fanouts; f < of.above; ++f) {
    if (of.outer[f] == Use::kMerge) {
      const double price = graph.problem().addition_energy(graph.used()[f]).count();
      least = std::min({least.value_or(price), price, of.cost.least_crossing_pj()});
    }
  }
  return least.value_or(0);
}

}  // namespace

BoundaryUse boundary_of(const Graph& graph, const BoundaryEdge& edge, Tracked tracked,
                        const PerFanout<Rules::AxisFactors>* axes) {
  const Problem& problem = graph.problem();
  const Tensor& tensor = problem.workload().tensors[edge.tensor];
  const Residence& outer = graph.residences(edge.tensor)[edge.outer];
  const bool mac = edge.inner == BoundaryEdge::kMac;
  const Residence inner = mac ? Residence{} : graph.residences(edge.tensor)[edge.inner];
  BoundaryUse made;
  made.tensor = edge.tensor;
  made.parent = outer.level;
  made.output = edge.tensor == problem.workload().output();
  made.has_child = !mac && !inner.latch;
  made.above = mac ? graph.used().size() : inner.above;
  made.crossed = std::min(edge.crossed, made.above);
  made.outer_fanouts = outer.above;
  made.distinct = 1;
  made.returns = made.output;
  for (const Rank& rank : tensor.ranks) {
    made.distinct *= static_cast<double>(count_coordinates(rank, bounds_of(problem.workload())));
    made.returns = made.returns && rank.terms.size() < 2;
  }
  made.inner.assign(made.above, Use::kSum);
  made.busy_inner.assign(made.above, Use::kFirst);
  made.outer = made.inner;
  for (std::size_t f = outer.above; f < made.above; ++f) {
    made.outer[f] = problem.is_merged(graph.used()[f], edge.tensor) ? Use::kMerge : Use::kSum;
  }
  made.busy_outer = made.outer;
  std::fill_n(made.busy_outer.begin(), outer.above, Use::kFirst);
  made.begun = graph.entry().sums_begun * mean_elements(graph, edge.tensor, made.distinct);
  Boundary boundary{edge.tensor, outer.level, std::nullopt, outer.final, made.begun};
  if (made.has_child) {
    boundary.child = made.child = inner.level;
    made.tile_width =
        static_cast<double>((inner.final ? tensor.bits : tensor.partial_bits).count());
  }
  if (axes != nullptr) {
    pad(problem, *axes, boundary);
  }
  made.cost = BoundaryCost{problem, boundary, graph.ports(), tracked};
  made.least_addition_pj = made.returns ? least_addition_pj(graph, made) : 0;
  return made;
}

}  // namespace mapsim::check
