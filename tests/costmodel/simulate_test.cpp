// SPDX-License-Identifier: Apache-2.0
// The simulator on problems that are small enough to count by hand.
#include "costmodel/reference/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::simulate_test {
namespace {

constexpr LevelId kDram{0};
constexpr LevelId kGlb{1};
constexpr FanoutId kPes{0};
constexpr std::int64_t kMaxSteps = 1000;

// Z[M][N] += A[M][K] * B[K][N]
constexpr DimId kM{0};
constexpr DimId kN{1};
constexpr DimId kK{2};
constexpr TensorId kA{0};
constexpr TensorId kB{1};
constexpr TensorId kZ{2};
constexpr TensorSet kAll{kA, kB, kZ};

// O[k][p] += I[stride*p+r] * W[k][r]: dims and tensors by the same ids.
constexpr DimId kChannel{0};
constexpr DimId kP{1};
constexpr DimId kR{2};
constexpr TensorId kI{0};

Workload cube() {
  Workload workload = gemm("cube", {2, 2, 2, {}, false});
  workload.tensors[kZ].partial_bits = Bits{32};
  return workload;
}

Workload conv(std::int64_t k, std::int64_t p, std::int64_t r, std::int64_t stride) {
  return einsum("conv", "O[k][p] += I[" + std::to_string(stride) + "*p+r] * W[k][r]",
                {{"k", k}, {"p", p}, {"r", r}});
}

// DRAM over GLB over one MAC.
Arch hierarchy() {
  Arch arch;
  for (const char* name : {"DRAM", "GLB"}) {
    Storage storage;
    storage.name = name;
    arch.levels.push_back(storage);
  }
  return arch;
}

// DRAM over two PEs, each with a GLB and a MAC.
Arch two_pes(RoleSet multicast, bool spatial_reduction) {
  Arch arch = hierarchy();
  Fanout fanout;
  fanout.name = "PEs";
  fanout.x = 2;
  fanout.multicast = multicast;
  fanout.spatial_reduction = spatial_reduction;
  arch.fanouts.push_back(fanout);
  arch.levels_above.push_back(1);
  return arch;
}

Counts walk(const Arch& arch, const Workload& workload, std::vector<MappingNode> inner) {
  Mapping mapping{{Keep{kDram, kAll}}};
  mapping.nodes.insert(mapping.nodes.end(), inner.begin(), inner.end());
  const Problem problem{arch, workload};
  EXPECT_TRUE(check_structure(arch, workload, mapping).empty());
  return simulate(problem, mapping, random_operands(workload, 1), kMaxSteps).counts;
}

AccessCounts reads(std::int64_t n) { return {n, 0, 0, 0, 0}; }

TEST(Simulate, FetchesWhatTheInnermostMovingLoopsAskFor) {
  const Counts counts = walk(hierarchy(), cube(),
                             {Temporal{kM, 1}, Temporal{kN, 1}, Temporal{kK, 1}, Keep{kGlb, kAll}});
  // k, the innermost loop, moves A and B: a fetch a step. Z stays while k runs: 4 sums go up once.
  EXPECT_EQ(counts.levels[kDram][kA].total, reads(8));
  EXPECT_EQ(counts.levels[kDram][kB].total, reads(8));
  EXPECT_EQ(counts.levels[kDram][kZ].total, (AccessCounts{0, 0, 4, 0, 0}));
  EXPECT_EQ(counts.levels[kGlb][kA].total, (AccessCounts{8, 8, 0, 0, 0}));
  // The MAC gives back a sum a step and fetches it again, but for the first time: 8 - 4.
  EXPECT_EQ(counts.levels[kGlb][kZ].total, (AccessCounts{0, 0, 8, 4, 4}));
  EXPECT_EQ(counts.steps, 8);
  EXPECT_EQ(counts.macs, 8);
  EXPECT_EQ(counts.levels[kDram][kA].footprint, 4);
  EXPECT_EQ(counts.levels[kGlb][kA].footprint, 1);
}

TEST(Simulate, TakesSumsThatCrossOnceAsFinal) {
  const Counts counts = walk(hierarchy(), cube(),
                             {Temporal{kM, 1}, Temporal{kN, 1}, Temporal{kK, 1}, Keep{kGlb, kAll}});
  const TensorCounts& z = counts.levels[kGlb][kZ];
  EXPECT_EQ(counts.levels[kDram][kZ].bits, Bits{8});
  EXPECT_EQ(z.up_bits, Bits{8});     // 4 drains, 4 sums
  EXPECT_EQ(z.down_bits, Bits{32});  // 8 updates
  EXPECT_EQ(z.bits, Bits{32});
  EXPECT_EQ(z.read_bits, Bits{4 * 32 + 4 * 8});
  EXPECT_EQ(z.write_bits, Bits{8 * 32});
}

TEST(Simulate, ReadsPartialSumsBack) {
  const Counts counts = walk(hierarchy(), cube(),
                             {Temporal{kK, 1}, Temporal{kM, 1}, Temporal{kN, 1}, Keep{kGlb, kAll}});
  // For each k the 4 sums come and go; the first time they need no fetch.
  EXPECT_EQ(counts.levels[kDram][kZ].total, (AccessCounts{0, 0, 8, 4, 0}));
  EXPECT_EQ(counts.levels[kGlb][kZ].total, (AccessCounts{0, 4, 8, 4, 8}));
  EXPECT_EQ(counts.levels[kGlb][kZ].up_bits, Bits{32});
  EXPECT_EQ(counts.levels[kDram][kA].total, reads(4));  // A stays while n runs
}

TEST(Simulate, LetsTensorsBypassALevel) {
  const Counts counts = walk(hierarchy(), cube(),
                             {Temporal{kM, 1}, Keep{kGlb, {kA}}, Temporal{kN, 1}, Temporal{kK, 1}});
  EXPECT_EQ(counts.levels[kGlb][kA].total, (AccessCounts{8, 4, 0, 0, 0}));
  EXPECT_EQ(counts.levels[kGlb][kB], TensorCounts{});
  EXPECT_EQ(counts.levels[kDram][kB].total, reads(8));
  EXPECT_EQ(counts.levels[kDram][kZ].total, (AccessCounts{0, 0, 8, 4, 0}));
}

TEST(Simulate, LatchesOperandsAtTheMac) {
  Arch arch = hierarchy();
  arch.compute.register_reuse = {Role::kWeight, Role::kOutput};
  const Counts counts = walk(arch, cube(), {Temporal{kN, 1}, Temporal{kK, 1}, Temporal{kM, 1}});
  EXPECT_EQ(counts.levels[kDram][kA].total, reads(8));  // no latch
  EXPECT_EQ(counts.levels[kDram][kB].total, reads(4));  // stays while m runs
  EXPECT_EQ(counts.levels[kDram][kZ].total, (AccessCounts{0, 0, 8, 4, 0}));
}

TEST(Simulate, SlidesAWindow) {
  const std::vector<MappingNode> nest{Temporal{kP, 1}, Keep{kGlb, kAll}, Temporal{kR, 1}};
  Arch arch = hierarchy();
  // Rows 0 1 | 1 2 | 2 3: each of the 4 rows once.
  EXPECT_EQ(walk(arch, conv(1, 3, 2, 1), nest).levels[kGlb][kI].total.fills, 4);
  arch.levels[kGlb].sliding = false;
  EXPECT_EQ(walk(arch, conv(1, 3, 2, 1), nest).levels[kGlb][kI].total.fills, 6);
}

TEST(Simulate, FetchesAWindowAfreshWhenALoopOutsideAdvances) {
  const Counts counts =
      walk(hierarchy(), conv(2, 3, 2, 1),
           {Temporal{kChannel, 1}, Temporal{kP, 1}, Keep{kGlb, kAll}, Temporal{kR, 1}});
  EXPECT_EQ(counts.levels[kGlb][kI].total.fills, 2 * 4);
}

TEST(Simulate, TakesAdjacentLoopsOverOneDimAsOne) {
  const Counts counts = walk(hierarchy(), conv(1, 4, 2, 1),
                             {Temporal{kP, 2}, Temporal{kP, 1}, Keep{kGlb, kAll}, Temporal{kR, 1}});
  EXPECT_EQ(counts.levels[kGlb][kI].total.fills, 5);  // 6 if the outer loop fetched afresh
}

TEST(Simulate, LeavesOutTheHolesOfAWindow) {
  // Stride 3, 2 wide: rows 0 1, 3 4, 6 7; rows 2 and 5 are never touched.
  const Counts counts = walk(hierarchy(), conv(1, 3, 2, 3),
                             {Temporal{kP, 2}, Keep{kGlb, kAll}, Temporal{kP, 1}, Temporal{kR, 1}});
  EXPECT_EQ(counts.levels[kDram][kI].footprint, 6);
  EXPECT_EQ(counts.levels[kGlb][kI].footprint, 4);
  EXPECT_EQ(counts.levels[kGlb][kI].total.fills, 6);
}

TEST(Simulate, ServesInstancesWithOneReadWhereTheyMulticast) {
  // Each PE has one column of B and Z, and both want the same A.
  const std::vector<MappingNode> nest{Parallel{kN, 1, kPes, Axis::kX}, Temporal{kM, 1},
                                      Temporal{kK, 1}, Keep{kGlb, kAll}};
  const Counts shared = walk(two_pes(kAllRoles, false), cube(), nest);
  EXPECT_EQ(shared.levels[kDram][kA].total, reads(4));
  EXPECT_EQ(shared.levels[kGlb][kA].total.fills, 8);
  EXPECT_EQ(shared.levels[kGlb][kA].busiest.fills, 4);
  EXPECT_EQ(shared.levels[kDram][kB].total, reads(8));
  EXPECT_EQ(shared.used_x[kPes], 2);
  EXPECT_EQ(shared.steps, 4);
  const Counts alone = walk(two_pes({Role::kWeight}, false), cube(), nest);
  EXPECT_EQ(alone.levels[kDram][kA].total, reads(8));
}

TEST(Simulate, SumsInstancesOnTheWayUpWhereTheyReduce) {
  // Each PE has one k and so a partial sum of all of Z.
  const std::vector<MappingNode> nest{Parallel{kK, 1, kPes, Axis::kX}, Temporal{kM, 1},
                                      Temporal{kN, 1}, Keep{kGlb, kAll}};
  const Counts reduced = walk(two_pes({}, true), cube(), nest);
  EXPECT_EQ(reduced.levels[kDram][kZ].total, (AccessCounts{0, 0, 4, 0, 0}));
  EXPECT_EQ(reduced.levels[kGlb][kZ].total.drains, 8);
  EXPECT_EQ(reduced.reductions[kPes], 4);
  EXPECT_EQ(reduced.levels[kDram][kZ].down_bits, Bits{8});  // 4 sums arrive, all final
  EXPECT_EQ(reduced.levels[kGlb][kZ].up_bits, Bits{32});    // 8 leave
  const Counts apart = walk(two_pes({}, false), cube(), nest);
  EXPECT_EQ(apart.levels[kDram][kZ].total, (AccessCounts{0, 0, 8, 4, 0}));
  EXPECT_EQ(apart.levels[kGlb][kZ].total.fills, 0);  // each PE meets each of its sums once
  EXPECT_EQ(apart.reductions[kPes], 0);
}

TEST(Simulate, CountsTheAdditionsOfEachFanoutInSeries) {
  Arch arch = two_pes({}, true);
  arch.fanouts.push_back(arch.fanouts[kPes]);
  arch.levels_above.push_back(1);
  const Workload dot = gemm("dot", {1, 1, 4, {}, false});
  const std::vector<MappingNode> nest{Parallel{kK, 2, FanoutId{0}, Axis::kX},
                                      Parallel{kK, 1, FanoutId{1}, Axis::kX}};
  const Counts both = walk(arch, dot, nest);
  EXPECT_EQ(both.reductions[FanoutId{1}], 2);  // 4 products, two by two
  EXPECT_EQ(both.reductions[FanoutId{0}], 1);
  EXPECT_EQ(both.levels[kDram][kZ].total, (AccessCounts{0, 0, 1, 0, 0}));
  arch.fanouts[FanoutId{1}].spatial_reduction = false;
  const Counts outer = walk(arch, dot, nest);
  EXPECT_EQ(outer.reductions[FanoutId{1}], 0);
  EXPECT_EQ(outer.reductions[FanoutId{0}], 2);
  EXPECT_EQ(outer.levels[kDram][kZ].total, (AccessCounts{0, 0, 2, 1, 0}));
}

TEST(Simulate, PassesHalosOnBetweenNeighboursWhereTheyForward) {
  // Rows of the PEs: 012 and 123, then 234 and 345.
  const std::vector<MappingNode> nest{Temporal{kP, 2}, Parallel{kP, 1, kPes, Axis::kX},
                                      Keep{kGlb, kAll}, Temporal{kR, 1}};
  Arch arch = two_pes(kAllRoles, false);
  EXPECT_EQ(walk(arch, conv(1, 4, 3, 1), nest).levels[kDram][kI].total, reads(4 + 2));
  arch.fanouts[kPes].forwarding = false;  // the first wants 3 4, the second 4 5
  EXPECT_EQ(walk(arch, conv(1, 4, 3, 1), nest).levels[kDram][kI].total, reads(4 + 3));
  arch.fanouts[kPes].multicast = {};
  EXPECT_EQ(walk(arch, conv(1, 4, 3, 1), nest).levels[kDram][kI].total, reads(6 + 4));
}

TEST(Simulate, LeavesInstancesIdleAtTheEndOfAnImperfectTiling) {
  // 5 rows of A: 3 for the first PE, 2 for the second.
  const Counts counts = walk(two_pes(kAllRoles, false), gemm("column", {5, 1, 1, {}, false}),
                             {Parallel{kM, 3, kPes, Axis::kX}, Temporal{kM, 1}, Keep{kGlb, kAll}});
  EXPECT_EQ(counts.steps, 3);
  EXPECT_EQ(counts.macs, 5);
  EXPECT_EQ(counts.levels[kGlb][kA].total, (AccessCounts{5, 5, 0, 0, 0}));
  EXPECT_EQ(counts.levels[kGlb][kA].busiest, (AccessCounts{3, 3, 0, 0, 0}));
  EXPECT_EQ(counts.levels[kGlb][kB].total, (AccessCounts{5, 2, 0, 0, 0}));
  EXPECT_EQ(counts.levels[kDram][kB].total, reads(1));
}

TEST(Simulate, MultipliesWhatItFindsInTheBuffers) {
  const Workload workload = cube();
  PerTensor<DenseTensor> operands = random_operands(workload, 1);
  operands[kA] = {{2, 2}, {1, 2, 3, 4}};
  operands[kB] = {{2, 2}, {5, 6, 7, 8}};
  const Problem problem{hierarchy(), workload};
  const Mapping mapping{
      {Keep{kDram, kAll}, Temporal{kK, 1}, Temporal{kM, 1}, Keep{kGlb, kAll}, Temporal{kN, 1}}};
  EXPECT_EQ(simulate(problem, mapping, operands, kMaxSteps).output,
            (DenseTensor{{2, 2}, {19, 22, 43, 50}}));
}

TEST(Simulate, RefusesWalksThatAreTooLong) {
  const Workload workload = cube();
  const Problem problem{hierarchy(), workload};
  const Mapping mapping{{Keep{kDram, kAll}, Temporal{kK, 1}, Temporal{kM, 1}, Temporal{kN, 1}}};
  const PerTensor<DenseTensor> operands = random_operands(workload, 1);
  EXPECT_NO_THROW(simulate(problem, mapping, operands, 8));
  EXPECT_THROW(simulate(problem, mapping, operands, 7), std::length_error);
}

TEST(RandomOperands, LeavesWhatTheEinsumNeverTouchesAtZero) {
  const Workload workload = conv(1, 9, 1, 5);  // one row in five
  const DenseTensor input = random_operands(workload, 7)[kI];
  ASSERT_EQ(input.shape, (std::vector<std::int64_t>{41}));
  double touched = 0;
  for (std::size_t row = 0; row < input.values.size(); ++row) {
    if (row % 5 == 0) {
      touched += std::abs(input.values[row]);
    } else {
      EXPECT_EQ(input.values[row], 0) << row;
    }
  }
  EXPECT_GT(touched, 0);
}

TEST(RandomOperands, DependsOnTheSeedAlone) {
  EXPECT_EQ(random_operands(cube(), 3), random_operands(cube(), 3));
  EXPECT_NE(random_operands(cube(), 3)[kA].values, random_operands(cube(), 4)[kA].values);
}

}  // namespace
}  // namespace mapsim::simulate_test
