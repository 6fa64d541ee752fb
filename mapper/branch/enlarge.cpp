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

struct FiniteRoom {
  LevelId level{};
  std::optional<Role> role;
  Bits have{0};  // for tiles
  Bits need{0};  // what it is to have in the problem at hand
};

std::vector<FiniteRoom> finite_rooms(const Problem& problem) {
  std::vector<FiniteRoom> rooms;
  for (const LevelId l : problem.arch().levels.ids()) {
    const Capacity& capacity = problem.arch().levels[l].capacity;
    if (capacity.shared) {
      rooms.push_back({l, std::nullopt, *problem.room(l, Role::kInput), Bits{0}});
    }
    for (const auto& partition : capacity.per_role) {
      rooms.push_back({l, partition.first, *problem.room(l, partition.first), Bits{0}});
    }
  }
  return rooms;
}

// Does anything of the space fit if rooms are as large as they need?
bool fits(const Mapspace& space, const std::vector<FiniteRoom>& rooms) {
  Arch arch = space.problem().arch();
  for (const FiniteRoom& room : rooms) {
    Storage& level = arch.levels[room.level];
    const Bits bits{room.need.count() * copies_of(level)};
    (room.role ? level.capacity.per_role[*room.role] : *level.capacity.shared) = bits;
  }
  const Problem problem{std::move(arch), space.problem().workload()};
  const Mapspace enlarged{problem, space.constraints()};
  const Objective energy;
  const UnrollingTasks classes{enlarged, energy};
  for (std::size_t unrolling_class = 0; unrolling_class < classes.size(); ++unrolling_class) {
    if (space.constraints().factors.imperfect) {
      const auto found = imperfect::search_class(classes.graph(unrolling_class),
                                                 enlarged.group_by_factors()[unrolling_class],
                                                 energy, LabelQuery{}, Deadline{SearchOptions{}});
      if (found.best) {
        return true;
      }
      continue;
    }
    const auto instance = classes.build(unrolling_class);
    if (instance->root().first < kInfinity &&
        !search_labels(*instance, LabelQuery{}, Deadline{SearchOptions{}}).endings.empty()) {
      return true;
    }
  }
  return false;
}

// The least that a room needs, the others being as they are.
void shrink(const Mapspace& space, std::vector<FiniteRoom>& rooms, FiniteRoom& room) {
  std::int64_t too_small = room.have.count();
  std::int64_t enough = room.need.count();
  while (enough - too_small > 1) {
    const std::int64_t middle = too_small + (enough - too_small) / 2;
    room.need = Bits{middle};
    (fits(space, rooms) ? enough : too_small) = middle;
  }
  room.need = Bits{enough};
}

}  // namespace

InfeasibleReport least_enlargement(const Mapspace& space) {
  const Workload& workload = space.problem().workload();
  std::vector<FiniteRoom> rooms = finite_rooms(space.problem());
  Bits everything{0};
  for (const Tensor& tensor : workload.tensors) {
    everything += footprint(tensor, bounds_of(workload)) * tensor.partial_bits;
  }
  for (FiniteRoom& room : rooms) {
    room.need = std::max(room.have, everything);
  }
  InfeasibleReport report;
  if (timing_model(space.problem().arch()).array != nullptr && !fits(space, rooms)) {  // whatever
    add(report, space.problem(), NotRunnable{*array_of(space.problem().arch()), {}, {}},
        std::ssize(space.group_by_factors()));
    return report;
  }
  // Rooms that are large enough as they are, then the least size of the others one by one.
  for (FiniteRoom& room : rooms) {
    const Bits need = std::exchange(room.need, room.have);
    room.need = fits(space, rooms) ? room.have : need;
  }
  for (FiniteRoom& room : rooms) {
    if (room.need > room.have) {
      shrink(space, rooms, room);
      add(report, space.problem(), CapacityExceeded{room.level, room.role, room.need, room.have},
          std::ssize(space.group_by_factors()));
    }
  }
  return report;
}

}  // namespace mapsim::exact
