// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/search_tables.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/caught.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/bounds/lattice_rows.hpp"
#include "mapper/bounds/per_tensor_bound.hpp"
#include "mapper/label_search/beam_search.hpp"

namespace mapsim::exact {

namespace {

std::optional<ArrayTime> array_time(const StateGraph& graph, const Unrolled& unrolled,
                                    EdgeCosts& costs, const Objective& objective) {
  const Problem& problem = graph.problem();
  return timing_model(problem.arch()).array != nullptr && tracked(problem, objective).ports
             ? std::optional(ArrayTime(graph, unrolled, costs))
             : std::nullopt;
}

// With idle threads, both run at once: a beam search needs only the cost to go.
BeamNest beam_search_and_cost_so_far(const StateGraph& graph, const Unrolled& unrolled,
                                     EdgeCosts& costs, const PathObjective& path_objective,
                                     PerTensorBound& per_tensor) {
  BeamNest found;
  Caught caught;
#pragma omp taskgroup
  {
#pragma omp task shared(found, graph, unrolled, costs, path_objective, per_tensor, caught)
    caught.run([&] { found = beam_search(graph, unrolled, costs, per_tensor, path_objective); });
    caught.run([&] { per_tensor.find_cost_so_far(costs); });
  }
  caught.rethrow();
  return found;
}

// The completion bound over the nodes that the incumbent does not rule out. Without an incumbent, a
// beam search may provide one first.
CompletionBound make_bound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                           const PathObjective& path_objective, Incumbent known,
                           bool may_beam_search, double least_second, std::vector<bool> left_out,
                           BeamNest& beam) {
  CompletionBound::Scope scope;
  if (!left_out.empty()) {
    scope.reachable = graph.reachable_without(left_out);
  }
  const auto find_most = [&] {
    scope.most = known.points().empty()
                     ? kInfinity
                     : most_energy(path_objective, std::vector<double>(costs.components()), known,
                                   least_second);
    return scope.most < kInfinity;
  };
  const bool is_limited = find_most();
  if (!left_out.empty()) {
    costs.leave_out(std::move(left_out));
  }
  if (costs.deadline() != nullptr &&
      costs.bytes() > static_cast<double>(costs.deadline()->most_bytes())) {
    costs.deadline()->refuse();
  }
  may_beam_search = may_beam_search && known.points().empty() && !known.is_measured();
  if (is_limited ? !has_many_rows(graph) : !may_beam_search) {
    if (!is_limited || costs.components() > 1) {
      costs.prepare();  // threads compute several components at once
    }
    return complete_on_lattice(graph, unrolled, costs, scope);
  }
  PerTensorBound per_tensor(graph, unrolled, costs);
  if (may_beam_search) {
    beam = beam_search_and_cost_so_far(graph, unrolled, costs, path_objective, per_tensor);
    known.insert(beam.key);
    find_most();
  } else if (per_tensor.root() <= scope.most) {
    per_tensor.find_cost_so_far(costs);
  }
  if (scope.most < kInfinity) {
    scope.per_tensor = &per_tensor;
  }
  return complete_on_lattice(graph, unrolled, costs, scope);
}

}  // namespace

bool is_ruled_out_by_energy(const StateGraph& graph, const Unrolled& unrolled,
                            const Objective& objective, const Incumbent& known,
                            std::vector<bool> left_out, double least_second,
                            const Deadline* deadline) {
  // Then only leakage depends on time here
  const bool is_timed = graph.problem().is_timed_by_model();
  const PathObjective path_objective(graph, objective,
                                     is_timed ? 0 : least_compute_cycles(graph, unrolled));
  CompletionBound::Scope scope;
  scope.most = most_energy(path_objective, std::vector<double>(2 + graph.ports().size()), known,
                           least_second);
  if (!left_out.empty()) {
    scope.reachable = graph.reachable_without(left_out);
  }
  EdgeCosts costs(graph, unrolled, {}, deadline);
  if (!left_out.empty()) {
    costs.leave_out(std::move(left_out));
  }
  const CompletionBound bound = complete_on_lattice(graph, unrolled, costs, scope);
  return std::none_of(graph.starts().begin(), graph.starts().end(), [&](std::size_t residency) {
    return bound.at({0, residency, unrolled.lattices.front().size() - 1}, 0) < kInfinity;
  });
}

bool has_many_rows(const StateGraph& graph) {
  constexpr std::size_t kMany = 200;
  return graph.stages() * graph.residencies() >= kMany;
}

SearchTables::SearchTables(const StateGraph& graph_in, Unrolled unrolled_in,
                           const Objective& objective, const Incumbent& known, bool may_beam_search,
                           std::vector<bool> left_out, double least_second,
                           const Deadline* deadline)
    : graph{graph_in},
      unrolled{std::move(unrolled_in)},
      costs(graph, unrolled, tracked(graph.problem(), objective), deadline),
      array(array_time(graph, unrolled, costs, objective)),
      path_objective(graph, objective,
                     array ? array->without() : least_compute_cycles(graph, unrolled)),
      bound(make_bound(graph, unrolled, costs, path_objective, known, may_beam_search && !array,
                       least_second, std::move(left_out), beam)) {
  if (array) {
    array_bound.emplace(graph, unrolled, costs, *array, bound);
  }
}

double SearchTables::compute_cycles(const Node& node, double entered) const {
  if (!array) {
    return path_objective.compute_cycles();
  }
  const double least = std::min(entered, array_bound->at(node));
  return least < kInfinity ? least : array->without();
}

ObjectiveKey SearchTables::root() const {
  ObjectiveKey best;
  std::vector<double> values(costs.components());
  for (const std::size_t residency : graph.starts()) {
    const Node start{0, residency, unrolled.lattices.front().size() - 1};
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = bound.at(start, k);
    }
    best = std::min(best, path_objective.key(values.data(), compute_cycles(start, kInfinity)));
  }
  return best;
}

}  // namespace mapsim::exact
