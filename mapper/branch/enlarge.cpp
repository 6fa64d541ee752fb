// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "arch/buffering.hpp"
#include "arch/capacities.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/branch/infeasible.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/imperfect_search.hpp"
#include "mapper/label_search/label_search.hpp"

namespace mapsim::exact {
namespace {

struct TriedCapacity : FiniteCapacity {
  Bits need{0};  // size in the current trial
};

// Does some mapping of the space fit if capacities have the size `need`?
bool fits(const Mapspace& space, const std::vector<TriedCapacity>& capacities) {
  Arch arch = space.problem().arch();
  for (const TriedCapacity& capacity : capacities) {
    Storage& level = arch.levels[capacity.level];
    size_of(level, capacity.role) = Bits{capacity.need.count() * copies_of(level)};
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
void shrink(const Mapspace& space, std::vector<TriedCapacity>& capacities,
            TriedCapacity& capacity) {
  std::int64_t too_small = capacity.bits.count();
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
  Bits everything{0};
  for (const Tensor& tensor : workload.tensors) {
    everything += footprint(tensor, bounds_of(workload)) * tensor.partial_bits;
  }
  std::vector<TriedCapacity> capacities;
  for (const FiniteCapacity& capacity : capacities_of(space.problem().arch())) {
    capacities.push_back({capacity, std::max(capacity.bits, everything)});
  }
  InfeasibleReport report;
  if (timing_model(space.problem().arch()).array != nullptr &&
      !fits(space, capacities)) {  // whatever the capacities
    add(report, space.problem(), NotRunnable{*array_of(space.problem().arch()), {}, {}},
        std::ssize(space.unrolling_classes()));
    return report;
  }
  // First finds capacities that are large enough; then the least size of the others, one by one.
  for (TriedCapacity& capacity : capacities) {
    const Bits need = std::exchange(capacity.need, capacity.bits);
    capacity.need = fits(space, capacities) ? capacity.bits : need;
  }
  for (TriedCapacity& capacity : capacities) {
    if (capacity.need > capacity.bits) {
      shrink(space, capacities, capacity);
      add(report, space.problem(),
          CapacityExceeded{capacity.level, capacity.role, capacity.need, capacity.bits},
          std::ssize(space.unrolling_classes()));
    }
  }
  return report;
}

}  // namespace mapsim::exact
