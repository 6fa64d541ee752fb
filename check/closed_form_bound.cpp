// SPDX-License-Identifier: Apache-2.0
#include "check/closed_form_bound.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "check/geometry.hpp"
#include "check/intervals.hpp"
#include "check/tensor_paths.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/boundary_cost.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

// A lower bound of the folds for a tensor in the array. A tile with e elements in one instance has
// no extent above e, so a rank of k terms has at most e^k index combinations in it.
double fewest_folds(const Problem& problem, FanoutId array, const PerDim<std::int64_t>& bounds,
                    TensorId t) {
  const Tensor& tensor = problem.workload().tensors[t];
  const auto width = static_cast<double>(std::min(tensor.bits, tensor.partial_bits).count());
  double most = problem.arch().compute.register_reuse.contains(tensor.role) ? 1 : 0;
  for (const LevelId l : problem.arch().levels.ids()) {
    if (!problem.arch().is_above(l, array)) {
      const auto capacity = problem.capacity(l, tensor.role);
      most = std::max(most, capacity ? static_cast<double>(capacity->count()) / width : kInfinity);
    }
  }
  double tiles = 1;
  std::size_t terms = 1;
  for (const Rank& rank : tensor.ranks) {
    terms = std::max(terms, rank.terms.size());
    for (const Term& term : rank.terms) {
      tiles *= static_cast<double>(bounds[term.dim]);
    }
  }
  return std::max(1.0, tiles / std::pow(std::max(1.0, most), static_cast<double>(terms)));
}

// A lower bound of the array's time [cycles], from the fewest folds with one point per instance.
// Infinite: no tensor may stay in the array.
double array_bound(const Problem& problem, const Unrolling& unrolling,
                   const PerDim<std::int64_t>& bounds, double steps) {
  const FanoutId array = *array_of(problem.arch());
  const Rules::AxisFactors& axes = unrolling.axes[array];
  const TensorSet may_stay = may_stay_in_array(problem, unrolling).value_or(TensorSet{});
  double least = kInfinity;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (may_stay.contains(t)) {
      const double folds = fewest_folds(problem, array, bounds, t);
      least = std::min(least, timing_model(problem.arch())
                                  .array->cycles(problem, size_of({axes[0], axes[1]}),
                                                 {t, steps, folds, folds, 1}));
    }
  }
  return least;
}

// A lower bound of the cycles of the outermost level's busiest port: every element of an input
// leaves it at least once, and every sum arrives there. 0 if the level has several instances.
double port_bound(const Problem& problem) {
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    if (!problem.arch().is_above(LevelId{0}, f)) {
      return 0;
    }
  }
  const Bandwidth& bandwidth = problem.arch().levels[LevelId{0}].bandwidth;
  const Workload& workload = problem.workload();
  double cycles = 0;
  for (const PortKind port : kPorts) {
    double moved = 0;  // bits
    for (const TensorId t : workload.tensors.ids()) {
      double bits = problem.moved_bits(t, workload.tensors[t].bits);
      for (const Rank& rank : workload.tensors[t].ranks) {
        bits *= static_cast<double>(count_coordinates(rank, bounds_of(workload)));
      }
      const Access access = crossing_access(/*at_parent=*/true, t == workload.output());
      moved += passes(access, port) ? bits : 0;
    }
    if (const auto& rate = rate_of(bandwidth, port)) {
      cycles = std::max(cycles, transfer_cycles(moved * (1 - kTolerance), *rate));
    }
  }
  return cycles;
}

double least_energy(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
                    Paths paths) {
  if (paths == Paths::kByPhases) {
    return least_paths_by_phases(problem, rules, ranges);
  }
  std::vector<TensorId> all;
  double alone = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    alone += paths == Paths::kAlone ? least_paths(problem, rules, ranges, {t}) : 0;
    all.push_back(t);
  }
  return paths == Paths::kAlone ? alone : least_paths(problem, rules, ranges, all);
}

// The goal's figures of a lower bound of the compute units' cycles.
Figures bound_from(const Problem& problem, const Rules& rules, const Goal& goal,
                   const ChoiceRanges& ranges, double cycles, Paths paths) {
  if (!(cycles < kInfinity)) {
    return {kInfinity, kInfinity};
  }
  if (goal.needs_time() || problem.leakage(Cycles{1}) > Picojoules{0}) {
    cycles = std::max(cycles, port_bound(problem));
  }
  double energy = problem.mac_energy().count() * static_cast<double>(problem.macs()) +
                  problem.leakage(Cycles{1}).count() * cycles;
  if (goal.needs_energy()) {
    energy += least_energy(problem, rules, ranges, paths);
  }
  return goal.figures(energy, cycles, 0);
}

}  // namespace

Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const Unrolling& unrolling, Paths paths) {
  if (rules.imperfect) {
    return closed_form_bound(problem, rules, goal, ranges_of_axes(problem, unrolling), paths);
  }
  const SpatialFactors& factors = unrolling.factors;
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), factors);
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : bounds) {
    cycles *= static_cast<double>(bound);
  }
  const TimingModel& model = timing_model(problem.arch());
  cycles = model.array != nullptr ? array_bound(problem, unrolling, bounds, cycles)
                                  : model.cycles_of_steps(problem, cycles);
  return bound_from(problem, rules, goal, ranges_of(problem.workload(), factors), cycles, paths);
}

Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const ChoiceRanges& ranges, Paths paths) {
  double steps = 1;
  double whole_steps = 1;
  for (const DimId d : problem.workload().dims.ids()) {
    const std::int64_t bound = problem.workload().dims[d].bound;
    std::int64_t instances = 1;
    for (const ChoiceRange& range : ranges) {
      instances = std::min(bound, instances * range.most[d]);
    }
    steps *= static_cast<double>(bound);
    whole_steps *= static_cast<double>(ceil_div(bound, instances));
  }
  for (const ChoiceRange& range : ranges) {
    steps /= range.most_instances;
  }
  const double cycles =
      timing_model(problem.arch())
          .cycles_of_steps(problem, std::max(steps, whole_steps) *
                                        static_cast<double>(problem.arch().compute.issue_interval));
  return bound_from(problem, rules, goal, ranges, cycles, paths);
}

std::vector<Paths> ways_to_bound(const Rules& rules, const Goal& goal) {
  std::vector<Paths> ways{Paths::kAlone};
  if (goal.needs_energy()) {
    ways.push_back(Paths::kTogether);
  }
  if (goal.needs_energy() && rules.imperfect) {  // perfect factors have quick completion bounds
    ways.push_back(Paths::kByPhases);
  }
  return ways;
}

}  // namespace mapsim::check
