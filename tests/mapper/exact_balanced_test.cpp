// SPDX-License-Identifier: Apache-2.0
// The exact mapper on spaces with balanced factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/reference/simulate.hpp"
#include "exact_check.hpp"
#include "mapper/balanced/search.hpp"
#include "mapper/balanced/tiles.hpp"
#include "mapper/exact/groups.hpp"
#include "random_space.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

bool is_perfect(const Workload& workload, const Mapping& mapping) {
  return make_nest(workload, mapping).perfect;
}

constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kSpacesPerShard = 100;
constexpr std::uint64_t kRuledSpacesPerShard = 25;
constexpr std::int64_t kMaxSize = 3'000;

class ExactOnBalancedSpaces : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnBalancedSpaces, testing::Range<std::uint64_t>(0, kShards));

TEST_P(ExactOnBalancedSpaces, FindsTheOptimumOfEveryObjectiveAndProvesIt) {
  for (std::uint64_t i = 0; i < kSpacesPerShard; ++i) {
    const std::uint64_t seed = 40'000 + 1'000 * GetParam() + i;
    const bool all = i % 4 == 0;  // ramped latency keeps labels apart: in small spaces only
    EXPECT_EQ(exact_mismatch(random_balanced_space(seed, all ? kMaxSize / 10 : kMaxSize), all), "")
        << "seed " << seed;
  }
}

TEST_P(ExactOnBalancedSpaces, FindsTheOptimumUnderRules) {
  for (std::uint64_t i = 0; i < kRuledSpacesPerShard; ++i) {
    const std::uint64_t seed = 70'000 + 1'000 * GetParam() + i;
    const bool all = i % 4 == 0;
    EXPECT_EQ(
        exact_mismatch(random_ruled_balanced_space(seed, all ? kMaxSize / 10 : kMaxSize), all), "")
        << "seed " << seed;
  }
}

// The optimum is counted by walking it, too.
TEST(BalancedOptima, CostWhatTheSimulatorCounts) {
  int imperfect = 0;
  for (std::uint64_t seed = 60'000; seed < 60'060; ++seed) {
    const SearchCase random = random_balanced_space(seed, 3'000);
    const SearchResult result = search_exact(Mapspace{random.problem, random.constraints}, {});
    if (result.best) {
      const PerTensor<DenseTensor> operands = random_operands(random.problem.workload(), seed);
      EXPECT_EQ(simulate(random.problem, *result.best, operands, 1'000'000).counts,
                result.cost->counts)
          << "seed " << seed;
      imperfect += is_perfect(random.problem.workload(), *result.best) ? 0 : 1;
    }
  }
  EXPECT_GT(imperfect, 10);
}

// Of 13, loops to 7, 4 and 3 make 4 tiles of 4 and 6 of 3; without the 7, at which nothing need
// stand, they make 7 of 3, and no smaller tiles in place of the 4 and the 3 are as few. So it is in
// the mapping that needs the least energy.
TEST(BalancedOptima, MayHaveAnExtentAtWhichNothingStands) {
  const char* const arch = R"(name: g
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 4 pJ/b, write: 1 pJ/b}}
  - storage: L1
    capacity: {input: 4 B, weight: 2 B}
    keep: [input, weight]
    bypass: [output]
    energy: {read: 2 pJ/b, write: 16 pJ/b}
  - storage: L2
    capacity: {input: 3 B, weight: 1 B}
    keep: [input, weight]
    bypass: [output]
    energy: {read: 1 pJ/b, write: 2 pJ/b}
  - {compute: MAC, energy: 1 pJ, register_reuse: [output]}
)";
  const char* const layer = R"(name: w
einsum:
  equation: Z[H][M][N] += A[H][M] * B[H][N]
  dims: {H: 2, M: 13, N: 4}
  roles: {A: input, B: weight}
precision: {A: 8 b, B: 8 b, Z: 8 b, partial: 8 b}
)";
  const Problem problem{parse_arch(arch, "arch"), parse_workload(layer, "layer")};
  Constraints constraints;
  constraints.factors.balanced = true;
  const SearchResult result = search_exact(Mapspace{problem, constraints}, {});
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.cost->energy.total.count(), 15'080);  // of 762,300 mappings, each looked at
}

// Whoever stops a search does not wait for the size of a space of 27,207 unrollings.
TEST(BalancedOptima, AreNotCountedWhenStopped) {
  const std::string root{MAPSIM_SOURCE_DIR};
  const Problem problem{load_arch(root + "/bench/machines/square_3_levels.yaml"),
                        load_workload(root + "/configs/workloads/resnet50/conv4_1x1a.yaml")};
  Constraints constraints;
  constraints.factors.balanced = true;
  const Mapspace space{problem, constraints};
  const std::atomic<bool> stop = true;
  SearchOptions options;
  options.stop = &stop;
  const SearchResult result = search_exact(space, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.mapspace_size, "");
}

// On a coarse lattice the relaxation says no more than on the fine one, and something.
TEST(CoarseBounds, AreBoundsOfEveryUnrolling) {
  int useful = 0;
  for (std::uint64_t seed = 60'000; seed < 60'060; ++seed) {
    const SearchCase random = random_balanced_space(seed, 100'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      const exact::Groups groups{space, objective};
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto bound = [&](std::size_t most) {
          return balanced::coarse_bound(groups.skeleton(g), space.group_by_factors()[g], objective,
                                        most, exact::Patience{SearchOptions{}})
              .first;
        };
        const double fine = bound(balanced::Tiles::kAll);
        for (const std::size_t most : {1, 20, 60}) {
          const double coarse = bound(most);
          EXPECT_LE(coarse, fine * (1 + kRounding)) << "seed " << seed << " group " << g;
          useful += coarse > groups.floor(g).first && coarse < fine ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(useful, 100);
}

}  // namespace
}  // namespace mapsim
