// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/class_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/graph/array_time.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::exact {

std::optional<TensorSet> may_stay_with(const Problem& problem,
                                       const UnrollingClass& unrolling_class) {
  const ArrayModel* array = timing_model(problem.arch()).array;
  return array != nullptr
             ? std::optional(array->may_stay(problem, array_use(problem, unrolling_class.first)))
             : std::nullopt;
}

ClassBounds::ClassBounds(const Mapspace& space, const Objective& objective)
    : space_{space},
      objective_{objective},
      least_energy_{energy_bound(space)},
      steps_{static_cast<double>(space.problem().arch().compute.issue_interval)} {
  const Workload& workload = space.problem().workload();
  for (const DimId d : workload.dims.ids()) {
    steps_ *= space.entry().mean_size(d, workload.dims[d].bound);
  }
}

const SharedGraph& ClassBounds::shared_graph(const std::vector<FanoutId>& used,
                                             const std::optional<TensorSet>& may_stay) {
  std::optional<std::uint32_t> stays;
  if (may_stay) {
    stays = may_stay->bits();
  }
  const std::lock_guard lock(mutex_);
  SharedGraph& shared_graph = shared_graphs_[{used, stays}];
  if (!shared_graph.graph) {
    shared_graph.graph = std::make_unique<StateGraph>(space_, used, may_stay,
                                                      objective_.mode == LatencyMode::kRamped);
    shared_graph.bound.emplace(*shared_graph.graph);
    shared_graph.port_bits = least_port_bits(*shared_graph.graph);
    shared_graph.path_objective.emplace(*shared_graph.graph, objective_, 0);
  }
  return shared_graph;
}

ClassBounds::Bound ClassBounds::shared_graph_of(const UnrollingClass& unrolling_class) {
  Bound bound;
  bound.may_stay = may_stay_with(space_.problem(), unrolling_class);
  bound.shared_graph = &shared_graph(nests::used_fanouts(unrolling_class), bound.may_stay);
  return bound;
}

ClassBounds::Bound ClassBounds::of(const UnrollingClass& unrolling_class, bool closely) {
  Bound bound = shared_graph_of(unrolling_class);
  bound.cycles = least_cycles(unrolling_class, bound.may_stay);
  if (bound.cycles < kInfinity) {
    bound.key =
        key(*bound.shared_graph,
            closely ? bound.shared_graph->bound->of(unrolling_class) : least_energy_, bound.cycles);
  }
  return bound;
}

ObjectiveKey ClassBounds::by_phases(const UnrollingClass& unrolling_class, double enough) {
  const Bound bound = of(unrolling_class, /*closely=*/false);
  return bound.cycles < kInfinity
             ? key(*bound.shared_graph,
                   bound.shared_graph->bound->by_phases(unrolling_class, enough) * (1 - kRounding),
                   bound.cycles)
             : bound.key;
}

// At least: cycles of the compute units. Steps along a dim are a whole number.
double ClassBounds::least_cycles(const UnrollingBound::Boxes& boxes, double fewest_steps) const {
  const Problem& problem = space_.problem();
  double instances = 1;
  for (const branch::FactorBox* box : boxes) {
    instances *= box->instances;
  }
  double steps = 1;
  for (const DimId d : problem.workload().dims.ids()) {
    double along = 1;
    for (const branch::FactorBox* box : boxes) {
      along *= box->most[d];
    }
    const std::int64_t bound = problem.workload().dims[d].bound;
    steps *= along > 1 ? std::ceil(real(bound) / along * (1 - kRounding))
                       : space_.entry().mean_size(d, bound);
  }
  const double whole = std::max(steps, fewest_steps) * real(problem.arch().compute.issue_interval);
  return timing_model(problem.arch()).cycles_of_steps(problem, std::max(steps_ / instances, whole));
}

// The rounding margin is for energies that are added in another order than those of one class.
ObjectiveKey ClassBounds::of(const UnrollingBound::Boxes& boxes, double fewest_steps) {
  std::vector<FanoutId> used;
  for (const FanoutId f : boxes.ids()) {
    if (boxes[f]->instances > 1) {
      used.push_back(f);
    }
  }
  const SharedGraph& shared = shared_graph(used, std::nullopt);
  return key(shared, shared.bound->of(boxes) * (1 - kRounding), least_cycles(boxes, fewest_steps));
}

ObjectiveKey ClassBounds::key(const SharedGraph& shared_graph, double energy, double cycles) const {
  std::vector<double> components(2 + shared_graph.port_bits.size(), 0.0);
  components[0] = energy;
  std::copy(shared_graph.port_bits.begin(), shared_graph.port_bits.end(), components.begin() + 1);
  return shared_graph.path_objective->key(components.data(), cycles);
}

double ClassBounds::least_cycles(const UnrollingClass& unrolling_class,
                                 const std::optional<TensorSet>& may_stay) const {
  const Problem& problem = space_.problem();
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), unrolling_class);
  if (may_stay && !space_.constraints().factors.imperfect) {
    return timing_model(problem.arch())
        .array->least_cycles(problem, size_of(array_use(problem, unrolling_class.first)), bounds,
                             *may_stay);
  }
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const DimId d : bounds.ids()) {
    cycles *= space_.entry().mean_size(d, bounds[d]);
  }
  return timing_model(problem.arch()).cycles_of_steps(problem, cycles);
}

}  // namespace mapsim::exact
