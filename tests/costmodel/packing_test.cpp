// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "costmodel/busiest.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/reference/simulate.hpp"
#include "costmodel/sparse/separable.hpp"
#include "tests/costmodel/random_zeros.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::packing_test {
namespace {

// Lanes over M and over N or K, of which those packed with nonzeros share transfers.
struct Drawn {
  Arch arch;
  Workload workload;
  std::string nest;
};

std::string random_conditions(Rng& rng) {
  std::string text;
  for (const char* each : {"{skip: input, on: weight}", "{skip: weight, on: input}",
                           "{skip: output, on: input}", "{skip: output, on: weight}"}) {
    text += rng.below(2) == 0 ? "" : std::string{text.empty() ? "" : ", "} + each;
  }
  return text.empty() ? "{skip: output, on: input}" : text;
}

Drawn draw(Rng& rng) {
  Drawn drawn;
  const char* columns = rng.below(2) == 0 ? "N" : "K";
  const auto balance = [&] { return rng.below(4) == 0 ? "end" : "packed"; };
  const auto reuse = rng.below(4) == 0 ? "    register_reuse: [output]\n" : "";
  const auto zeros = rng.below(3) == 0 ? "{skip: [input]}" : "skip";
  const std::string energy = "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n";
  const std::string format = "    format: {input: bitmask, weight: bitmask}\n";
  std::string text = "name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n" + energy +
                     "    capacity: unlimited\n" + format;
  text += "  - storage: Buffer\n    word: 8 b\n    capacity: unlimited\n" + energy + format;
  text += fmt::format("    when_empty: [{}]\n", random_conditions(rng));
  // A level between the loops whose indices are packed and the lanes.
  const bool has_local = rng.below(3) == 0;
  if (has_local) {
    text += "  - storage: Local\n    word: 8 b\n    capacity: unlimited\n" + energy + format;
    text += rng.below(2) == 0 ? "" : fmt::format("    when_empty: [{}]\n", random_conditions(rng));
  }
  for (const char* fanout : {"rows", "columns"}) {
    text += fmt::format(
        "  - fanout: {}\n    x: 2\n    multicast: true\n    spatial_reduction: true\n"
        "    balance: {}\n",
        fanout, balance());
  }
  text += fmt::format("  - compute: MAC\n    energy: 1 pJ\n    when_zero: {}\n{}", zeros, reuse);
  drawn.arch = parse_arch(text, "m.yaml");
  drawn.workload = parse_workload("name: w\ngemm: {m: 4, n: 4, k: 4}\n", "w.yaml");
  std::vector<std::string> inside{"  - for M: 2\n", fmt::format("  - for {}: 2\n", columns)};
  std::vector<std::string> outside;
  const char* rest = columns[0] == 'N' ? "K" : "N";
  for (const int extent : {2, 1}) {
    (rng.below(2) == 0 ? inside : outside).push_back(fmt::format("  - for {}: {}\n", rest, extent));
  }
  if (rng.below(4) == 0) {
    outside.push_back(inside.back());
    inside.pop_back();
  }
  for (auto* list : {&inside, &outside}) {
    for (std::size_t i = list->size(); i > 1; --i) {
      std::swap((*list)[i - 1], (*list)[rng.below(i)]);
    }
  }
  drawn.nest = "mapping:\n  - keep DRAM: [A, B, Z]\n";
  for (const std::string& loop : outside) {
    drawn.nest += loop;
  }
  drawn.nest += "  - keep Buffer: [A, B, Z]\n";
  if (has_local) {
    const char* kept[] = {"A", "B", "Z", "A, Z", "B, Z"};
    inside.insert(inside.begin() + static_cast<std::ptrdiff_t>(rng.below(inside.size() + 1)),
                  fmt::format("  - keep Local: [{}]\n", kept[rng.below(5)]));
  }
  for (const std::string& loop : inside) {
    drawn.nest += loop;
  }
  drawn.nest += "  - parallel M: 1 over X of rows\n  - parallel " + std::string{columns} +
                ": 1 over X of columns\n";
  return drawn;
}

std::vector<double> numbers(const SparseCounts& counts) {
  std::vector<double> all{counts.operations, counts.skipped, counts.steps};
  for (const auto& level : counts.levels) {
    for (const SparseTensor& at : level) {
      for (const SparseAccess& access : at.total) {
        all.insert(all.end(), {access.actual, access.gated, access.skipped, access.format_bits});
      }
    }
  }
  return all;
}

std::vector<double> closed_form(const Arch& arch, const Drawn& drawn) {
  const Problem problem(arch, drawn.workload);
  const Mapping mapping = parse_mapping(drawn.nest, "t.yaml", arch, drawn.workload);
  return numbers(*std::get<Cost>(evaluate(problem, mapping)).sparse);
}

// Does packing change a count?
bool matters(const Drawn& drawn, const std::vector<double>& packed) {
  Arch apart = drawn.arch;
  for (Fanout& fanout : apart.fanouts) {
    fanout.balance = Balance::kEnd;
  }
  return closed_form(apart, drawn) != packed;
}

// Until the last batch is done: as counted, and as simulated.
std::pair<double, double> busiest(const Drawn& drawn, const PerTensor<DenseTensor>& operands) {
  const Problem problem(drawn.arch, drawn.workload);
  const Mapping mapping = parse_mapping(drawn.nest, "t.yaml", drawn.arch, drawn.workload);
  const Simulation simulation = simulate(problem, mapping, operands, kMaxCaseMacs);
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  const auto steps = busiest_instance(problem, mapping, cost);
  return {steps ? steps->steps : simulation.busiest_steps, simulation.busiest_steps};
}

// nullopt: such lanes are not counted.
std::optional<std::vector<double>> counted(const Drawn& drawn) {
  try {
    return closed_form(drawn.arch, drawn);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::vector<double> simulated(const Drawn& drawn, const PerTensor<DenseTensor>& operands) {
  const Problem problem(drawn.arch, drawn.workload);
  const Mapping mapping = parse_mapping(drawn.nest, "t.yaml", drawn.arch, drawn.workload);
  return numbers(*simulate(problem, mapping, operands, kMaxCaseMacs).sparse);
}

// Of known zeros, lanes get what each of their batches shares.
TEST(Packing, TransfersAreMadePerBatchOfKnownZeros) {
  int compared = 0;
  int mattered = 0;
  for (std::uint64_t seed = 0; seed < tried_of(1500U); ++seed) {
    Rng rng{seed};
    Drawn drawn = draw(rng);
    PerTensor<DenseTensor> operands = draw_data(rng, drawn.workload);
    if (rng.below(2) == 0) {  // one of two
      const TensorId dense{static_cast<TensorId>(rng.below(2))};
      drawn.workload.tensors[dense].density = 1;
      drawn.workload.tensors[dense].pattern = {};
      std::fill(operands[dense].values.begin(), operands[dense].values.end(), 1.0);
    }
    const std::optional<std::vector<double>> expected = counted(drawn);
    if (!expected) {
      continue;
    }
    const std::vector<double> found = simulated(drawn, operands);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], (*expected)[i], 1e-9) << "seed " << seed << ", " << i << drawn.nest;
    }
    const auto [counted_steps, simulated_steps] = busiest(drawn, operands);
    ASSERT_NEAR(counted_steps, simulated_steps, 1e-9) << "seed " << seed << drawn.nest;
    ++compared;
    mattered += matters(drawn, *expected) ? 1 : 0;
  }
  std::printf("%d cases, %d packed\n", compared, mattered);
  EXPECT_GT(compared, tried_of(200));
  EXPECT_GT(mattered, tried_of(20));
}

// Sums are kept above the lanes, inside the loop whose indices are packed. A tile with the dim of
// the lanes has to be there, so that both are moved in which a row of A is not zero; without, there
// is a sum per batch: rows of A have nonzeros for 1, 1, 2 and no batches.
TEST(Packing, TilesAboveLanesAreThoseOfABatchOrHoldIt) {
  const std::string machine =
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {input: bitmask}\n"
      "    when_empty: [{skip: output, on: input}]\n"
      "  - storage: L1\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
      "  - fanout: lanes\n    x: 2\n    multicast: true\n    spatial_reduction: true\n"
      "    balance: packed\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input]}\n";
  const auto sums = [&](int k, const std::string& rows, const std::string& loops) {
    const std::string mask = testing::TempDir() + "/tiles_above_lanes.txt";
    std::ofstream{mask} << rows;
    Drawn drawn;
    drawn.arch = parse_arch(machine, "m.yaml");
    drawn.workload = parse_workload(
        fmt::format("name: w\ngemm: {{m: 4, n: 1, k: {}}}\ndensity: {{A: data {}}}\n", k, mask),
        "w.yaml");
    drawn.nest = "mapping:\n  - keep DRAM: [A, B, Z]\n" + loops;
    const Problem problem(drawn.arch, drawn.workload);
    const Mapping mapping = parse_mapping(drawn.nest, "t.yaml", drawn.arch, drawn.workload);
    const Cost cost = std::get<Cost>(evaluate(problem, mapping));
    const std::vector<double> found = simulated(drawn, operands_with_zeros(drawn.workload, 1));
    const std::vector<double> expected = numbers(*cost.sparse);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-9) << i << drawn.nest;
    }
    return cost.sparse->levels[LevelId{0}][TensorId{2}]
        .total[static_cast<std::size_t>(Access::kUpdate)]
        .actual;
  };
  EXPECT_EQ(sums(1, "1\n0\n1\n0\n",
                 "  - for M: 2\n  - keep L1: [Z]\n  - parallel M: 1 over X of lanes\n"),
            4);
  EXPECT_EQ(sums(4, "1 0 1 0\n0 0 0 1\n1 1 1 0\n0 0 0 0\n",
                 "  - for K: 2\n  - for M: 1\n  - keep L1: [Z]\n"
                 "  - parallel K: 1 over X of lanes\n"),
            4);
}

// Lanes that pack a loop share sums with lanes around them over the same dim, which pack by
// themselves.
TEST(Packing, SumsOfLanesWithinLanesAreRefused) {
  std::string machine =
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {input: bitmask}\n"
      "    when_empty: [{skip: output, on: input}]\n";
  for (const char* fanout : {"outer", "inner"}) {
    machine += fmt::format(
        "  - fanout: {}\n    x: 2\n    spatial_reduction: true\n    balance: packed\n", fanout);
  }
  Drawn drawn;
  drawn.arch = parse_arch(
      machine + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input]}\n", "m.yaml");
  drawn.workload =
      parse_workload("name: w\ngemm: {m: 4, n: 1, k: 8}\ndensity: {A: 0.5}\n", "w.yaml");
  for (const char* loops : {"  - parallel K: 4 over X of outer\n  - for K: 2\n",
                            "  - for K: 4\n  - parallel K: 2 over X of outer\n"}) {
    drawn.nest = std::string{"mapping:\n  - keep DRAM: [A, B, Z]\n"} + loops +
                 "  - for M: 1\n  - parallel K: 1 over X of inner\n";
    EXPECT_FALSE(counted(drawn)) << loops;
  }
}

// Of zeros anywhere, the mean over all data sets.
TEST(Packing, TransfersAreMadePerBatchOnAverage) {
  int compared = 0;
  int mattered = 0;
  for (std::uint64_t seed = 0; seed < tried_of(300U); ++seed) {
    Rng rng{seed};
    Drawn drawn = draw(rng);
    const Masks masks = draw_masks(rng, drawn.workload);
    const std::optional<std::vector<double>> expected = counted(drawn);
    if (!expected) {
      continue;
    }
    std::vector<double> mean(expected->size(), 0.0);
    double sets = 0;
    for_each_data_set(drawn.workload, masks, [&](const PerTensor<DenseTensor>& operands) {
      const std::vector<double> found = simulated(drawn, operands);
      for (std::size_t i = 0; i < found.size(); ++i) {
        mean[i] += found[i];
      }
      sets += 1;
    });
    for (std::size_t i = 0; i < mean.size(); ++i) {
      ASSERT_NEAR(mean[i] / sets, (*expected)[i], 1e-9) << "seed " << seed << ", " << i;
    }
    ++compared;
    mattered += matters(drawn, *expected) ? 1 : 0;
  }
  std::printf("%d cases, %d packed\n", compared, mattered);
  EXPECT_GT(compared, tried_of(40));
  EXPECT_GT(mattered, tried_of(5));
}

// Two of each four: half the batches, in every one of which the sums of the lanes are one update.
TEST(Packing, StructuredZerosFillEveryBatch) {
  Drawn drawn;
  drawn.arch = parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
      "    format: {weight: [dense, coordinates 1 b, by columns]}\n"
      "    when_empty: [{skip: output, on: weight}]\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
      "    format: {weight: [dense, runs 3 b, by columns]}\n"
      "    when_empty: [{skip: output, on: weight}]\n"
      "  - fanout: lanes\n    x: 4\n    spatial_reduction: true\n    balance: packed\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight]}\n",
      "m.yaml");
  drawn.workload = parse_workload(
      "name: w\ngemm: {m: 3, n: 2, k: 16}\ndensity: {B: structured 2:4 along K}\n", "w.yaml");
  drawn.nest =
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - keep Buffer: [B]\n  - for M: 1\n  - for N: 1\n"
      "  - for K: 4\n  - parallel K: 1 over X of lanes\n";
  const Problem problem(drawn.arch, drawn.workload);
  const Mapping mapping = parse_mapping(drawn.nest, "t.yaml", drawn.arch, drawn.workload);
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  const auto& sums = cost.sparse->levels[LevelId{0}][TensorId{2}].total;
  EXPECT_EQ(sums[static_cast<std::size_t>(Access::kUpdate)].actual, 3 * 2 * 2);
  EXPECT_EQ(sums[static_cast<std::size_t>(Access::kReadback)].actual, 3 * 2 * (2 - 1));
  EXPECT_EQ(cost.sparse->steps, 3 * 2 * 2);
  // Columns of B are blocks whose coordinates take 2 b.
  const auto& reads = cost.sparse->levels[LevelId{0}][TensorId{1}].total;
  EXPECT_EQ(reads[static_cast<std::size_t>(Access::kRead)].format_bits, 2 * 16 / 2 * 2);
  // A run of zeros is at most as long as those of two blocks, which 3 b hold, and 2 b do not.
  const auto& fills = cost.sparse->levels[LevelId{1}][TensorId{1}].total;
  EXPECT_EQ(fills[static_cast<std::size_t>(Access::kFill)].format_bits, 2 * 16 / 2 * 3);
  Sparsity shorter = *drawn.arch.sparsity;
  shorter.levels[LevelId{1}].formats[Role::kWeight].ranks.back().bits = 2;
  Arch refused = drawn.arch;
  refused.sparsity = Shared<Sparsity>{shorter};
  EXPECT_THROW((Problem{refused, drawn.workload}), ConfigError);
  // So it is of all such zeros.
  const std::vector<double> found = simulated(drawn, operands_with_zeros(drawn.workload, 1));
  const std::vector<double> expected = numbers(*cost.sparse);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
  }
  // A search bounds boundaries one by one, but packing is a matter of the whole nest.
  EXPECT_NE(why_not_separable(problem), "");
}

}  // namespace
}  // namespace mapsim::packing_test
