// SPDX-License-Identifier: Apache-2.0
#include "costmodel/network.hpp"

#include <gtest/gtest.h>

#include <string>

#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/simulate.hpp"
#include "workloads/load.hpp"

namespace mapsim::network_test {
namespace {

constexpr FanoutId kPes{0};
constexpr DimId kA{0};
constexpr DimId kB{1};

NestLoop loop(DimId dim, Axis axis, std::int64_t bound, std::int64_t stride) {
  return {dim, bound, 1, kPes, axis, kNoLoop, bound, stride};
}

// 3 columns, 4 rows: words enter between rows 1 and 2.
TEST(Routes, GoAlongTheMiddleAndUpAndDownTheColumns) {
  const std::vector<NestLoop> loops{loop(kA, Axis::kX, 3, 1), loop(kB, Axis::kY, 4, 1)};
  const Routes apart(loops, kPes, 4, {});
  EXPECT_EQ(apart.groups(), 12);
  EXPECT_EQ(apart.half_hops(2, 0), 2 * 2 + 3);
  EXPECT_EQ(apart.half_hops(0, 2), 1);
  EXPECT_EQ(apart.half_hops(), 4 * (2 * (0 + 1 + 2)) + 3 * (3 + 1 + 1 + 3));
  const Routes columns(loops, kPes, 4, {kB});  // a column is one group
  EXPECT_EQ(columns.groups(), 3);
  EXPECT_EQ(columns.half_hops(1, 0), 2 + 6);
  const Routes rows(loops, kPes, 4, {kA});
  EXPECT_EQ(rows.half_hops(0, 0), 2 * 2 + 3 * 3);
  EXPECT_EQ(rows.half_hops(), 4 * (2 * 2) + 3 * (3 + 1 + 1 + 3));
  EXPECT_EQ(Routes(loops, kPes, 4, {kA, kB}).half_hops(), 2 * 2 + 3 * 6);
}

TEST(Routes, SetOuterLoopsFurtherApart) {
  const std::vector<NestLoop> loops{loop(kA, Axis::kX, 2, 3), loop(kB, Axis::kX, 3, 1)};
  EXPECT_EQ(Routes(loops, kPes, 1, {kB}).half_hops(), 2 * (2 + 5));
  EXPECT_EQ(Routes(loops, kPes, 1, {kA}).half_hops(), 2 * (3 + 4 + 5));
}

TEST(Routes, LeadToTheFirstRowOfAnArrayThatIsNotUsed) {
  EXPECT_EQ(Routes({}, kPes, 4, {}).half_hops(), 3);
  EXPECT_EQ(Routes({}, kPes, 1, {}).half_hops(), 0);
}

struct Machine {
  std::string array = "{fanout: PEs, x: 4, y: 3, spatial_reduction: true, energy_per_hop: 1 pJ/b}";
  std::string work;
  std::string nest;

  Problem problem() const {
    return {parse_arch("name: m\nnodes:\n"
                       "  - {storage: L, capacity: unlimited, energy: {read: 0 pJ/b, write: 0 "
                       "pJ/b}}\n  - " +
                           array + "\n  - {compute: MAC, energy: 0 pJ}\n",
                       "m.yaml"),
            parse_workload("name: w\n" + work + "\n", "w.yaml")};
  }
  Mapping mapping(const Problem& at) const {
    return parse_mapping("mapping:\n" + nest, "n.yaml", at.arch(), at.workload());
  }
  // By the closed form, which the simulator confirms.
  PerTensor<NetworkCounts> networks() const {
    const Problem at = problem();
    const Counts counts = count(at, mapping(at));
    EXPECT_EQ(counts, simulate(at, mapping(at), random_operands(at.workload(), 1), 1000).counts);
    return counts.networks[kPes];
  }
};

TEST(Networks, AddUpWithTheBreakdown) {
  Machine machine;
  machine.work = "gemm: {m: 2, n: 3, k: 4}\nprecision: {input: 8 b, weight: 4 b, partial: 32 b}";
  machine.nest =
      "  - keep L: [A, B, Z]\n  - parallel M: 1 over X of PEs\n  - parallel N: 1 over Y of PEs\n"
      "  - for K: 1\n";
  const auto at = machine.networks();
  // A: 4 steps of a word to each column of 3; the second is a hop further. B: to each row of 2.
  EXPECT_EQ(at[TensorId{0}], (NetworkCounts{8, 24, 8, 4 * (4 + 2 + 4), 0, Bits{8}}));
  EXPECT_EQ(at[TensorId{1}], (NetworkCounts{12, 24, 12, 4 * (2 * 3 + 2 * (2 + 2)), 0, Bits{4}}));
  // Z: 6 sums come up each step, and go down again but the first time.
  EXPECT_EQ(at[TensorId{2}], (NetworkCounts{24, 24, 24, 4 * (3 * 2 + 2 * (2 + 2)), 18, Bits{32}}));
  EXPECT_EQ(at[TensorId{2}].word_hops(), 28.0 * (24 + 18) / 24);
  const Problem problem = machine.problem();
  const Cost cost = std::get<Cost>(evaluate(problem, machine.mapping(problem)));
  EXPECT_EQ(cost.energy.total.count(), 20.0 * 8 + 28 * 4 + 49 * 32);
  EXPECT_EQ(cost.energy.hops[kPes][TensorId{1}], Picojoules{28 * 4});
}

// Rows 0 1 2 and 1 2 3 of a window on two columns of three: 4 words for 6 receivers. A mean route
// for each word, one hop more for each further receiver.
TEST(Networks, PassHalosFromNeighbourToNeighbour) {
  Machine machine;
  machine.work = "einsum: {equation: 'O[p] += I[p+r] * W[r]', dims: {p: 2, r: 3}}";
  machine.nest =
      "  - keep L: [I, W, O]\n  - parallel p: 1 over X of PEs\n  - parallel r: 1 over Y of PEs\n";
  const NetworkCounts at = machine.networks()[TensorId{0}];
  EXPECT_EQ(at, (NetworkCounts{4, 6, 6, 2 * 3 + 2 * (2 + 2), 0, Bits{8}}));
  EXPECT_DOUBLE_EQ(at.word_hops(), 4 * (7.0 / 6) + 2);
}

TEST(Networks, GoToEveryInstanceApartWithoutMulticast) {
  Machine machine;
  machine.array = "{fanout: PEs, x: 4, multicast: false, energy_per_hop: 1 pJ/b}";
  machine.work = "gemm: {m: 1, n: 4, k: 1}";
  machine.nest = "  - keep L: [A, B, Z]\n  - parallel N: 1 over X of PEs\n";
  EXPECT_EQ(machine.networks()[TensorId{0}], (NetworkCounts{4, 4, 4, 2 * 6, 0, Bits{8}}));
}

// 7 elements on 3 columns: 3, 3 and 1.
TEST(Networks, WeighPartialTiles) {
  Machine machine;
  machine.work = "gemm: {m: 1, n: 7, k: 1}";
  machine.nest = "  - keep L: [A, B, Z]\n  - parallel N: 3 over X of PEs\n  - for N: 1\n";
  const auto at = machine.networks();
  EXPECT_EQ(at[TensorId{1}].half_hops, 7 * 2 + 2 * (3 * 0 + 3 * 1 + 1 * 2));
  // The third column is idle in two of the three steps, but on the way of what all want.
  EXPECT_EQ(at[TensorId{0}].half_hops, 3 * (2 * 2 + 3 * 2));
}

TEST(Networks, AreNotCountedWhereAHopHasNoEnergy) {
  Machine machine;
  machine.array = "{fanout: PEs, x: 4}";
  machine.work = "gemm: {m: 1, n: 4, k: 1}";
  machine.nest = "  - keep L: [A, B, Z]\n  - parallel N: 1 over X of PEs\n";
  EXPECT_EQ(machine.networks()[TensorId{0}], NetworkCounts{});
}

}  // namespace
}  // namespace mapsim::network_test
