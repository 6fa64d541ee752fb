// SPDX-License-Identifier: Apache-2.0
#include "check/floor.hpp"

#include <algorithm>

#include "check/geometry.hpp"
#include "check/graph.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

// Energy per bit of what a level gives to the compute units, or takes from them.
double access_energy(const Storage& level, bool output) {
  return (output ? level.energy.update : level.energy.read).count();
}

// Accesses of the compute units to a level are as many as operations, divided by the instances that
// share them.
double tensor_floor(const Problem& problem, const Rules& rules, const SpatialFactors& factors,
                    TensorId t) {
  const Arch& arch = problem.arch();
  const Tensor& tensor = problem.workload().tensors[t];
  const bool output = t == problem.workload().output();
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const double bits = problem.moved_bits(t, tensor.bits);
  double once = bits;
  for (const Rank& rank : tensor.ranks) {
    once *= static_cast<double>(count_coordinates(rank, whole));
  }
  const bool latched = arch.compute.register_reuse.contains(tensor.role);
  double served = latched ? 0 : static_cast<double>(problem.macs()) * bits;
  double least = kInfinity;
  for (std::size_t l = arch.levels.size(); l-- > 0;) {
    const auto level = static_cast<LevelId>(l);
    double shared = served;
    for (const FanoutId f : factors.ids()) {
      for (const std::int64_t factor : factors[f]) {
        shared /=
            arch.is_above(level, f) && problem.is_merged(f, t) ? static_cast<double>(factor) : 1.0;
      }
    }
    const double at_level = access_energy(arch.levels[level], output);
    const double compulsory = once * access_energy(arch.levels[LevelId{0}], output);
    if (may_keep(problem, rules, level, t)) {
      least = std::min(least,
                       l == 0 ? std::max(once, shared) * at_level : compulsory + shared * at_level);
    }
    if (must_keep(problem, rules, level, t)) {
      break;  // nothing further out can be the last
    }
  }
  return least;
}

}  // namespace

Figures floor_of(const Problem& problem, const Rules& rules, const Goal& goal,
                 const SpatialFactors& factors) {
  auto cycles = static_cast<double>(problem.arch().compute.issue_interval);
  for (const std::int64_t bound : temporal_bounds(problem.workload(), factors)) {
    cycles *= static_cast<double>(bound);
  }
  double energy = problem.mac_energy().count() * static_cast<double>(problem.macs()) +
                  problem.leakage(Cycles{1}).count() * cycles;
  for (const TensorId t : problem.workload().tensors.ids()) {
    energy += tensor_floor(problem, rules, factors, t);
  }
  return goal.figures(energy, cycles, 0);
}

}  // namespace mapsim::check
