// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate.hpp"

#include <map>
#include <utility>

#include "costmodel/evaluate_into.hpp"

namespace mapsim {

namespace {

std::optional<Infeasible> check_fanouts(const Arch& arch, const Counts& counts) {
  for (const FanoutId f : arch.fanouts.ids()) {
    if (counts.used_x[f] > arch.fanouts[f].x) {
      return FanoutExceeded{f, Axis::kX, counts.used_x[f], arch.fanouts[f].x};
    }
    if (counts.used_y[f] > arch.fanouts[f].y) {
      return FanoutExceeded{f, Axis::kY, counts.used_y[f], arch.fanouts[f].y};
    }
  }
  return std::nullopt;
}

// Bits that the tiles of a level need, of all tensors or of one role.
Bits need(const Workload& workload, const PerTensor<TensorCounts>& counts,
          std::optional<Role> role) {
  std::int64_t bits = 0;
  for (const TensorId t : workload.tensors.ids()) {
    if (counts[t].kept && (!role || workload.tensors[t].role == *role)) {
      bits += counts[t].footprint * counts[t].bits.count();
    }
  }
  return Bits{bits};
}

}  // namespace

std::optional<Infeasible> check_feasible(const Problem& problem, const Counts& counts) {
  const Arch& arch = problem.arch();
  if (auto exceeded = check_fanouts(arch, counts)) {
    return exceeded;
  }
  for (const LevelId l : arch.levels.ids()) {
    const Capacity& capacity = arch.levels[l].capacity;
    if (capacity.unlimited()) {
      continue;
    }
    if (capacity.shared) {
      const Bits want = need(problem.workload(), counts.levels[l], std::nullopt);
      const Bits have = *problem.room(l, Role::kInput);
      if (want > have) {
        return CapacityExceeded{l, std::nullopt, want, have};
      }
      continue;
    }
    for (const auto& [role, size] : capacity.per_role) {
      const Bits want = need(problem.workload(), counts.levels[l], role);
      const Bits have = *problem.room(l, role);
      if (want > have) {
        return CapacityExceeded{l, role, want, have};
      }
    }
  }
  return std::nullopt;
}

Evaluator::Evaluator(const Problem& problem) : problem_{problem}, nest_{std::make_unique<Nest>()} {}
Evaluator::~Evaluator() = default;

std::optional<Infeasible> Evaluator::evaluate(const Mapping& mapping) {
  make_nest(problem_.workload(), mapping, *nest_);
  count_rooms_into(problem_, *nest_, cost_.counts);
  if (auto infeasible = check_feasible(problem_, cost_.counts)) {
    return infeasible;
  }
  count_operands_into(problem_, *nest_, cost_.counts);
  energy_into(problem_, cost_.counts, cost_.energy);
  latency_into(problem_, cost_.counts, cost_.latency);
  cost_.energy.leakage = problem_.leakage(cost_.latency.steady);
  cost_.energy.total += cost_.energy.leakage;
  cost_.utilization =
      static_cast<double>(problem_.macs() * problem_.arch().compute.issue_interval) /
      (static_cast<double>(cost_.latency.steady.count()) *
       static_cast<double>(problem_.arch().mac_units()));
  return std::nullopt;
}

Evaluation evaluate(const Problem& problem, const Mapping& mapping) {
  Evaluator evaluator(problem);
  if (const auto infeasible = evaluator.evaluate(mapping)) {
    return *infeasible;
  }
  return evaluator.cost();
}

}  // namespace mapsim
