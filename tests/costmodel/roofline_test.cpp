// SPDX-License-Identifier: Apache-2.0
#include "costmodel/roofline.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "costmodel/evaluate.hpp"
#include "tests/costmodel/random_case.hpp"

namespace mapsim::roofline_test {
namespace {

// One memory over `units` MAC units at 1 GHz.
Arch machine(std::int64_t units, Bandwidth bandwidth) {
  Arch arch;
  arch.name = "machine";
  Storage dram;
  dram.name = "DRAM";
  dram.bandwidth = bandwidth;
  dram.energy = {PicojoulesPerBit{10}, PicojoulesPerBit{20}, PicojoulesPerBit{30}};
  arch.levels.push_back(dram);
  Fanout fanout;
  fanout.name = "PEs";
  fanout.x = units;
  arch.fanouts.push_back(fanout);
  arch.levels_above.push_back(1);
  arch.compute.name = "MAC";
  arch.compute.energy = Picojoules{2};
  return arch;
}

Bandwidth shared(double bits_per_cycle) {
  return {std::nullopt, std::nullopt, BitsPerCycle{bits_per_cycle}};
}

// A machine of one point: MACs and bytes per second as a data sheet prints them.
Arch machine_of(double macs_per_second, double bytes_per_second) {
  Arch arch = machine(1, shared(8 * bytes_per_second / macs_per_second));
  arch.clock = Hertz{macs_per_second};
  return arch;
}

Tensor tensor(std::string name, Role role, std::vector<Rank> ranks, std::int64_t bits) {
  return {std::move(name), role, std::move(ranks), Bits{bits}, Bits{bits}, 1, {}, std::nullopt};
}

Rank rank(std::size_t dim) { return {{{static_cast<DimId>(dim), 1}}}; }

// linear layer: Z[m][n] += A[m][k] * B[k][n]
Workload linear(std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t bits) {
  Workload work;
  work.name = "linear";
  work.dims.push_back({"M", batch});
  work.dims.push_back({"N", out});
  work.dims.push_back({"K", in});
  work.tensors.push_back(tensor("A", Role::kInput, {rank(0), rank(2)}, bits));
  work.tensors.push_back(tensor("B", Role::kWeight, {rank(2), rank(1)}, bits));
  work.tensors.push_back(tensor("Z", Role::kOutput, {rank(0), rank(1)}, bits));
  return work;
}

// 3x3 convolution with bias, input 1x3x416x480, stride 2, padding 1, FP32.
Workload strided_convolution() {
  Workload work;
  work.name = "conv";
  for (const auto& [name, bound] : {std::pair{"K", 16}, {"C", 3}, {"P", 208}, {"Q", 240}}) {
    work.dims.push_back({name, bound});
  }
  work.dims.push_back({"R", 3});
  work.dims.push_back({"S", 3});
  const Rank rows{{{DimId{2}, 2}, {DimId{4}, 1}}};
  const Rank columns{{{DimId{3}, 2}, {DimId{5}, 1}}};
  work.tensors.push_back(tensor("I", Role::kInput, {rank(1), rows, columns}, 32));
  work.tensors[TensorId{0}].stored_elements = 3 * 416 * 480;
  work.tensors.push_back(tensor("W", Role::kWeight, {rank(0), rank(1), rank(4), rank(5)}, 32));
  work.tensors.push_back(tensor("O", Role::kOutput, {rank(0), rank(2), rank(3)}, 32));
  work.bias = true;
  return work;
}

TEST(Roofline, CountsTheOperationsOfAConvolutionWithItsBias) {
  const Roofline bounds = roofline(machine_of(0.5e12, 1e12), strided_convolution());
  EXPECT_EQ(bounds.ops, 44'728'320);
  EXPECT_EQ(bounds.ops_per_mac, 2);
}

TEST(Roofline, CountsTensorsAsTheyLieInMemoryAndBiasesAsParameters) {
  const Roofline bounds = roofline(machine_of(0.5e12, 1e12), strided_convolution());
  EXPECT_EQ(bounds.tensors[TensorId{0}].bytes, 2'396'160);
  EXPECT_EQ(bounds.tensors[TensorId{1}].elements, 448);
  EXPECT_EQ(bounds.tensors[TensorId{1}].bytes, 1'792);
  EXPECT_EQ(bounds.tensors[TensorId{2}].bytes, 3'194'880);
  EXPECT_EQ(bounds.bytes, 2'396'160 + 1'792 + 3'194'880);
}

TEST(Roofline, TimesComputeAndTransferOfEachTensor) {
  // 1 TOP/s is half as many MACs.
  const Roofline bounds = roofline(machine_of(0.5e12, 1e12), strided_convolution());
  EXPECT_NEAR(bounds.bound.compute.count(), 44.728e-6, 0.001e-6);
  const double maps =
      bounds.tensors[TensorId{0}].transfer.count() + bounds.tensors[TensorId{2}].transfer.count();
  EXPECT_NEAR(maps, 5.591e-6, 0.001e-6);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMath);
  EXPECT_DOUBLE_EQ(bounds.bound.math_utilization, 1);
  EXPECT_NEAR(bounds.bound.memory_utilization, (5.591 + 0.0018) / 44.728, 1e-4);
}

TEST(Roofline, PeakIsUnitsTimesClockOverIssueInterval) {
  Arch arch = machine(1024, {});
  EXPECT_DOUBLE_EQ(roofline(arch, linear(1, 1, 1, 8)).macs_per_second, 1024e9);
  EXPECT_DOUBLE_EQ(roofline(arch, linear(1, 1, 1, 8)).peak.ops_per_second, 2048e9);
  arch.compute.issue_interval = 4;
  EXPECT_DOUBLE_EQ(roofline(arch, linear(1, 1, 1, 8)).macs_per_second, 256e9);
}

TEST(RooflineBound, UtilizationIsTheShareOfTheTime) {
  // 1 TB/s of which 200 GB/s flow while 1 TOP/s is busy.
  const RooflineBound bound = roofline_bound(1e12, 200e9, {1e12, 1e12});
  EXPECT_DOUBLE_EQ(bound.memory_utilization, 0.2);
  EXPECT_LT(bound.memory_utilization, kLimitingUtilization);
  EXPECT_NEAR(roofline_bound(32, 17, {1e12, 1e12}).intensity, 1.88, 0.005);
}

TEST(RooflineBound, MathLimitsFromTheRidgeOn) {
  const Peak peak{100, 10};
  EXPECT_EQ(roofline_bound(9.9, 1, peak).limiter, Limiter::kMemory);
  EXPECT_EQ(roofline_bound(10, 1, peak).limiter, Limiter::kMath);
  EXPECT_EQ(roofline_bound(10, 1, peak).ridge, 10);
  EXPECT_EQ(roofline_bound(10, 1, peak).time(), Seconds{0.1});
}

// The rows for a V100: 125 TFLOP/s in FP16, 900 GB/s.
TEST(Roofline, LinearLayerIsMathLimitedAtALargeBatch) {
  const Roofline bounds = roofline(machine_of(62.5e12, 900e9), linear(512, 1024, 4096, 16));
  EXPECT_NEAR(bounds.bound.intensity, 315, 0.5);
  EXPECT_NEAR(bounds.bound.ridge, 138.9, 0.05);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMath);
}

TEST(Roofline, LinearLayerIsMemoryLimitedAtBatchOne) {
  const Roofline bounds = roofline(machine_of(62.5e12, 900e9), linear(1, 1024, 4096, 16));
  EXPECT_NEAR(bounds.bound.intensity, 1, 0.005);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMemory);
}

// One operand: an operation per point and no multiplication. Max pooling 3x3, stride 1, FP16.
TEST(Roofline, PoolingIsAnEinsumOfOneOperand) {
  Workload pool;
  for (const auto& [name, bound] : {std::pair{"P", 4096}, {"Q", 4096}, {"R", 3}, {"S", 3}}) {
    pool.dims.push_back({name, bound});
  }
  const Rank rows{{{DimId{0}, 1}, {DimId{2}, 1}}};
  const Rank columns{{{DimId{1}, 1}, {DimId{3}, 1}}};
  pool.tensors.push_back(tensor("I", Role::kInput, {rows, columns}, 16));
  pool.tensors.push_back(tensor("O", Role::kOutput, {rank(0), rank(1)}, 16));
  const Roofline bounds = roofline(machine_of(125e12, 900e9), pool);
  EXPECT_EQ(bounds.ops, 9 * 4096 * 4096);
  EXPECT_EQ(bounds.tensors[TensorId{0}].elements, 4098 * 4098);
  EXPECT_NEAR(bounds.bound.intensity, 2.25, 0.005);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMemory);
}

TEST(Roofline, ReluIsAQuarterOfAnOperationPerByte) {
  Workload relu;
  relu.dims.push_back({"N", 1 << 20});
  relu.tensors.push_back(tensor("I", Role::kInput, {rank(0)}, 16));
  relu.tensors.push_back(tensor("O", Role::kOutput, {rank(0)}, 16));
  const Roofline bounds = roofline(machine_of(125e12, 900e9), relu);
  EXPECT_DOUBLE_EQ(bounds.bound.intensity, 0.25);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMemory);
}

TEST(RooflineBound, LayerNormIsMemoryLimited) {
  // Per element of FP16 in and out: mean (1), variance (3), normalise (2), scale and shift (2).
  const RooflineBound bound = roofline_bound(8, 4, {125e12, 900e9});
  EXPECT_LT(bound.intensity, 10);
  EXPECT_EQ(bound.limiter, Limiter::kMemory);
}

TEST(Roofline, SeparatePortsOverlap) {
  const Workload work = linear(4, 8, 2, 8);  // reads 32 + 16 B, writes 8 B
  const Arch arch = machine(1, {BitsPerCycle{8}, BitsPerCycle{1}, std::nullopt});
  const Roofline bounds = roofline(arch, work);
  EXPECT_DOUBLE_EQ(bounds.tensors[TensorId{2}].transfer.count(), 64e-9);
  EXPECT_DOUBLE_EQ(bounds.bound.transfer.count(), 64e-9);
  EXPECT_EQ(bounds.least_cycles, Cycles{64});
}

TEST(Roofline, WithoutABandwidthMathLimits) {
  const Roofline bounds = roofline(machine(1, {}), linear(1, 8, 2, 8));
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMath);
  EXPECT_EQ(bounds.bound.ridge, 0);
  EXPECT_EQ(bounds.bound.transfer, Seconds{0});
}

TEST(Roofline, LeastCostIsFullUseAndCompulsoryTraffic) {
  const Roofline bounds = roofline(machine(3, {}), linear(4, 8, 2, 8));
  EXPECT_EQ(bounds.least_cycles, Cycles{22});  // 64 MACs on 3 units
  EXPECT_DOUBLE_EQ(bounds.least_energy.count(), 64 * 2 + 8 * 48 * 10 + 8 * 8 * 30);
}

TEST(Roofline, LeastCostCountsThePaddingThatMappingsRead) {
  const Workload conv = strided_convolution();
  const Roofline bounds = roofline(machine(1, {}), conv);
  const double input = 3.0 * 417 * 481;
  const double weights = 432;
  const double outputs = 16.0 * 208 * 240;
  EXPECT_DOUBLE_EQ(bounds.least_energy.count(), 2.0 * static_cast<double>(conv.macs()) +
                                                    320 * (input + weights) + 960 * outputs);
}

// Makes each level of one instance that keeps every tensor of a role keep that role by decree, with
// ports of its own.
void decree_keeps(RandomCase& random) {
  const Counts counts = count(Problem{random.arch, random.workload}, random.mapping);
  for (const LevelId l : random.arch.levels.ids()) {
    if (l == LevelId{0} || random.arch.instances(l) > 1) {
      continue;
    }
    RoleSet kept = kAllRoles;
    for (const TensorId t : random.workload.tensors.ids()) {
      if (!counts.levels[l][t].kept) {
        kept.erase(random.workload.tensors[t].role);
      }
    }
    random.arch.levels[l].keep = kept;
    random.arch.levels[l].bandwidth =
        index_of(l) % 2 == 0 ? shared(2) : Bandwidth{BitsPerCycle{1.5}, BitsPerCycle{1}, {}};
  }
}

TEST(Roofline, LevelsThatMustKeepATensorTakeItInOnce) {
  const Workload work = linear(4, 8, 2, 8);  // 32 B of A, 16 B of B, 8 B of Z
  Arch arch = machine(64, {});
  Storage fifo;
  fifo.name = "FIFO";
  fifo.keep = {Role::kWeight};
  fifo.bandwidth.write = BitsPerCycle{2};
  arch.levels.push_back(fifo);
  arch.levels_above[FanoutId{0}] = 2;
  Roofline bounds = roofline(arch, work);
  EXPECT_EQ(bounds.least_cycles, Cycles{64});
  EXPECT_DOUBLE_EQ(bounds.tensors[TensorId{1}].transfer.count(), 64e-9);
  EXPECT_EQ(bounds.tensors[TensorId{0}].transfer.count(), 0);
  EXPECT_DOUBLE_EQ(bounds.peak.bytes_per_second, 56 / 64e-9);
  EXPECT_EQ(bounds.bound.limiter, Limiter::kMemory);

  arch.levels[LevelId{1}].keep = {
      Role::kOutput};  // comes up through the write port, goes on by read
  arch.levels[LevelId{1}].bandwidth = {BitsPerCycle{1}, BitsPerCycle{2}, std::nullopt};
  EXPECT_EQ(roofline(arch, work).least_cycles, Cycles{64});
  arch.levels[LevelId{1}].bandwidth = shared(1);
  EXPECT_EQ(roofline(arch, work).least_cycles, Cycles{128});

  arch.levels_above[FanoutId{0}] = 1;  // in each PE: any of them may hold little
  EXPECT_EQ(roofline(arch, work).least_cycles, Cycles{1});
}

TEST(Roofline, NoMappingBeatsTheLeastCost) {
  std::size_t checked = 0;
  std::size_t inner_binds = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomCase random = random_case(seed);
    for (Storage& level : random.arch.levels) {
      level.capacity = {};
      level.energy = {PicojoulesPerBit{1}, PicojoulesPerBit{2}, PicojoulesPerBit{3}};
    }
    random.arch.levels[LevelId{0}].bandwidth =
        seed % 2 == 0 ? shared(7) : Bandwidth{BitsPerCycle{5}, BitsPerCycle{3}, std::nullopt};
    random.arch.compute.energy = Picojoules{1};
    const Cycles outermost = roofline(random.arch, random.workload).least_cycles;
    if (seed % 4 < 2) {
      decree_keeps(random);
    }
    const Problem problem{random.arch, random.workload};
    const Evaluation evaluation = evaluate(problem, random.mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      const Roofline bounds = roofline(problem.arch(), problem.workload());
      ASSERT_LE(bounds.least_cycles, cost->latency.steady) << "seed " << seed;
      ASSERT_LE(bounds.least_energy.count(), cost->energy.total.count()) << "seed " << seed;
      inner_binds += bounds.least_cycles > outermost ? 1 : 0;
      ++checked;
    }
  }
  EXPECT_GT(checked, 1000U);
  EXPECT_GT(inner_binds, 100U);
}

}  // namespace
}  // namespace mapsim::roofline_test
