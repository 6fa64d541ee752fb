// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/evaluate_into.hpp"
#include "costmodel/sparse/count_sparse.hpp"
#include "costmodel/timing/model.hpp"

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

// Bits that tiles take of a level, all or those of one role.
Bits need(const Problem& problem, LevelId level, const Counts& counts, const SparseCounts* sparse,
          std::optional<Role> role) {
  if (sparse == nullptr) {
    return timing_model(problem.arch()).need(problem, level, counts.levels[level], role);
  }
  double bits = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    if (!role || problem.workload().tensors[t].role == *role) {
      bits += sparse->levels[level][t].stored_bits;
    }
  }
  return Bits{static_cast<std::int64_t>(std::ceil(bits))};
}

// Calls visit(level, partition, want, have) for every capacity of limited size, outermost first,
// until it returns false.
template <class Visit>
void for_each_capacity(const Problem& problem, const Counts& counts, const SparseCounts* sparse,
                       const Visit& visit) {
  const TimingModel& model = timing_model(problem.arch());
  for (const LevelId l : problem.arch().levels.ids()) {
    const Capacity& capacity = problem.arch().levels[l].capacity;
    const auto look = [&](std::optional<Role> role, Bits have) {
      return visit(l, role, need(problem, l, counts, sparse, role), have);
    };
    const auto fits = [&](std::optional<Role> role) {
      return look(role, *problem.capacity(l, role.value_or(Role::kInput)));
    };
    for (const Partition& partition : model.partitions(problem.arch(), l)) {
      if (!look(partition.role, partition.have)) {
        return;
      }
    }
    if (capacity.shared && !fits(std::nullopt)) {
      return;
    }
    for (const auto& partition : capacity.per_role) {
      if (!fits(partition.first)) {
        return;
      }
    }
  }
}

// Why the array cannot run the nest, if there is one and it cannot.
std::optional<Infeasible> check_array(const Problem& problem, const Nest& nest) {
  const ArrayModel* array = timing_model(problem.arch()).array;
  if (array == nullptr) {
    return std::nullopt;
  }
  const Obstacle obstacle = array->obstacle(problem, nest);
  if (obstacle.excess == 0) {
    return std::nullopt;
  }
  const auto role = [&](std::optional<TensorId> t) {
    return t ? std::optional(problem.workload().tensors[*t].role) : std::nullopt;
  };
  return NotRunnable{*array_of(problem.arch()), role(obstacle.stays), role(obstacle.stuck)};
}

}  // namespace

std::optional<Infeasible> check_feasible(const Problem& problem, const Counts& counts,
                                         const SparseCounts* sparse) {
  if (auto exceeded = check_fanouts(problem.arch(), counts)) {
    return exceeded;
  }
  std::optional<Infeasible> exceeded;
  for_each_capacity(problem, counts, sparse,
                    [&](LevelId l, std::optional<Role> role, Bits want, Bits have) {
                      if (want > have) {
                        exceeded = CapacityExceeded{l, role, want, have};
                      }
                      return !exceeded;
                    });
  return exceeded;
}

double excess(const Problem& problem, const Counts& counts, const SparseCounts* sparse) {
  double sum = 0;
  const auto add = [&sum](std::int64_t want, std::int64_t have) {
    if (want > have) {
      sum += std::log2(static_cast<double>(want) /
                       static_cast<double>(std::max<std::int64_t>(have, 1)));
    }
  };
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    add(counts.used_x[f], problem.arch().fanouts[f].x);
    add(counts.used_y[f], problem.arch().fanouts[f].y);
  }
  for_each_capacity(problem, counts, sparse,
                    [&](LevelId, std::optional<Role>, Bits want, Bits have) {
                      add(want.count(), have.count());
                      return true;
                    });
  return sum;
}

Evaluator::Evaluator(const Problem& problem) : problem_{problem}, nest_{std::make_unique<Nest>()} {}
Evaluator::~Evaluator() = default;

std::optional<Infeasible> Evaluator::evaluate(const Mapping& mapping) {
  make_nest(problem_.workload(), mapping, *nest_);
  count_capacities_into(problem_, *nest_, cost_.counts);
  std::shared_ptr<SparseCounts> sparse;
  if (problem_.sparse() != nullptr) {
    sparse = std::make_shared<SparseCounts>();
    hold_tiles(problem_, *nest_, cost_.counts, *sparse);
    cost_.sparse = sparse;
  }
  if (auto infeasible = check_feasible(problem_, cost_.counts, sparse.get())) {
    return infeasible;
  }
  if (auto infeasible = check_array(problem_, *nest_)) {
    return infeasible;
  }
  count_operands_into(problem_, *nest_, cost_.counts);
  if (sparse) {
    count_sparse(problem_, *nest_, cost_.counts, *sparse);
  }
  energy_into(problem_, cost_.counts, cost_.energy, sparse.get());
  latency_into(problem_, *nest_, cost_.counts, cost_.latency, sparse.get());
  cost_.energy.leakage = problem_.leakage(cost_.latency.steady);
  cost_.energy.total += cost_.energy.leakage;
  cost_.utilization =
      static_cast<double>(problem_.macs() * problem_.arch().compute.issue_interval) /
      (static_cast<double>(cost_.latency.steady.count()) *
       static_cast<double>(problem_.arch().mac_units()));
  return std::nullopt;
}

double Evaluator::excess() const {
  const ArrayModel* array = timing_model(problem_.arch()).array;
  return mapsim::excess(problem_, cost_.counts, cost_.sparse.get()) +
         (array != nullptr ? array->obstacle(problem_, *nest_).excess : 0);
}

Evaluation evaluate(const Problem& problem, const Mapping& mapping) {
  Evaluator evaluator(problem);
  if (const auto infeasible = evaluator.evaluate(mapping)) {
    return *infeasible;
  }
  return evaluator.cost();
}

}  // namespace mapsim
