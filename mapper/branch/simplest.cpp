// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/simplest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "costmodel/sparse/model.hpp"

namespace mapsim::branch {

namespace {

// Tiles of one point, kept only where they must be.
Mapping simplest_mapping(const Mapspace& space) {
  const Problem& problem = space.problem();
  const PerDim<Dim>& dims = problem.workload().dims;
  Mapping mapping;
  for (const LevelId level : problem.arch().levels.ids()) {
    Keep keep{level, {}};
    for (const TensorId t : problem.workload().tensors.ids()) {
      if (space.keep_rule(level, t) == KeepRule::kKeep) {
        keep.tensors.insert(t);
      }
    }
    if (!keep.tensors.empty()) {
      mapping.nodes.emplace_back(keep);
    }
    for (std::size_t d = 0; level == LevelId{0} && d < dims.size(); ++d) {
      if (dims[static_cast<DimId>(d)].bound > 1) {
        mapping.nodes.emplace_back(Temporal{static_cast<DimId>(d), 1});
      }
    }
  }
  return mapping;
}

double bound_of_operations(const Problem& problem, const Objective& objective) {
  const auto operations = static_cast<double>(problem.macs());
  // Conditions on transfers leave operations out, too.
  const bool may_pass = problem.sparse() != nullptr && problem.sparse()->has_conditions();
  const double stepped = may_pass ? problem.sparse()->least_stepped() : problem.stepped();
  const double operation =
      may_pass ? problem.arch().compute.energy.count() * problem.sparse()->least_operated()
               : problem.mac_energy().count();
  double instances = 1;
  for (const Fanout& fanout : problem.arch().fanouts) {
    instances *= static_cast<double>(fanout.x * fanout.y);
  }
  const double cycles =
      std::floor(operations * stepped * static_cast<double>(problem.arch().compute.issue_interval) /
                 instances);
  const Picojoules leakage = problem.leakage(Cycles{static_cast<std::int64_t>(cycles)});
  return objective.function.value(operation * operations + leakage.count(), cycles);
}

}  // namespace

void add_simplest(const Mapspace& space, const Objective& objective, SearchResult& result) {
  Constraints rules = space.constraints();
  rules.factors = {};
  if (!(rules == Constraints{})) {
    return;
  }
  Mapping mapping = simplest_mapping(space);
  ++result.statistics.evaluations;
  Evaluation evaluation = evaluate(space.problem(), mapping);
  Cost* const cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr || !is_within_limits(objective, *cost)) {
    return;
  }
  const double value = objective_value(objective, *cost);
  Certificate& proof = result.certificate;
  proof.lower_bound = std::min(proof.lower_bound, value);
  if (proof.status == Proof::kBounded) {
    proof.gap = value / proof.lower_bound - 1;
  }
  result.best = std::move(mapping);
  result.cost = std::move(*cost);
}

SearchResult without_search(const Mapspace& space, const Objective& objective) {
  SearchResult result;
  result.interrupted = true;
  Certificate& proof = result.certificate;
  proof.lower_bound = bound_of_operations(space.problem(), objective);
  proof.status = proof.lower_bound > 0 ? Proof::kBounded : Proof::kNone;
  add_simplest(space, objective, result);
  return result;
}

}  // namespace mapsim::branch
