// SPDX-License-Identifier: Apache-2.0
#include "costmodel/busiest.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/sparse/occupancy.hpp"
#include "tests/costmodel/random_zeros.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::busiest_test {
namespace {

// A random case in a machine that skips, whose instances wait at random places.
RandomCase skipping_case(std::uint64_t seed, Rng& rng) {
  RandomCase random = random_case(seed);
  for (Fanout& fanout : random.arch.fanouts) {
    fanout.energy_per_hop.reset();
    fanout.balance = static_cast<Balance>(rng.below(3));
  }
  for (Storage& level : random.arch.levels) {
    level.capacity = {};
  }
  for (Tensor& tensor : random.workload.tensors) {
    tensor.density = 1;
  }
  Sparsity sparsity = random_sparsity(rng, random);
  for (StorageSparsity& level : sparsity.levels) {
    level.formats.erase(Role::kOutput);
  }
  sparsity.when_zero = rng.below(3) == 0 ? sparsity.when_zero : ZeroAct::kSkip;
  random.arch.sparsity = Shared<Sparsity>{sparsity};
  return random;
}

struct Found {
  Problem problem;
  Cost cost;
  BusiestInstance busiest;
};
// None: the mapping does not fit, no instance waits, or the machine refuses such zeros.
std::optional<Found> busiest_of(const RandomCase& random) {
  try {
    Problem problem(random.arch, random.workload);
    const Evaluation evaluation = evaluate(problem, random.mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    const auto busiest = cost ? busiest_instance(problem, random.mapping, *cost) : std::nullopt;
    return busiest ? std::optional{Found{std::move(problem), *cost, *busiest}} : std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

// Of known zeros, the steps are those that the simulated instances take until the last one is done.
TEST(BusiestInstance, OfKnownZerosIsTheSimulators) {
  int compared = 0;
  int above_mean = 0;
  for (std::uint64_t seed = 0; seed < tried_of(6000U); ++seed) {
    Rng rng{seed};
    RandomCase random = skipping_case(seed, rng);
    if (random.workload.macs() > 400) {
      continue;
    }
    const PerTensor<DenseTensor> operands = draw_data(rng, random.workload);
    const std::optional<Found> found = busiest_of(random);
    if (!found) {
      continue;
    }
    const double steps =
        simulate(found->problem, random.mapping, operands, kMaxCaseMacs).busiest_steps;
    ASSERT_TRUE(found->busiest.exact) << "seed " << seed;
    ASSERT_NEAR(found->busiest.steps, steps, 1e-9) << "seed " << seed;
    above_mean += steps > found->cost.sparse->steps + 1e-9 ? 1 : 0;
    ++compared;
  }
  std::printf("%d cases, %d above the mean\n", compared, above_mean);
  EXPECT_GT(compared, tried_of(150));
  EXPECT_GT(above_mean, tried_of(50));
}

// Of zeros anywhere, the mean over all data sets is no less than the bound, and the bound no less
// than the mean over instances.
TEST(BusiestInstance, OfUniformZerosIsBoundedFromBelow) {
  int compared = 0;
  int above_mean = 0;
  for (std::uint64_t seed = 0; seed < tried_of(3000U); ++seed) {
    Rng rng{seed};
    RandomCase random = skipping_case(seed, rng);
    if (random.workload.macs() > 120) {
      continue;
    }
    const Masks masks = draw_masks(rng, random.workload);
    const std::optional<Found> found = busiest_of(random);
    if (!found) {
      continue;
    }
    double sum = 0;
    double sets = 0;
    for_each_data_set(random.workload, masks, [&](const PerTensor<DenseTensor>& operands) {
      sum += simulate(found->problem, random.mapping, operands, kMaxCaseMacs).busiest_steps;
      sets += 1;
    });
    EXPECT_FALSE(found->busiest.exact);
    EXPECT_LE(found->busiest.steps, sum / sets * (1 + 1e-12)) << "seed " << seed;
    if (make_nest(random.workload, random.mapping).perfect) {
      const double mean = found->cost.sparse->steps;
      EXPECT_GE(found->busiest.steps, mean * (1 - 1e-12)) << "seed " << seed;
      above_mean += found->busiest.steps > mean * (1 + 1e-9) ? 1 : 0;
    }
    ++compared;
  }
  std::printf("%d cases, %d above the mean\n", compared, above_mean);
  EXPECT_GT(compared, tried_of(100));
  EXPECT_GT(above_mean, tried_of(30));
}

// A row of PEs that skip zeros of the weights.
Problem row(const std::string& balance, const std::string& density) {
  return {
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n"
                 "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
                 "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
                 "    format: {weight: bitmask}\n"
                 "  - fanout: PEs\n    x: 2\n    balance: " +
                     balance +
                     "\n  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [weight]}\n",
                 "m.yaml"),
      parse_workload("name: w\neinsum: {equation: 'O[M] += I[K] * W[M][K]', dims: {M: 2, K: 4}}\n"
                     "density: {W: " +
                         density + "}\n",
                     "w.yaml")};
}

double steps_of(const Problem& problem, const std::string& nest,
                const std::string& tensors = "I, W, O") {
  const Mapping mapping = parse_mapping("mapping:\n  - keep DRAM: [" + tensors + "]\n" + nest,
                                        "m.yaml", problem.arch(), problem.workload());
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  const auto busiest = busiest_instance(problem, mapping, cost);
  return busiest ? busiest->steps : 0;
}

// Two instances, four of eight weights: a row has 0 to 4 of them, the larger one 4, 3 or 2 in
// 2, 32 and 36 of 70 cases. At each step a column has 0, 1 or 2 in 6/28 x ... of the cases.
TEST(BusiestInstance, WaitsAtEveryStepOrAtTheEnd) {
  const std::string apart = "  - parallel M: 1 over X of PEs\n  - for K: 1\n";
  const std::string together = "  - for K: 1\n  - parallel M: 1 over X of PEs\n";
  // Independent rows: P(X <= x) = 1/70, 17/70, 53/70, 69/70, 1.
  double expected = 0;
  for (const double below : {1.0, 17.0, 53.0, 69.0}) {
    expected += 1 - below * below / 4900;
  }
  EXPECT_NEAR(steps_of(row("end", "0.5"), apart), expected, 1e-12);
  EXPECT_NEAR(steps_of(row("end", "0.5"), together), expected, 1e-12);
  EXPECT_NEAR(steps_of(row("barrier", "0.5"), apart), expected, 1e-12);
  // Waiting in each of the four steps: one of two independent weights is not zero, 3 of 4 times.
  EXPECT_NEAR(steps_of(row("barrier", "0.5"), together), 3, 1e-12);
  EXPECT_EQ(steps_of(row("ideal", "0.5"), together), 0);
}

// Rows and columns of lanes that are packed with the nonzeros of tiles of 16 x 12, of known places:
// each column of A and row of B takes as many batches as it fills. Of drawn places the mean of the
// batches is known, since tensors are independent.
TEST(BusiestInstance, PacksNonzerosOfATileIntoLanes) {
  constexpr int kM = 32;
  constexpr int kN = 24;
  constexpr int kK = 6;
  const Arch arch = parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {input: bitmask}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {weight: bitmask}\n"
      "  - fanout: rows\n    x: 4\n    balance: packed\n"
      "  - fanout: columns\n    x: 3\n    balance: packed\n"
      "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n",
      "m.yaml");
  const std::string nest =
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 16\n  - for N: 12\n  - keep Buffer: [A, B, "
      "Z]\n  - for N: 3\n  - for K: 1\n  - for M: 4\n  - parallel M: 1 over X of rows\n"
      "  - parallel N: 1 over X of columns\n";
  const std::string sizes = fmt::format("name: w\ngemm: {{m: {}, n: {}, k: {}}}\n", kM, kN, kK);
  const auto steps = [&](const Workload& workload, const std::string& loops) {
    const Problem problem{arch, workload};
    const Mapping mapping = parse_mapping(loops, "m.yaml", problem.arch(), problem.workload());
    return busiest_instance(problem, mapping, std::get<Cost>(evaluate(problem, mapping)))->steps;
  };
  const auto groups = [&](double density, std::int64_t all, std::int64_t tile, std::int64_t lanes) {
    const auto marked = static_cast<std::int64_t>(density * static_cast<double>(all));
    return expected_groups(hypergeometric(all, marked, tile), lanes);
  };
  const Workload uniform = parse_workload(sizes + "density: {A: 0.25, B: 0.5}\n", "w.yaml");
  const double mean = 2 * 2 * kK * groups(0.25, kM * kK, 16, 4) * groups(0.5, kN * kK, 12, 3);
  EXPECT_NEAR(steps(uniform, nest), mean, 1e-9);
  // Lanes of four rows each take no fewer batches.
  std::string wide = nest.substr(0, nest.find("  - for M: 4"));
  wide += "  - parallel M: 4 over X of rows\n  - parallel N: 1 over X of columns\n  - for M: 1\n";
  EXPECT_NEAR(steps(uniform, wide), mean, 1e-9);
  Rng rng{3};
  const std::string folder = testing::TempDir();
  std::vector<std::vector<int>> a(kM, std::vector<int>(kK));
  std::vector<std::vector<int>> b(kK, std::vector<int>(kN));
  for (const auto& [matrix, name] : {std::pair{&a, "/packed_a.txt"}, {&b, "/packed_b.txt"}}) {
    std::ofstream file{folder + name};
    for (std::vector<int>& row : *matrix) {
      for (int& one : row) {
        one = rng.below(3) == 0 ? 1 : 0;
        file << one << ' ';
      }
      file << '\n';
    }
  }
  int batches = 0;
  for (int m = 0; m < kM; m += 16) {
    for (int n = 0; n < kN; n += 12) {
      for (int k = 0; k < kK; ++k) {
        int rows = 0;
        int columns = 0;
        for (int i = 0; i < 16; ++i) {
          rows += a[static_cast<std::size_t>(m + i)][static_cast<std::size_t>(k)];
        }
        for (int i = 0; i < 12; ++i) {
          columns += b[static_cast<std::size_t>(k)][static_cast<std::size_t>(n + i)];
        }
        batches += (rows + 3) / 4 * ((columns + 2) / 3);
      }
    }
  }
  EXPECT_EQ(steps(parse_workload(sizes + fmt::format("density: {{A: data {0}/packed_a.txt, B: data "
                                                     "{0}/packed_b.txt}}\n",
                                                     folder),
                                 "w.yaml"),
                  nest),
            batches);
}

// Lanes within lanes over one dim: a loop in time is packed by the first lanes inside it. The outer
// ones take the five of eight pairs with a nonzero, two at a time; both lanes of a pair are inside.
TEST(BusiestInstance, PacksALoopIntoTheFirstLanesInside) {
  std::string text =
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n    format: {input: bitmask}\n";
  for (const char* fanout : {"outer", "inner"}) {
    text += fmt::format("  - fanout: {}\n    x: 2\n    balance: packed\n", fanout);
  }
  const Arch arch = parse_arch(
      text + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: {skip: [input]}\n", "m.yaml");
  const std::string mask = testing::TempDir() + "/lanes_within_lanes.txt";
  std::ofstream{mask} << "1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 1\n";
  const auto steps = [&](const std::string& density) {
    const Problem problem{
        arch,
        parse_workload("name: w\ngemm: {m: 1, n: 1, k: 16}\ndensity: {A: " + density + "}\n", "w")};
    return steps_of(problem,
                    "  - for K: 4\n  - parallel K: 2 over X of outer\n"
                    "  - parallel K: 1 over X of inner\n",
                    "A, B, Z");
  };
  EXPECT_EQ(steps("data " + mask), 3);
  EXPECT_NEAR(steps("0.5"), 2, 1e-12);  // of four without zeros, at least the mean
}

// A random nest of pairs of indices, two of them over lanes, which are packed more often than not.
struct Lanes {
  Arch arch;
  std::string nest = "mapping:\n  - keep DRAM: [A, B, Z]\n";
};

Lanes random_lanes(Rng& rng) {
  Lanes drawn;
  std::string text =
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
      "    format: {input: bitmask, weight: bitmask}\n";
  for (const char* fanout : {"rows", "columns"}) {
    text += fmt::format("  - fanout: {}\n    x: 2\n    balance: {}\n", fanout,
                        rng.below(4) == 0 ? "end" : "packed");
  }
  drawn.arch = parse_arch(text + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n", "m");
  std::string dims = "MNKK";
  for (std::size_t i = dims.size(); i > 1; --i) {
    std::swap(dims[i - 1], dims[rng.below(i)]);
  }
  const std::size_t rows = rng.below(dims.size() - 1);
  const std::size_t columns = rows + 1 + rng.below(dims.size() - 1 - rows);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const char dim = dims[i];
    const int extent = dims.find(dim, i + 1) == std::string::npos ? 1 : 2;
    drawn.nest += i == rows ? fmt::format("  - parallel {}: {} over X of rows\n", dim, extent)
                  : i == columns
                      ? fmt::format("  - parallel {}: {} over X of columns\n", dim, extent)
                      : fmt::format("  - for {}: {}\n", dim, extent);
  }
  return drawn;
}

void set_mask(const std::vector<char>& mask, const std::vector<std::int64_t>& box, Tensor& tensor) {
  Pattern pattern;
  pattern.kind = PatternKind::kData;
  pattern.box = box;
  pattern.nonzero = mask;
  tensor.density = static_cast<double>(std::count(mask.begin(), mask.end(), 1)) / 8;
  tensor.pattern = Shared<Pattern>{std::move(pattern)};
}

// Zeros of both operands are drawn, or one has a mask. The mean over all data sets is no less than
// the bound, whichever lanes which of them fill.
TEST(BusiestInstance, OfPackedLanesIsBoundedFromBelow) {
  int above_mean = 0;
  for (std::uint64_t seed = 0; seed < tried_of(40U); ++seed) {
    Rng rng{seed};
    const Lanes drawn = random_lanes(rng);
    Workload workload = parse_workload("name: w\ngemm: {m: 2, n: 2, k: 4}\n", "w.yaml");
    const std::vector<std::int64_t> boxes[] = {{2, 4}, {4, 2}};
    std::vector<char> masks[2];
    const std::uint64_t known = rng.below(3);  // 2: none
    for (const std::uint64_t t : {0U, 1U}) {
      const std::uint64_t nonzeros = std::uint64_t{1} << rng.below(3);
      masks[t].assign(8, 0);
      std::fill_n(masks[t].begin(), nonzeros, 1);
      Tensor& tensor = workload.tensors[static_cast<TensorId>(t)];
      tensor.density = static_cast<double>(nonzeros) / 8;
      for (std::size_t i = 8; i > 1 && t == known; --i) {
        std::swap(masks[t][i - 1], masks[t][rng.below(i)]);
      }
      if (t == known) {
        set_mask(masks[t], boxes[t], tensor);
      }
    }
    const auto busiest = [&](const Workload& of) {
      const Problem problem{drawn.arch, of};
      const Mapping mapping = parse_mapping(drawn.nest, "m.yaml", drawn.arch, of);
      const Cost cost = std::get<Cost>(evaluate(problem, mapping));
      return std::pair{*busiest_instance(problem, mapping, cost), cost.sparse->steps};
    };
    const auto [bound, mean] = busiest(workload);
    double sum = 0;
    double sets = 0;
    Workload of = workload;
    const auto visit = [&](const auto& self, std::size_t t) -> void {
      if (t == 2) {
        sum += busiest(of).first.steps;
        sets += 1;
        return;
      }
      std::vector<char> mask = masks[t];
      do {
        set_mask(mask, boxes[t], of.tensors[static_cast<TensorId>(t)]);
        self(self, t + 1);
      } while (t != known && std::prev_permutation(mask.begin(), mask.end()));
    };
    visit(visit, 0);
    EXPECT_LE(bound.steps, sum / sets * (1 + 1e-12)) << "seed " << seed << drawn.nest;
    above_mean += bound.steps > mean * (1 + 1e-9) ? 1 : 0;
  }
  std::printf("%d above the mean\n", above_mean);
  EXPECT_GT(above_mean, tried_of(8));
}

}  // namespace
}  // namespace mapsim::busiest_test
