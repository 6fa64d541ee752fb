// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/reference/simulate.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/sparse/count_sparse.hpp"
#include "costmodel/sparse/model.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/costmodel/random_zeros.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::sparse_test {
namespace {

// Every number of the counts, in one order.
std::vector<double> numbers(const SparseCounts& counts) {
  std::vector<double> all{counts.operations, counts.gated, counts.skipped, counts.steps};
  for (const auto& level : counts.levels) {
    for (const SparseTensor& at : level) {
      for (const auto* accesses : {&at.total, &at.busiest}) {
        for (const SparseAccess& access : *accesses) {
          all.insert(all.end(), {access.actual, access.gated, access.skipped, access.format_bits});
        }
      }
    }
  }
  return all;
}

SparseCounts closed_form(const Problem& problem, const Mapping& mapping, bool& perfect) {
  const Nest nest = make_nest(problem.workload(), mapping);
  perfect = nest.perfect;
  const Counts counts = count(problem, mapping);
  SparseCounts sparse;
  hold_tiles(problem, nest, counts, sparse);
  count_sparse(problem, nest, counts, sparse);
  return sparse;
}

// The mean over every data set is the closed form. Returns the number of data sets.
double expect_mean(const Problem& problem, const Mapping& mapping, const Masks& masks,
                   const std::string& where) {
  bool perfect = false;
  const std::vector<double> expected = numbers(closed_form(problem, mapping, perfect));
  std::vector<double> mean(expected.size(), 0.0);
  double count = 0;
  for_each_data_set(problem.workload(), masks, [&](const PerTensor<DenseTensor>& operands) {
    const Simulation walk = simulate(problem, mapping, operands, kMaxCaseMacs);
    const std::vector<double> found = numbers(*walk.sparse);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += found[i];
    }
    count += 1;
  });
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i] / count, expected[i], 1e-9 * std::max(1.0, expected[i]))
        << where << ", number " << i;
  }
  return count;
}

// Of random machines, nests, formats and conditions. `draw`: the masks of a workload.
void expect_means(std::uint64_t cases, Masks (*draw)(Rng&, Workload&)) {
  std::uint64_t compared = 0;
  int refused = 0;
  double sets = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    RandomCase random = random_case(seed);
    if (random.workload.macs() > 120 || !make_nest(random.workload, random.mapping).perfect) {
      continue;
    }
    Rng rng{seed};
    for (Tensor& tensor : random.workload.tensors) {
      tensor.density = 1;
    }
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.energy_per_hop.reset();
    }
    random.arch.sparsity = Shared<Sparsity>{random_sparsity(rng, random)};
    const Masks masks = draw(rng, random.workload);
    try {
      const Problem problem(random.arch, random.workload);
      const double count =
          expect_mean(problem, random.mapping, masks, fmt::format("seed {}", seed));
      sets += count;
      compared += count > 1 ? 1 : 0;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  std::printf("%.0f data sets of %d cases, %d refused\n", sets, static_cast<int>(compared),
              refused);
  EXPECT_GT(compared, cases / 25);
}

TEST(Sparse, ClosedFormIsTheMeanOverAllDataSets) {
  expect_means(tried_of(900U), draw_masks);
  expect_means(tried_of(2000U), draw_blocks);
}

// Where tiles cut blocks, their chances go by their places: those that are visited first, when no
// sum is read back, are others than the mean, and zeros of two tensors meet at the same places.
TEST(Sparse, TilesThatCutBlocksGoByTheirPlaces) {
  for (const char* zeros : {"A: structured 1:3 along K", "B: structured 1:3 along K",
                            "A: structured 1:2 along K, B: structured 1:3 along K"}) {
    for (const char* leaders : {"input", "weight", "[input, weight]"}) {
      for (const char* act : {"skip", "gate"}) {
        for (const char* loops : {"  - for K: 2\n  - for N: 1\n", "  - for N: 1\n  - for K: 2\n",
                                  "  - for K: 3\n  - for N: 1\n"}) {
          const std::string conditions = fmt::format(
              "    format: {{input: bitmask, weight: bitmask}}\n"
              "    when_empty: [{{{}: output, on: {}}}]\n",
              act, leaders);
          const Problem problem{
              parse_arch(
                  "name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n"
                  "    capacity: unlimited\n    energy: {read: 1 pJ/word, write: 1 pJ/word}\n" +
                      conditions +
                      "  - storage: L1\n    word: 8 b\n    capacity: unlimited\n"
                      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n" +
                      conditions + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n",
                  "m.yaml"),
              parse_workload(
                  fmt::format("name: w\ngemm: {{m: 1, n: 2, k: 6}}\ndensity: {{{}}}\n", zeros),
                  "w.yaml")};
          const Mapping mapping =
              parse_mapping(fmt::format("mapping:\n  - keep DRAM: [A, B, Z]\n{}  - keep L1: [Z]\n"
                                        "  - for K: 1\n",
                                        loops),
                            "map.yaml", problem.arch(), problem.workload());
          const std::string where = fmt::format("{}, {} on {}, {}", zeros, act, leaders, loops);
          EXPECT_GT(expect_mean(problem, mapping, masks_of_blocks(problem.workload()), where), 1);
        }
      }
    }
  }
}

// Of known zeros, in two tensors and more, wherever levels and compute units look at them, the
// closed form counts what happens.
TEST(Sparse, ClosedFormCountsDataAsItIs) {
  int compared = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < tried_of(3000U); ++seed) {
    RandomCase random = random_case(seed);
    if (random.workload.macs() > 400 || !make_nest(random.workload, random.mapping).perfect) {
      continue;
    }
    Rng rng{seed};
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.energy_per_hop.reset();
    }
    Sparsity sparsity = random_sparsity(rng, random);
    for (StorageSparsity& level : sparsity.levels) {
      level.formats.erase(Role::kOutput);
    }
    random.arch.sparsity = Shared<Sparsity>{sparsity};
    for (Tensor& tensor : random.workload.tensors) {
      tensor.density = 1;
    }
    const PerTensor<DenseTensor> operands = draw_data(rng, random.workload);
    try {
      const Problem problem(random.arch, random.workload);
      bool perfect = false;
      const SparseCounts expected = closed_form(problem, random.mapping, perfect);
      const SparseCounts found = *simulate(problem, random.mapping, operands, kMaxCaseMacs).sparse;
      EXPECT_NEAR(found.operations, expected.operations, 1e-9) << "seed " << seed;
      EXPECT_NEAR(found.gated, expected.gated, 1e-9) << "seed " << seed;
      EXPECT_NEAR(found.skipped, expected.skipped, 1e-9) << "seed " << seed;
      for (const LevelId l : expected.levels.ids()) {
        for (const TensorId t : expected.levels[l].ids()) {
          for (const Access access : kAccesses) {
            const auto i = static_cast<std::size_t>(access);
            const SparseAccess& made = found.levels[l][t].total[i];
            const SparseAccess& model = expected.levels[l][t].total[i];
            const std::string where = "seed " + std::to_string(seed) + ", level " +
                                      std::to_string(index_of(l)) + ", " +
                                      random.workload.tensors[t].name + " " + rule_of(access).name +
                                      ", " + to_string(problem.sparse()->format(l, t));
            EXPECT_NEAR(made.actual, model.actual, 1e-9) << where;
            EXPECT_NEAR(made.gated, model.gated, 1e-9) << where;
            EXPECT_NEAR(made.skipped, model.skipped, 1e-9) << where;
            EXPECT_NEAR(made.format_bits, model.format_bits, 1e-9) << where;
          }
        }
      }
      const Evaluation evaluation = evaluate(problem, random.mapping);
      if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
        const Roofline least = roofline(random.arch, random.workload);
        EXPECT_GE(cost->latency.steady, least.least_cycles) << "seed " << seed;
        EXPECT_GE(cost->energy.total.count() * (1 + 1e-9), least.least_energy.count()) << seed;
      }
      ++compared;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  std::printf("%d cases of data, %d refused\n", compared, refused);
  EXPECT_GT(compared, tried_of(300));
}

// Two tensors, one looked at where tiles move, the other where they multiply.
TEST(Sparse, KnownZerosAtALevelAndAtTheComputeUnitsMeet) {
  const Arch arch = parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
      "    format: {input: bitmask, weight: bitmask}\n"
      "    when_empty: [{skip: output, on: input}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight]}\n",
      "m.yaml");
  Workload workload = parse_workload("name: w\ngemm: {m: 1, n: 1, k: 2}\n", "w.yaml");
  const auto set = [&](TensorId t, std::vector<char> nonzero, std::vector<std::int64_t> box) {
    Pattern pattern;
    pattern.kind = PatternKind::kData;
    pattern.box = std::move(box);
    pattern.nonzero = std::move(nonzero);
    workload.tensors[t].density = 0.5;
    workload.tensors[t].pattern = Shared<Pattern>{std::move(pattern)};
  };
  set(TensorId{0}, {0, 1}, {1, 2});
  set(TensorId{1}, {1, 0}, {2, 1});
  const Problem problem(arch, workload);
  const Mapping mapping =
      parse_mapping("mapping:\n  - keep DRAM: [A, B, Z]\n  - for K: 1\n", "t.yaml", arch, workload);
  const Evaluation evaluation = evaluate(problem, mapping);
  const SparseCounts& counts = *std::get<Cost>(evaluation).sparse;
  EXPECT_EQ(counts.operations, 0);
  EXPECT_EQ(counts.skipped, 2);
}

// Instances that get different elements wait for their own, whether or not a network could give
// one element to several.
TEST(Sparse, MulticastServesOnlyInstancesThatShareElements) {
  Workload workload = parse_workload("name: w\ngemm: {m: 2, n: 1, k: 2}\n", "w.yaml");
  Pattern pattern;
  pattern.kind = PatternKind::kData;
  pattern.box = {2, 1};
  pattern.nonzero = {1, 0};  // B: of k = 1 there is nothing
  workload.tensors[TensorId{1}].density = 0.5;
  workload.tensors[TensorId{1}].pattern = Shared<Pattern>{std::move(pattern)};
  for (const char* multicast : {"true", "false"}) {
    const Arch arch =
        parse_arch(std::string{"name: m\nclock: 1 GHz\nnodes:\n"
                               "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                               "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
                               "    format: {weight: bitmask}\n"
                               "    when_empty: [{skip: input, on: weight}]\n"
                               "  - fanout: PEs\n    x: 2\n    multicast: "} +
                       multicast + "\n  - compute: MAC\n    energy: 1 pJ\n",
                   "m.yaml");
    const Problem problem(arch, workload);
    const Mapping mapping = parse_mapping(
        "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 1\n  - parallel K: 1 over X of PEs\n",
        "t.yaml", arch, workload);
    const Evaluation evaluation = evaluate(problem, mapping);
    const auto& reads = std::get<Cost>(evaluation).sparse->levels[LevelId{0}][TensorId{0}].total;
    EXPECT_EQ(reads[static_cast<std::size_t>(Access::kRead)].actual, 2) << multicast;
    EXPECT_EQ(reads[static_cast<std::size_t>(Access::kRead)].skipped, 2) << multicast;
  }
}

// One data set has as many nonzeros as the density says, n of each m neighbours, and data as it is.
TEST(Sparse, DrawnDataSetsHaveTheZerosOfTheWorkload) {
  Workload workload = parse_workload(
      "name: w\neinsum: {equation: 'Z[m] += A[m][k] * B[k][m] * C[m][k]', dims: {m: 4, k: 8},\n"
      "         roles: {A: input, B: weight, C: weight}}\n"
      "density: {A: 0.25, B: structured 2:4 along k, C: banded 1}\n",
      "w.yaml");
  std::vector<double> hits(32, 0);
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const PerTensor<DenseTensor> operands = operands_with_zeros(workload, seed);
    const auto is_nonzero = [&](std::size_t t, std::size_t i) {
      return operands[static_cast<TensorId>(t)].values[i] != 0;
    };
    std::int64_t nonzeros = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      nonzeros += is_nonzero(0, i) ? 1 : 0;
      hits[i] += is_nonzero(0, i) ? 1 : 0;
      EXPECT_EQ(is_nonzero(2, i), workload.tensors[TensorId{2}].pattern->nonzero[i] != 0);
    }
    EXPECT_EQ(nonzeros, 8);
    for (std::size_t m = 0; m < 4; ++m) {
      for (std::size_t block = 0; block < 2; ++block) {
        int kept = 0;
        for (std::size_t k = 4 * block; k < 4 * block + 4; ++k) {
          kept += is_nonzero(1, 4 * k + m) ? 1 : 0;
        }
        EXPECT_EQ(kept, 2);
      }
    }
  }
  for (const double hit : hits) {  // a quarter of 400, 5.3 standard deviations around
    EXPECT_NEAR(hit, 100, 46);
  }
  EXPECT_FALSE(has_known_zeros(workload));
}

// Formats that store all, no conditions, no gating: today's numbers, to the last bit.
TEST(Sparse, DenseFormatsChangeNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomCase random = random_case(seed);
    for (Storage& level : random.arch.levels) {
      level.energy = {PicojoulesPerBit{3}, PicojoulesPerBit{5}, PicojoulesPerBit{7}};
      level.bandwidth.shared = BitsPerCycle{11};
    }
    for (Tensor& tensor : random.workload.tensors) {
      tensor.density = 1;
    }
    for (Fanout& fanout : random.arch.fanouts) {
      fanout.energy_per_hop.reset();
    }
    random.arch.compute.timing = {};
    const Evaluation dense = evaluate(Problem(random.arch, random.workload), random.mapping);
    Sparsity sparsity;
    sparsity.levels = PerLevel<StorageSparsity>(random.arch.levels.size());
    random.arch.sparsity = Shared<Sparsity>{sparsity};
    const Evaluation sparse = evaluate(Problem(random.arch, random.workload), random.mapping);
    ASSERT_EQ(dense.index(), sparse.index()) << seed;
    if (const Cost* cost = std::get_if<Cost>(&dense)) {
      const Cost& same = std::get<Cost>(sparse);
      EXPECT_EQ(cost->counts, same.counts) << seed;
      EXPECT_DOUBLE_EQ(cost->energy.total.count(), same.energy.total.count()) << seed;
      EXPECT_EQ(cost->latency.steady, same.latency.steady) << seed;
      EXPECT_EQ(cost->latency.ramped, same.latency.ramped) << seed;
    }
  }
}

// Three of B's five nonzeros meet one of A's two: rows 0 and 3 are transferred, 1 and 2 are not.
TEST(Sparse, AMaskWaitsForAnother) {
  const auto counts = [](const char* format, const char* act) {
    const std::string machine = fmt::format(
        "name: m\nnodes:\n  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
        "    energy: {{read: 8 pJ/word, write: 8 pJ/word}}\n"
        "    format: {{input: bitmask, weight: {}}}\n"
        "    when_empty: [{{{}: weight, on: input}}]\n  - compute: MAC\n    energy: 1 pJ\n",
        format, act);
    Workload workload = parse_workload(
        "name: w\neinsum: {equation: 'Z[N] += A[K] * B[K][N]', dims: {N: 2, K: 4}, roles: {A: "
        "input, B: weight}}\ndensity: {B: banded 1}\n",
        "w.yaml");
    Pattern b = *workload.tensors[TensorId{1}].pattern;
    Pattern a = b;
    b.nonzero = {1, 1, 1, 1, 0, 0, 0, 1};
    a.nonzero = {1, 0, 0, 1};
    a.box = {4};
    workload.tensors[TensorId{0}].pattern = Shared<Pattern>{a};
    workload.tensors[TensorId{1}].pattern = Shared<Pattern>{b};
    const Problem problem{parse_arch(machine, "m.yaml"), workload};
    const Mapping mapping =
        parse_mapping("mapping:\n  - keep DRAM: [A, B, Z]\n  - for K: 1\n  - for N: 1\n", "m.yaml",
                      problem.arch(), problem.workload());
    const Cost cost = std::get<Cost>(evaluate(problem, mapping));
    return cost.sparse->levels[LevelId{0}][TensorId{1}].total.front();
  };
  const SparseAccess skipped = counts("bitmask", "skip");
  EXPECT_NEAR(skipped.actual, 3, 1e-12);
  EXPECT_NEAR(skipped.skipped, 2, 1e-12);
  EXPECT_NEAR(skipped.format_bits, 4, 1e-12);
  EXPECT_NEAR(counts("ideal", "gate").gated, 2, 1e-12);
  EXPECT_THROW(counts("bitmask", "gate"), ConfigError);
  EXPECT_THROW(counts("coordinates", "skip"), ConfigError);
}

// 32 of 64 places: a coordinate has 6 bits, whatever width it is given in; of 2:4, 2 in a block.
TEST(DensityModel, CoordinatesTellAllPlacesApart) {
  const auto bits = [](const char* density, std::int64_t width, const TileShape& tile) {
    const Workload workload = parse_workload(
        std::string{"name: w\ngemm: {m: 1, n: 8, k: 8}\ndensity: {B: "} + density + "}\n",
        "w.yaml");
    const TensorFormat format{false, false, {{RankFormat::kCoordinates, width}}};
    return stored_on_average(format, DensityModel{workload, TensorId{1}}, tile, {8, 8}).format_bits;
  };
  EXPECT_EQ(bits("0.5", 0, {8, 8}), 32 * 6);
  EXPECT_EQ(bits("0.5", 1, {8, 8}), 32 * 6);
  EXPECT_EQ(bits("0.5", 4, {8, 8}), 32 * 8);
  EXPECT_EQ(bits("0.5", 8, {8, 8}), 32 * 8);
  EXPECT_EQ(bits("0.5", 0, {1, 1}), 0.5 * 6) << "as the compute units take it";
  EXPECT_EQ(bits("structured 2:4 along K", 2, {8, 8}), 32 * 2);
}

// A tile with many nonzeros and one with a long run: the larger one must fit, not both at once.
TEST(DensityModel, TheTileThatTakesMostIsOneTile) {
  Workload workload =
      parse_workload("name: w\ngemm: {m: 1, n: 64, k: 2}\ndensity: {B: banded 1}\n", "w.yaml");
  Pattern pattern = *workload.tensors[TensorId{1}].pattern;
  pattern.nonzero.assign(128, 0);
  std::fill_n(pattern.nonzero.begin(), 8, char{1});
  pattern.nonzero.back() = 1;
  workload.tensors[TensorId{1}].pattern = Shared<Pattern>{pattern};
  const DensityModel data{workload, TensorId{1}};
  const TensorFormat runs{false, false, {{RankFormat::kRuns, 1}}};
  const StoredTile most = stored_at_most(runs, data, {1, 64}, 1, 8);
  EXPECT_EQ(most.elements, 8);
  EXPECT_EQ(most.format_bits, 8);
  EXPECT_EQ(stored_at_most(runs, data, {1, 64}, 1, 1).format_bits, 32) << "elements of one bit";
}

TEST(DensityModel, UniformZerosAreHypergeometric) {
  Workload workload =
      parse_workload("name: w\ngemm: {m: 4, n: 2, k: 4}\ndensity: {A: 0.25}\n", "w");
  const DensityModel a{workload, TensorId{0}};
  EXPECT_EQ(a.nonzeros(), 4);
  EXPECT_DOUBLE_EQ(a.empty({1, 4}), 12.0 * 11 * 10 * 9 / (16.0 * 15 * 14 * 13));
  EXPECT_EQ(a.empty({4, 4}), 0);
  EXPECT_EQ(a.at_most({2, 4}, 1), 4);
  const Hypergeometric of = hypergeometric(16, 4, 8);
  EXPECT_NEAR(std::accumulate(of.probability.begin(), of.probability.end(), 0.0), 1, 1e-15);
  EXPECT_NEAR(of.probability[0], a.empty({2, 4}), 1e-15);
  EXPECT_EQ(quantile(of, 0.9), 3);
}

// 2:4 never leaves three neighbours empty, and always stores half.
// A chance that is too small for a number is 0, so that whoever adds such chances can end; and one
// that is found step by step is the same.
TEST(DensityModel, ChancesOfLargeTilesEnd) {
  for (const std::string density : {"0.01", "0.05", "0.3", "0.45"}) {
    const Workload workload = parse_workload(
        "name: w\ngemm: {m: 1000, n: 4, k: 1000}\ndensity: {A: " + density + "}\n", "w.yaml");
    const DensityModel model(workload, static_cast<TensorId>(0));
    EXPECT_EQ(model.empty({300, 1000}), 0);  // 0.7^10,000 or less
    EmptyByPoints chances{model};
    for (std::int64_t points = 1; points < 1'000'000; points += points / 2 + 1) {
      const double chance = model.empty({points});
      EXPECT_NEAR(chances.at(points), chance, 1e-9 * chance) << points;
    }
  }
}

TEST(DensityModel, StructureKnowsItsBlocks) {
  Workload workload = parse_workload(
      "name: w\ngemm: {m: 4, n: 2, k: 8}\ndensity: {A: structured 2:4 along K}\n", "w");
  const DensityModel a{workload, TensorId{0}};
  EXPECT_DOUBLE_EQ(a.density(), 0.5);
  EXPECT_DOUBLE_EQ(a.empty({1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(a.empty({1, 2}), 1.0 / 6);
  EXPECT_DOUBLE_EQ(a.empty({2, 2}), 1.0 / 36);
  EXPECT_EQ(a.empty({1, 4}), 0);
  EXPECT_EQ(a.at_most({2, 4}, 1), 4);
  EXPECT_EQ(a.at_most({1, 2}, 1), 2);
}

// A machine that takes blocks of 2:4 along K skips those. Of all others it stores and makes what it
// stores and makes without zeros.
TEST(Sparse, OtherZerosThanAMachineTakesAreNumbers) {
  const Arch arch = parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    bandwidth: {shared: 3 b/cycle}\n"
      "    energy: {read: 2 pJ/word, write: 3 pJ/word}\n    format: {weight: coordinates 2 b}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 1 KiB\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {weight: coordinates 2 b}\n"
      "    when_empty: [{skip: input, on: weight}]\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight], structure: '2:4'}\n",
      "m.yaml");
  EXPECT_EQ(parse_arch(print_arch(arch), "m.yaml"), arch);
  const auto cost = [&](const std::string& density) {
    const Workload workload =
        parse_workload("name: w\ngemm: {m: 4, n: 4, k: 8}\n" + density, "w.yaml");
    const Mapping mapping = parse_mapping(
        "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 2\n  - keep Buffer: [A, B, Z]\n"
        "  - for M: 1\n  - for N: 1\n  - for K: 1\n",
        "t.yaml", arch, workload);
    return std::get<Cost>(evaluate(Problem(arch, workload), mapping));
  };
  const Cost dense = cost("");
  const Cost taken = cost("density: {B: structured 2:4 along K}\n");
  EXPECT_EQ(taken.sparse->steps, 4 * 4 * 8 / 2);
  EXPECT_LT(taken.energy.total.count(), dense.energy.total.count());
  for (const char* other : {"0.5", "0.1", "structured 1:4 along K", "structured 1:2 along K",
                            "structured 2:4 along N", "structured 3:4 along K", "banded 1"}) {
    const Cost found = cost(fmt::format("density: {{B: {}}}\n", other));
    EXPECT_EQ(found.energy.total.count(), dense.energy.total.count()) << other;
    EXPECT_EQ(found.latency.steady, dense.latency.steady) << other;
    EXPECT_EQ(found.sparse->steps, 4 * 4 * 8) << other;
  }
}

}  // namespace
}  // namespace mapsim::sparse_test
