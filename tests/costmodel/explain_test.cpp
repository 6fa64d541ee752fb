// SPDX-License-Identifier: Apache-2.0
#include "costmodel/explain.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "tests/costmodel/random_case.hpp"
#include "workloads/load.hpp"

namespace mapsim::explain_test {
namespace {

constexpr const char* kMachine = R"(name: bare
technology: 45nm
nodes:
  - {storage: DRAM, capacity: unlimited}
  - {fanout: PEs, x: 4, spatial_reduction: true}
  - {compute: MAC}
)";

Problem bare(const std::string& format, const std::string& precision,
             const std::string& work = "gemm: {m: 2, n: 3, k: 4}") {
  std::string machine = kMachine;
  machine.replace(machine.find("MAC"), 3, "MAC, format: " + format);
  return {parse_arch(machine, "bare.yaml"),
          parse_workload("name: w\n" + work + "\nprecision: " + precision + "\n", "w.yaml")};
}

TEST(BindWidths, TakesAMacByItsOperandsAndItsSum) {
  const Problem narrow = bare("integer", "{input: 8 b, weight: 8 b, partial: 32 b}");
  EXPECT_DOUBLE_EQ(narrow.arch().compute.energy.count(), 0.2 + 0.1);
  const Problem half = bare("float", "{input: 16 b, weight: 16 b, partial: 32 b}");
  EXPECT_DOUBLE_EQ(half.arch().compute.energy.count(), 1.1 + 0.9);
  const Problem mixed = bare("integer", "{input: 32 b, weight: 32 b}");
  EXPECT_GT(half.arch().compute.physical.area, narrow.arch().compute.physical.area);
  EXPECT_DOUBLE_EQ(mixed.arch().compute.energy.count(), 3.1 + 0.1);
}

TEST(BindWidths, MultipliesEachFurtherOperand) {
  const Problem three =
      bare("integer", "{A: 8 b, B: 8 b, C: 8 b, partial: 32 b}",
           "einsum: {equation: 'Z[i] += A[i][j] * B[j] * C[i]', dims: {i: 2, j: 3}}");
  EXPECT_DOUBLE_EQ(three.arch().compute.energy.count(), 0.2 + 0.2 + 0.1);
}

TEST(BindWidths, PaysForAdditionsOnTheWayUp) {
  const Problem problem = bare("float", "{input: 16 b, weight: 16 b, partial: 32 b}");
  EXPECT_DOUBLE_EQ(problem.arch().fanouts[FanoutId{0}].reduction_energy.count(), 0.9);
}

TEST(BindWidths, LeavesTheNumbersOfTheFile) {
  std::string machine = kMachine;
  machine.replace(machine.find("MAC"), 3, "MAC, energy: 7 pJ");
  const Problem problem{parse_arch(machine, "bare.yaml"),
                        parse_workload("name: w\ngemm: {m: 2, n: 3, k: 4}\n", "w.yaml")};
  EXPECT_EQ(problem.arch().compute.energy, Picojoules{7});
  EXPECT_EQ(problem.arch().compute.source, "");
}

TEST(ExplainEnergy, AddsUpToTheBreakdown) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase random = random_case(seed);
    double energy = 1;
    for (const LevelId l : random.arch.levels.ids()) {
      random.arch.levels[l].energy = {PicojoulesPerBit{energy}, PicojoulesPerBit{energy + 0.3},
                                      PicojoulesPerBit{energy + 0.7}};
      energy *= 0.37;
    }
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.reduction_energy = Picojoules{0.11};
    }
    random.arch.compute.energy = Picojoules{0.19};
    for (const TensorId t : random.workload.tensors.ids()) {
      random.workload.tensors[t].density = 1 - 0.3 * static_cast<double>(index_of(t) % 3);
    }
    const Problem problem{random.arch, random.workload};
    Cost cost;
    cost.counts = count(problem, random.mapping);
    cost.energy = mapsim::energy(problem, cost.counts);
    double sum = 0;
    for (const EnergyTerm& term : explain_energy(problem, cost)) {
      EXPECT_GT(term.count, 0);
      sum += term.energy.count();
    }
    EXPECT_NEAR(sum, cost.energy.total.count(), 1e-12 * sum) << "seed " << seed;
  }
}

// Every term of the energy of zeros: what is made, gated and skipped, and what says where it lies.
TEST(ExplainEnergy, OfZerosAddsUp) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase random = random_case(seed);
    for (const TensorId t : random.workload.tensors.ids()) {
      random.workload.tensors[t].density = 0.5;
    }
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.energy_per_hop.reset();
      fanout.reduction_energy = Picojoules{0.11};
    }
    Sparsity sparsity;
    sparsity.when_zero = static_cast<ZeroAct>(seed % 3);
    sparsity.gated = Picojoules{0.013};
    sparsity.skipped = Picojoules{0.0017};
    double energy = 1;
    for (const LevelId l : random.arch.levels.ids()) {
      random.arch.levels[l].energy = {PicojoulesPerBit{energy}, PicojoulesPerBit{energy + 0.3},
                                      PicojoulesPerBit{energy + 0.7}};
      StorageSparsity zeros;
      for (const Role role : {Role::kInput, Role::kWeight}) {
        zeros.formats[role] = {false, false, {{RankFormat::kBitmask, 0}}};
      }
      zeros.when_empty.push_back(
          {seed % 2 == 0 ? ZeroAct::kGate : ZeroAct::kSkip, Role::kInput, RoleSet{Role::kWeight}});
      zeros.gated = PicojoulesPerBit{0.19 * energy};
      zeros.skipped = PicojoulesPerBit{0.07 * energy};
      sparsity.levels.push_back(zeros);
      energy *= 0.37;
    }
    random.arch.compute.energy = Picojoules{0.23};
    random.arch.sparsity = Shared<Sparsity>{sparsity};
    try {
      const Problem problem{random.arch, random.workload};
      const Evaluation evaluation = evaluate(problem, random.mapping);
      if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
        double sum = 0;
        for (const EnergyTerm& term : explain_energy(problem, *cost)) {
          sum += term.energy.count();
        }
        EXPECT_NEAR(sum, cost->energy.total.count(), 1e-12 * sum) << "seed " << seed;
        ++compared;
      }
    } catch (const ConfigError&) {  // no such format or condition for this layer
    }
  }
  EXPECT_GT(compared, 30);
}

TEST(Leakage, IsPowerTimesTimeAndTheLastOfTheBreakdown) {
  const std::string text = R"(name: leaky
clock: 500 MHz
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 8 pJ/B, write: 8 pJ/B}}
  - {storage: GLB, capacity: 1 KiB, energy: {read: 1 pJ/B, write: 1 pJ/B}, leakage: 3 mW}
  - {fanout: PEs, x: 4}
  - {compute: MAC, energy: 1 pJ, leakage: 250 uW}
)";
  const Workload workload = parse_workload("name: w\ngemm: {m: 2, n: 3, k: 4}\n", "w.yaml");
  const Mapping mapping{{Keep{LevelId{0}, TensorSet::from_bits(7)},
                         Keep{LevelId{1}, TensorSet::from_bits(7)}, Temporal{DimId{0}, 1},
                         Temporal{DimId{1}, 1}, Temporal{DimId{2}, 1}}};
  const Problem problem{parse_arch(text, "leaky.yaml"), workload};
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  // 24 cycles of 2 ns at 3 mW + 4 x 0.25 mW.
  EXPECT_DOUBLE_EQ(cost.energy.leakage.count(), 24 * 2 * 4.0);
  EXPECT_EQ(cost.energy.total, energy(problem, cost.counts).total + cost.energy.leakage);
  double leaks = 0;
  for (const EnergyTerm& term : explain_energy(problem, cost)) {
    leaks += term.action == "leak" ? term.energy.count() : 0;
  }
  EXPECT_DOUBLE_EQ(leaks, cost.energy.leakage.count());

  std::string tight = text;
  tight.replace(tight.find("nodes:"), 6, "leakage: false\nnodes:");
  const Problem without{parse_arch(tight, "tight.yaml"), workload};
  EXPECT_EQ(std::get<Cost>(evaluate(without, mapping)).energy.leakage, Picojoules{0});
}

// What a table says of accesses that are not made comes from the table.
TEST(ExplainEnergy, NamesTheTableOfGatedAccesses) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / "mapsim_gated_explain_test";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "E.yaml"} << R"(ERT:
  version: '0.4'
  tables:
  - name: DRAM
    actions: [{name: read, energy: 8}, {name: write, energy: 8}, {name: gated_read, energy: 2}]
  - name: MAC
    actions: [{name: mac, energy: 1}]
)";
  std::ofstream{folder / "m.yaml"} << R"(name: m
ert: E.yaml
nodes:
  - storage: DRAM
    word: 8 b
    capacity: unlimited
    format: {input: bitmask}
    when_empty: [{gate: weight, on: input}]
  - {compute: MAC, when_zero: gate}
)";
  const Problem problem{
      load_arch((folder / "m.yaml").string()),
      parse_workload("name: w\ngemm: {m: 2, n: 2, k: 4}\ndensity: {A: 0.5}\n", "w.yaml")};
  const Mapping mapping = parse_mapping(
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 1\n  - for N: 1\n  - for K: 1\n", "t.yaml",
      problem.arch(), problem.workload());
  int gated = 0;
  for (const EnergyTerm& term :
       explain_energy(problem, std::get<Cost>(evaluate(problem, mapping)))) {
    if (term.action == "read, gated") {
      EXPECT_TRUE(term.source.ends_with("E.yaml: DRAM gated_*")) << term.source;
      ++gated;
    }
  }
  EXPECT_EQ(gated, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mapsim::explain_test
