// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate.hpp"

#include <map>
#include <numeric>
#include <utility>

#include "costmodel/evaluate_into.hpp"
#include "costmodel/technology.hpp"

namespace mapsim {

namespace {

TensorShape shape_of(const Workload& workload, TensorId t) {
  const Tensor& tensor = workload.tensors[t];
  TensorShape shape;
  shape.dims = tensor.dims();
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    const std::vector<Term>& terms = tensor.ranks[r].terms;
    if (terms.size() == 1) {
      shape.single_dims.insert(terms.front().dim);
      shape.single_points *= workload.dims[terms.front().dim].bound;
    } else if (terms.size() > 1) {
      const std::int64_t g = std::gcd(terms[0].coefficient, terms[1].coefficient);
      shape.windows.push_back({r, terms[0].coefficient / g, terms[1].coefficient / g});
      for (const Term& term : terms) {
        shape.window_dims.insert(term.dim);
      }
      shape.simple = shape.simple && terms.size() == 2 && t != workload.output();
    }
  }
  return shape;
}

}  // namespace

Problem::Problem(Arch arch, Workload workload)
    : arch_{bind_widths(std::move(arch), workload)},
      workload_{std::move(workload)},
      macs_{workload_.macs()} {
  if (const auto leakage = total_leakage(arch_).sum; leakage && arch_.leaks) {
    constexpr double kPicojoulesPerMillijoule = 1e9;
    leakage_per_cycle_ =
        Picojoules{leakage->count() * kPicojoulesPerMillijoule / arch_.clock.count()};
  }
  for (const TensorId t : workload_.tensors.ids()) {
    shapes_.push_back(shape_of(workload_, t));
  }
}

Picojoules Problem::leakage(Cycles cycles) const {
  return leakage_per_cycle_ * static_cast<double>(cycles.count());
}

std::optional<Bits> Problem::room(LevelId level, Role role) const {
  const Storage& storage = arch_.levels[level];
  std::optional<Bits> room = storage.capacity.shared;
  if (!storage.capacity.per_role.empty()) {
    const auto partition = storage.capacity.per_role.find(role);
    room = partition == storage.capacity.per_role.end() ? Bits{0} : partition->second;
  }
  if (room && storage.double_buffered) {
    room = Bits{room->count() / 2};
  }
  return room;
}

bool Problem::may_keep(LevelId level, TensorId tensor) const {
  const Storage& storage = arch_.levels[level];
  const Role role = workload_.tensors[tensor].role;
  return !storage.bypass.contains(role) &&
         (storage.capacity.per_role.empty() || storage.capacity.per_role.contains(role));
}

bool Problem::must_keep(LevelId level, TensorId tensor) const {
  return level == LevelId{0} || arch_.levels[level].keep.contains(workload_.tensors[tensor].role);
}

bool Problem::is_merged(FanoutId fanout, TensorId tensor) const {
  const Fanout& network = arch_.fanouts[fanout];
  const Role role = workload_.tensors[tensor].role;
  return role == Role::kOutput ? network.spatial_reduction : network.multicast.contains(role);
}

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
