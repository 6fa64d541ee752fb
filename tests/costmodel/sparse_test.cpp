// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "arch/load.hpp"
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
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

// All masks of a tensor with exactly `z` nonzeros among these points of its box.
std::vector<std::vector<double>> masks_of(const PointSet& points, std::int64_t box,
                                          std::int64_t z) {
  std::vector<std::vector<double>> all;
  std::vector<char> chosen(points.size(), 0);
  std::fill_n(chosen.begin(), z, 1);
  do {
    std::vector<double>& mask = all.emplace_back(static_cast<std::size_t>(box), 0.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      mask[static_cast<std::size_t>(points[i])] = chosen[i];
    }
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return all;
}

double choices(std::int64_t n, std::int64_t k) {
  double product = 1;
  for (std::int64_t i = 0; i < k; ++i) {
    product *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return product;
}

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

// Calls visit(operands) for every choice of one mask per tensor.
void for_each_data_set(const Workload& workload,
                       const PerTensor<std::vector<std::vector<double>>*>& masks,
                       const std::function<void(const PerTensor<DenseTensor>&)>& visit) {
  PerTensor<DenseTensor> operands(workload.tensors.size());
  const std::function<void(std::size_t)> choose = [&](std::size_t t) {
    if (t == workload.tensors.size()) {
      visit(operands);
      return;
    }
    const auto id = static_cast<TensorId>(t);
    operands[id].shape = box_shape(workload, workload.tensors[id]);
    for (const std::vector<double>& mask : *masks[id]) {
      operands[id].values = mask;
      choose(t + 1);
    }
  };
  choose(0);
}

RankCode random_code(Rng& rng, bool last) {
  const auto kind = static_cast<RankFormat>(rng.below(last ? 4 : 5));
  const std::int64_t bits = kind == RankFormat::kRuns ? 1 + static_cast<std::int64_t>(rng.below(3))
                            : kind == RankFormat::kDense || kind == RankFormat::kBitmask
                                ? 0
                                : static_cast<std::int64_t>(rng.below(2) * 5);
  return {kind, bits};
}

TensorFormat random_format(Rng& rng, std::size_t ranks) {
  TensorFormat format;
  if (rng.below(8) == 0) {
    return {true, false, {}};
  }
  const std::size_t codes = std::min<std::size_t>(rng.below(4), ranks);
  for (std::size_t i = 0; i < codes; ++i) {
    format.ranks.push_back(random_code(rng, i + 1 == codes));
  }
  format.columns = codes > 0 && rng.below(4) == 0;
  return format;
}

Sparsity random_sparsity(Rng& rng, const RandomCase& random) {
  Sparsity sparsity;
  std::size_t fewest = 8;
  for (const Tensor& tensor : random.workload.tensors) {
    fewest = std::min(fewest, tensor.ranks.size());
  }
  for (std::size_t l = 0; l < random.arch.levels.size(); ++l) {
    StorageSparsity storage;
    for (const Role role : {Role::kInput, Role::kWeight, Role::kOutput}) {
      storage.formats[role] = random_format(rng, fewest);
    }
    for (const Role role : {Role::kInput, Role::kWeight}) {  // somewhere zeros are seen
      TensorFormat& format = storage.formats[role];
      format = l + 1 < random.arch.levels.size() || is_compressed(format)
                   ? format
                   : TensorFormat{false, false, {{RankFormat::kBitmask, 0}}};
    }
    for (std::uint64_t c = rng.below(3); c > 0; --c) {
      Condition condition{
          rng.below(2) == 0 ? ZeroAct::kGate : ZeroAct::kSkip, static_cast<Role>(rng.below(3)), {}};
      condition.leaders.insert(
          condition.target == Role::kInput || rng.below(2) == 0 ? Role::kWeight : Role::kInput);
      if (!condition.leaders.contains(condition.target)) {
        storage.when_empty.push_back(condition);
      }
    }
    sparsity.levels.push_back(storage);
  }
  sparsity.when_zero = static_cast<ZeroAct>(rng.below(3));
  return sparsity;
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

// Draws numbers of nonzeros of which there are few choices; the masks of each tensor.
PerTensor<std::vector<std::vector<double>>> draw_masks(Rng& rng, Workload& workload) {
  constexpr double kMostSets = 60;
  PerTensor<std::vector<std::vector<double>>> masks;
  double sets = 1;
  for (const TensorId t : workload.tensors.ids()) {
    const Projection projection{workload, t};
    const PointSet points = projection.points(whole_tile(workload));
    const std::int64_t n = count_of(points);
    std::int64_t z = n;
    for (const std::int64_t wish :
         {1 + static_cast<std::int64_t>(rng.below(3)), n - 1, std::int64_t{1}}) {
      if (wish >= 1 && wish < n && z == n && sets * choices(n, wish) <= kMostSets) {
        z = wish;
      }
    }
    sets *= choices(n, z);
    workload.tensors[t].density = static_cast<double>(z) / static_cast<double>(n);
    masks.push_back(masks_of(points, projection.box_size(), z));
  }
  return masks;
}

// The mean over every data set is the closed form: of random machines, nests, formats and
// conditions.
TEST(Sparse, ClosedFormIsTheMeanOverAllDataSets) {
  int compared = 0;
  int refused = 0;
  double sets = 0;
  for (std::uint64_t seed = 0; seed < tried_of(900U); ++seed) {
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
    PerTensor<std::vector<std::vector<double>>> masks = draw_masks(rng, random.workload);
    PerTensor<std::vector<std::vector<double>>*> chosen;
    for (const TensorId t : masks.ids()) {
      chosen.push_back(&masks[t]);
    }
    try {
      const Problem problem(random.arch, random.workload);
      bool perfect = false;
      const std::vector<double> expected = numbers(closed_form(problem, random.mapping, perfect));
      std::vector<double> mean(expected.size(), 0.0);
      double count = 0;
      for_each_data_set(random.workload, chosen, [&](const PerTensor<DenseTensor>& operands) {
        const Simulation walk = simulate(problem, random.mapping, operands, kMaxCaseMacs);
        const std::vector<double> found = numbers(*walk.sparse);
        for (std::size_t i = 0; i < mean.size(); ++i) {
          mean[i] += found[i];
        }
        count += 1;
      });
      for (std::size_t i = 0; i < mean.size(); ++i) {
        ASSERT_NEAR(mean[i] / count, expected[i], 1e-9 * std::max(1.0, expected[i]))
            << "seed " << seed << ", number " << i;
      }
      sets += count;
      ++compared;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  RecordProperty("compared", compared);
  RecordProperty("refused", refused);
  std::printf("%d cases, %.0f data sets, %d refused\n", compared, sets, refused);
  EXPECT_GT(compared, tried_of(150));
  EXPECT_LT(refused, compared);
}

// A random mask of every operand without a window; the data set itself.
PerTensor<DenseTensor> draw_data(Rng& rng, Workload& workload) {
  PerTensor<DenseTensor> operands(workload.tensors.size());
  for (const TensorId t : workload.tensors.ids()) {
    Tensor& tensor = workload.tensors[t];
    operands[t].shape = box_shape(workload, tensor);
    const auto size = static_cast<std::size_t>(Projection{workload, t}.box_size());
    operands[t].values.assign(size, 1.0);
    const bool has_window = std::any_of(
        tensor.ranks.begin(), tensor.ranks.end(),
        [](const auto& r) { return r.terms.size() != 1 || r.terms.front().coefficient != 1; });
    if (t == workload.output() || has_window) {
      continue;
    }
    const std::uint64_t zeros = rng.below(4);  // of 4
    Pattern pattern;
    pattern.kind = PatternKind::kData;
    pattern.box = operands[t].shape;
    for (double& value : operands[t].values) {
      value = rng.below(4) < zeros ? 0 : 1;
    }
    operands[t].values[rng.below(size)] = 1;
    pattern.nonzero.assign(operands[t].values.begin(), operands[t].values.end());
    tensor.density =
        static_cast<double>(std::count(pattern.nonzero.begin(), pattern.nonzero.end(), 1)) /
        static_cast<double>(size);
    tensor.pattern = Shared<Pattern>{std::move(pattern)};
  }
  return operands;
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
                                      random.workload.tensors[t].name + " " + rule_of(access).name;
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

}  // namespace
}  // namespace mapsim
