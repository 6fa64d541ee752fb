// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/rng.hpp"
#include "mapper/mapper.hpp"
#include "random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::infeasible_test {
namespace {

bool fits(const Arch& arch, const SearchCase& random) {
  const Problem problem{arch, random.problem.workload()};
  return search_exact(Mapspace{problem, random.constraints}, {}).best.has_value();
}

// A capacity as the report names it.
struct NamedCapacity {
  std::string reason;
  Bits* bits = nullptr;
};

std::vector<NamedCapacity> named_capacities(Arch& arch) {
  std::vector<NamedCapacity> capacities;
  for (Storage& level : arch.levels) {
    if (level.capacity.shared) {
      capacities.push_back({level.name + ": capacity", &*level.capacity.shared});
    }
    for (auto& [role, bits] : level.capacity.per_role) {
      capacities.push_back({level.name + ": capacity for " + to_string(role), &bits});
    }
  }
  return capacities;
}

// The machine with every capacity that has a smallest need enlarged to it; `less`: that one by a
// bit less.
Arch enlarged(Arch arch, const std::map<std::string, std::int64_t>& needs,
              const std::string& less = "") {
  for (const NamedCapacity& capacity : named_capacities(arch)) {
    if (const auto need = needs.find(capacity.reason); need != needs.end()) {
      *capacity.bits = Bits{need->second - (capacity.reason == less ? 1 : 0)};
    }
  }
  return arch;
}

// The case with capacities of a few bits and more that must be kept.
SearchCase squeezed(const SearchCase& random, std::uint64_t seed) {
  Rng rng{seed};
  Arch arch = random.problem.arch();
  for (const NamedCapacity& capacity : named_capacities(arch)) {
    *capacity.bits = Bits{static_cast<std::int64_t>(4 + 4 * rng.below(8))};
  }
  for (Storage& level : arch.levels) {
    for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
      if (level.capacity.shared && !level.bypass.contains(role) && rng.below(3) == 0) {
        level.keep.insert(role);
      }
    }
  }
  return {Problem{arch, random.problem.workload()}, random.constraints};
}

bool has_narrowing_window(const Workload& workload) {
  const Tensor& output = workload.tensors[workload.output()];
  for (const Rank& rank : output.ranks) {
    if (rank.terms.size() > 1 && output.bits < output.partial_bits) {
      return true;
    }
  }
  return false;
}

Problem gemm_on_two_levels(std::int64_t outer_bits, std::int64_t inner_bits, bool double_buffered) {
  Arch arch;
  for (const std::int64_t bits : {std::int64_t{0}, outer_bits, inner_bits}) {
    Storage storage;
    storage.name = fmt::format("L{}", arch.levels.size());
    if (bits > 0) {
      storage.capacity.shared = Bits{bits};
      storage.keep = kAllRoles;
      storage.double_buffered = double_buffered;
    }
    arch.levels.push_back(storage);
  }
  Precision precision;
  precision.partial = Bits{32};
  return Problem{arch, gemm("g", {4, 2, 3, {}, false}, precision)};
}

TEST(ExactInfeasible, NamesEveryRoomThatIsTooSmall) {
  // L2 takes a value of each operand and a partial sum, L1 a finished one.
  const Problem problem = gemm_on_two_levels(16, 16, false);
  const SearchResult result = search_exact(Mapspace{problem, {}}, {});
  EXPECT_FALSE(result.best.has_value());
  EXPECT_FALSE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kInfeasible);
  EXPECT_THAT(result.infeasible.reasons, testing::ElementsAre(testing::Pair("L1: capacity", 1),
                                                              testing::Pair("L2: capacity", 1)));
  EXPECT_THAT(
      result.infeasible.smallest_need,
      testing::ElementsAre(testing::Pair("L1: capacity", 24), testing::Pair("L2: capacity", 48)));
}

TEST(ExactInfeasible, AsksForTwiceTheTilesOfADoubleBufferedLevel) {
  const Problem problem = gemm_on_two_levels(48, 94, true);
  const SearchResult result = search_exact(Mapspace{problem, {}}, {});
  EXPECT_THAT(result.infeasible.smallest_need,
              testing::ElementsAre(testing::Pair("L2: capacity", 96)));
  const Problem more_room = gemm_on_two_levels(48, 96, true);
  EXPECT_TRUE(search_exact(Mapspace{more_room, {}}, {}).best.has_value());
}

TEST(ExactInfeasible, BlamesTheLimitThatNothingKeeps) {
  const Problem free = gemm_on_two_levels(4'096, 4'096, false);
  Arch arch = free.arch();
  arch.compute.energy = Picojoules{1};
  const Problem problem{arch, free.workload()};
  const Mapspace space{problem, {}};
  SearchOptions options;
  const Cost least = search_exact(space, options).cost.value();
  options.objective.max_energy = least.energy.total;  // alone it leaves something
  options.objective.max_latency = Cycles{1};
  const InfeasibleReport both = search_exact(space, options).infeasible;
  EXPECT_THAT(both.reasons, testing::ElementsAre(testing::Pair("latency limit", 1)));
  options.objective.max_energy = Picojoules{1};
  const InfeasibleReport neither = search_exact(space, options).infeasible;
  EXPECT_EQ(neither.reasons.size(), 2U);
}

TEST(ExactInfeasible, AsksForTheLeastThatWouldDo) {
  int infeasible = 0;
  int several = 0;
  for (std::uint64_t seed = 40'000; seed < 41'000; ++seed) {
    const SearchCase random = squeezed(random_space(seed, 20'000), seed);
    const Arch& arch = random.problem.arch();
    const SearchResult result = search_exact(Mapspace{random.problem, random.constraints}, {});
    if (result.best) {
      EXPECT_TRUE(result.infeasible.reasons.empty());
      continue;
    }
    const auto& needs = result.infeasible.smallest_need;
    EXPECT_FALSE(needs.empty());
    for (const auto& [reason, need] : needs) {
      EXPECT_GE(result.infeasible.reasons.at(reason), 1);
    }
    EXPECT_TRUE(fits(enlarged(arch, needs), random)) << "seed " << seed;
    for (const auto& [reason, need] : needs) {
      if (!has_narrowing_window(random.problem.workload())) {
        EXPECT_FALSE(fits(enlarged(arch, needs, reason), random)) << "seed " << seed;
      }
    }
    ++infeasible;
    several += needs.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(infeasible, 100);
  EXPECT_GT(several, 10);
}

}  // namespace
}  // namespace mapsim::infeasible_test
