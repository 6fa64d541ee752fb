// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "arch/buffering.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/branch/infeasible.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/label_search/label_search.hpp"

namespace mapsim::exact {
namespace {

struct FiniteCapacity {
  LevelId level{};
  std::optional<Role> role;
  Bits have{0};  // available to tiles
  Bits need{0};  // size in the current trial
};

std::vector<FiniteCapacity> finite_capacities(const Problem& problem) {
  std::vector<FiniteCapacity> capacities;
  for (const LevelId l : problem.arch().levels.ids()) {
    const Capacity& capacity = problem.arch().levels[l].capacity;
    if (capacity.shared) {
      capacities.push_back({l, std::nullopt, *problem.capacity(l, Role::kInput), Bits{0}});
    }
    for (const auto& partition : capacity.per_role) {
      capacities.push_back({l, partition.first, *problem.capacity(l, partition.first), Bits{0}});
    }
  }
  return capacities;
}

// Does some mapping of the space fit if capacities have the size `need`?
bool fits(const Mapspace& space, const std::vector<FiniteCapacity>& capacities) {
  Arch arch = space.problem().arch();
  for (const FiniteCapacity& capacity : capacities) {
    Storage& level = arch.levels[capacity.level];
    const Bits bits{capacity.need.count() * copies_of(level)};
    (capacity.role ? level.capacity.per_role[*capacity.role] : *level.capacity.shared) = bits;
  }
  const Problem problem{std::move(arch), space.problem().workload()};
  const Mapspace enlarged{problem, space.constraints()};
  const Objective energy;
  const UnrollingTasks classes{enlarged, energy};
  for (std::size_t unrolling_class = 0; unrolling_class < classes.size(); ++unrolling_class) {
    if (space.constraints().factors.imperfect) {
      const auto found = imperfect::search_class(classes.graph(unrolling_class),
                                                 enlarged.unrolling_classes()[unrolling_class],
                                                 energy, LabelQuery{}, Deadline{SearchOptions{}});
      if (found.best) {
        return true;
      }
      continue;
    }
    const auto tables = classes.build(unrolling_class);
    if (tables->root().first < kInfinity &&
        !search_labels(*tables, LabelQuery{}, Deadline{SearchOptions{}}).goals.empty()) {
      return true;
    }
  }
  return false;
}

// The least size of a capacity, the others being as they are.
void shrink(const Mapspace& space, std::vector<FiniteCapacity>& capacities,
            FiniteCapacity& capacity) {
  std::int64_t too_small = capacity.have.count();
  std::int64_t enough = capacity.need.count();
  while (enough - too_small > 1) {
    const std::int64_t middle = too_small + (enough - too_small) / 2;
    capacity.need = Bits{middle};
    (fits(space, capacities) ? enough : too_small) = middle;
  }
  capacity.need = Bits{enough};
}

}  // namespace

InfeasibleReport least_enlargement(const Mapspace& space) {
  const Workload& workload = space.problem().workload();
  std::vector<FiniteCapacity> capacities = finite_capacities(space.problem());
  Bits everything{0};
  for (const Tensor& tensor : workload.tensors) {
    everything += footprint(tensor, bounds_of(workload)) * tensor.partial_bits;
  }
  for (FiniteCapacity& capacity : capacities) {
    capacity.need = std::max(capacity.have, everything);
  }
  InfeasibleReport report;
  if (timing_model(space.problem().arch()).array != nullptr &&
      !fits(space, capacities)) {  // whatever the capacities
    add(report, space.problem(), NotRunnable{*array_of(space.problem().arch()), {}, {}},
        std::ssize(space.unrolling_classes()));
    return report;
  }
  // First finds capacities that are large enough; then the least size of the others, one by one.
  for (FiniteCapacity& capacity : capacities) {
    const Bits need = std::exchange(capacity.need, capacity.have);
    capacity.need = fits(space, capacities) ? capacity.have : need;
  }
  for (FiniteCapacity& capacity : capacities) {
    if (capacity.need > capacity.have) {
      shrink(space, capacities, capacity);
      add(report, space.problem(),
          CapacityExceeded{capacity.level, capacity.role, capacity.need, capacity.have},
          std::ssize(space.unrolling_classes()));
    }
  }
  return report;
}

}  // namespace mapsim::exact
