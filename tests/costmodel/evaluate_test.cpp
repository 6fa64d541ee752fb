// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <variant>

#include "tests/costmodel/random_case.hpp"

namespace mapsim::evaluate_test {
namespace {

// What tiles of a level take, all or those of a role.
Bits taken(const Workload& workload, const PerTensor<TensorCounts>& tiles,
           std::optional<Role> role) {
  Bits bits{0};
  for (const TensorId t : workload.tensors.ids()) {
    if (tiles[t].kept && (!role || workload.tensors[t].role == *role)) {
      bits += tiles[t].footprint * tiles[t].bits;
    }
  }
  return bits;
}

// A level has room for exactly what its tiles take: in a pool or in any partition one bit less is
// too little, and is what the answer names.
TEST(Evaluate, NeedsRoomForAllTilesOfALevel) {
  int pools = 0;
  int partitions = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase random = random_case(seed);
    random.arch.compute.timing = {};
    for (Storage& level : random.arch.levels) {
      level.capacity = {};
      level.double_buffered = false;
    }
    const Counts counts = count(Problem{random.arch, random.workload}, random.mapping);
    const auto exceeded = [&](const Arch& arch) -> std::optional<CapacityExceeded> {
      const auto found = check_feasible(Problem{arch, random.workload}, counts);
      return found && std::holds_alternative<CapacityExceeded>(*found)
                 ? std::optional{std::get<CapacityExceeded>(*found)}
                 : std::nullopt;
    };
    for (const LevelId l : random.arch.levels.ids()) {
      const auto look = [&](std::optional<Role> role, auto&& with_room) {
        const Bits want = taken(random.workload, counts.levels[l], role);
        if (want <= Bits{1}) {
          return 0;
        }
        EXPECT_FALSE(exceeded(with_room(want))) << seed;
        const auto too_little = exceeded(with_room(want - Bits{1}));
        EXPECT_TRUE(too_little && too_little->level == l && too_little->partition == role &&
                    too_little->need == want && too_little->have == want - Bits{1})
            << seed;
        return 1;
      };
      pools += look(std::nullopt, [&](Bits have) {
        Arch arch = random.arch;
        arch.levels[l].capacity.shared = have;
        return arch;
      });
      for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
        partitions += look(role, [&](Bits have) {
          Arch arch = random.arch;
          for (const Role other : {Role::kInput, Role::kWeight, Role::kOutput}) {
            arch.levels[l].capacity.per_role[other] =
                other == role ? have : taken(random.workload, counts.levels[l], other);
          }
          return arch;
        });
      }
    }
  }
  EXPECT_GT(pools, 300);
  EXPECT_GT(partitions, 600);
}

}  // namespace
}  // namespace mapsim::evaluate_test
