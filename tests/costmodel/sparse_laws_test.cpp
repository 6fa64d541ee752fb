// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/sparse/format.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/costmodel/random_zeros.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

// Laws that hold whatever the closed form is: between its figures, between machines that differ in
// one thing, and between it and drawn data.

namespace mapsim::sparse_laws_test {
namespace {

// A random machine that knows of zeros, a layer with uniform zeros in every operand, and a mapping
// that fits; nothing where this seed has none.
std::optional<RandomCase> sparse_case(std::uint64_t seed, double density = 0.4) {
  RandomCase random = random_case(seed);
  if (random.workload.macs() < 24 || !make_nest(random.workload, random.mapping).perfect) {
    return std::nullopt;
  }
  for (Fanout& fanout : random.arch.fanouts) {
    fanout.energy_per_hop.reset();
  }
  for (Storage& level : random.arch.levels) {
    level.energy = {PicojoulesPerBit{3}, PicojoulesPerBit{5}, PicojoulesPerBit{7}};
    level.capacity = {};  // unlimited
    level.bandwidth = {};
    level.bandwidth.shared = BitsPerCycle{3};
  }
  Rng rng{seed};
  random.arch.sparsity = Shared<Sparsity>{random_sparsity(rng, random)};
  for (const TensorId t : random.workload.tensors.ids()) {
    random.workload.tensors[t].density = t == random.workload.output() ? 1 : density;
  }
  return random;
}

RandomCase with(RandomCase random, const std::function<void(Sparsity&)>& change) {
  Sparsity sparsity = *random.arch.sparsity;
  change(sparsity);
  random.arch.sparsity = Shared<Sparsity>{sparsity};
  return random;
}

void drop_conditions(Sparsity& sparsity) {
  sparsity.when_zero = ZeroAct::kNothing;
  for (StorageSparsity& level : sparsity.levels) {
    level.when_empty.clear();
  }
}

void act_as(ZeroAct act, Sparsity& sparsity) {
  sparsity.when_zero = sparsity.when_zero == ZeroAct::kNothing ? ZeroAct::kNothing : act;
  for (StorageSparsity& level : sparsity.levels) {
    for (Condition& condition : level.when_empty) {
      condition.act = act;
    }
  }
}

// nullopt: the machine refuses such a layer, by name.
std::optional<Cost> cost_of(const RandomCase& random) {
  try {
    const Problem problem(random.arch, random.workload);
    const Evaluation found = evaluate(problem, random.mapping);
    const Cost* cost = std::get_if<Cost>(&found);
    return cost != nullptr && cost->sparse ? std::optional{*cost} : std::nullopt;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

using Visit = std::function<void(const SparseAccess&, const SparseAccess&, const std::string&)>;

// Both accesses of each kind, tensor and level of two costs of one layer and mapping.
void for_each_access(const Cost& a, const Cost& b, const Visit& visit) {
  for (const LevelId l : a.sparse->levels.ids()) {
    for (const TensorId t : a.sparse->levels[l].ids()) {
      for (const Access access : kAccesses) {
        const auto i = static_cast<std::size_t>(access);
        visit(
            a.sparse->levels[l][t].total[i], b.sparse->levels[l][t].total[i],
            fmt::format("level {}, tensor {}, {}", index_of(l), index_of(t), rule_of(access).name));
      }
    }
  }
}

// How many standard errors the mean of what was drawn lies from what is expected of it; nullopt:
// too few of the draws differ from the most frequent one to say.
std::optional<double> distance(const std::vector<double>& drawn, double expected) {
  constexpr std::size_t kLeast = 30;
  std::map<double, std::size_t> times;
  double sum = 0;
  for (const double value : drawn) {
    ++times[value];
    sum += value;
  }
  std::size_t most = 0;
  for (const auto& [value, count] : times) {
    most = std::max(most, count);
  }
  if (drawn.size() - most < kLeast) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(drawn.size());
  double squares = 0;
  for (const double value : drawn) {
    squares += (value - sum / n) * (value - sum / n);
  }
  return (sum / n - expected) / std::sqrt(squares / (n - 1) / n);
}

// Distances of many figures, whose root mean square is 1 but for chance.
struct Distances {
  double squares = 0;
  int figures = 0;

  void add(const std::vector<double>& drawn, double expected, const std::string& where) {
    if (const auto z = distance(drawn, expected)) {
      EXPECT_LT(std::abs(*z), 5) << where;
      squares += *z * *z;
      ++figures;
    }
  }
  void expect_chance(int least) const {
    ASSERT_GT(figures, least);
    EXPECT_NEAR(std::sqrt(squares / figures), 1.0, 3.5 / std::sqrt(2.0 * figures));
  }
};

double near(double value) { return 1e-9 * std::max(1.0, std::abs(value)); }

// What is gated or skipped would have been done: with what is done it is what a machine without
// conditions does.
TEST(SparseLaws, AllThatIsNotDoneIsGatedOrSkipped) {
  int compared = 0;
  double left_out = 0;
  for (std::uint64_t seed = 0; seed < tried_of(1500U); ++seed) {
    const auto random = sparse_case(seed);
    const auto cost = random ? cost_of(*random) : std::nullopt;
    const auto all = cost ? cost_of(with(*random, drop_conditions)) : std::nullopt;
    if (!all) {
      continue;
    }
    ++compared;
    for_each_access(
        *cost, *all,
        [&](const SparseAccess& some, const SparseAccess& each, const std::string& where) {
          EXPECT_NEAR(some.actual + some.gated + some.skipped, each.actual, near(each.actual))
              << "seed " << seed << ", " << where;
          EXPECT_EQ(each.gated + each.skipped, 0);
          left_out += some.gated + some.skipped;
        });
    EXPECT_NEAR(cost->sparse->operations + cost->sparse->gated + cost->sparse->skipped,
                static_cast<double>(random->workload.macs()), near(1e4))
        << "seed " << seed;
  }
  EXPECT_GT(compared, tried_of(150));
  EXPECT_GT(left_out, 0);
}

// To gate is to skip without the time: what is done is the same, and no step is left out.
TEST(SparseLaws, GatingTakesTheTimeThatSkippingSaves) {
  int compared = 0;
  int faster = 0;
  int slower = 0;
  for (std::uint64_t seed = 0; seed < tried_of(1500U); ++seed) {
    const auto random = sparse_case(seed);
    const auto gating =
        random
            ? cost_of(with(*random, [](Sparsity& sparsity) { act_as(ZeroAct::kGate, sparsity); }))
            : std::nullopt;
    const auto skipping =
        gating
            ? cost_of(with(*random, [](Sparsity& sparsity) { act_as(ZeroAct::kSkip, sparsity); }))
            : std::nullopt;
    if (!skipping) {
      continue;
    }
    ++compared;
    for_each_access(
        *gating, *skipping,
        [&](const SparseAccess& gated, const SparseAccess& skipped, const std::string& where) {
          EXPECT_NEAR(gated.actual, skipped.actual, near(gated.actual)) << seed << ", " << where;
          EXPECT_NEAR(gated.gated, skipped.skipped, near(gated.gated)) << seed << ", " << where;
        });
    EXPECT_DOUBLE_EQ(gating->sparse->steps, static_cast<double>(gating->counts.steps)) << seed;
    EXPECT_LE(skipping->sparse->steps, gating->sparse->steps * (1 + 1e-12)) << seed;
    const auto free = cost_of(with(*random, [](Sparsity& sparsity) {
      act_as(ZeroAct::kGate, sparsity);
      for (StorageSparsity& level : sparsity.levels) {
        level.when_empty.clear();
      }
    }));
    ASSERT_TRUE(free);
    for (std::size_t i = 0; i < free->latency.resources.size(); ++i) {
      const auto cycles = [i](const Cost& cost) { return cost.latency.resources[i].time.count(); };
      EXPECT_EQ(cycles(*gating), cycles(*free)) << seed;
      EXPECT_LE(cycles(*skipping), cycles(*gating)) << seed;
      slower += cycles(*skipping) < cycles(*gating) && i > 0 ? 1 : 0;
    }
    faster += skipping->sparse->steps < gating->sparse->steps ? 1 : 0;
  }
  EXPECT_GT(compared, tried_of(150));
  EXPECT_GT(faster, compared / 10);
  EXPECT_GT(slower, compared / 20) << "ports";
}

// Nothing is lost between two compressed levels: what one reads the next one fills, zeros apart.
TEST(SparseLaws, WhatAParentReadsItsChildFills) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < tried_of(3000U); ++seed) {
    auto random = sparse_case(seed);
    if (!random || !random->arch.fanouts.empty()) {
      continue;  // a multicast serves several children by one read
    }
    *random = with(*random, [](Sparsity& sparsity) {
      drop_conditions(sparsity);
      for (StorageSparsity& level : sparsity.levels) {
        for (const Role role : {Role::kInput, Role::kWeight}) {
          level.formats[role] = {false, false, {{RankFormat::kBitmask, 0}}};
        }
      }
    });
    const auto cost = cost_of(*random);
    if (!cost) {
      continue;
    }
    for (const TensorId t : random->workload.tensors.ids()) {
      std::optional<double> read;  // by the level that keeps it and lies next outwards
      for (const LevelId l : cost->counts.levels.ids()) {
        if (t == random->workload.output() || !cost->counts.levels[l][t].kept) {
          continue;
        }
        const auto& at = cost->sparse->levels[l][t].total;
        if (read) {
          EXPECT_NEAR(at[static_cast<std::size_t>(Access::kFill)].actual, *read, near(*read))
              << "seed " << seed;
          ++compared;
        }
        read = at[static_cast<std::size_t>(Access::kRead)].actual;
      }
    }
  }
  EXPECT_GT(compared, tried_of(50));
}

// More zeros never cost more: of one machine, format and mapping.
TEST(SparseLaws, MoreZerosNeverCostMore) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < tried_of(1000U); ++seed) {
    std::optional<Cost> before;
    for (const double density : {0.2, 0.5, 0.8}) {
      const auto random = sparse_case(seed, density);
      const auto cost = random ? cost_of(*random) : std::nullopt;
      if (!cost) {
        break;
      }
      if (before) {
        ++compared;
        EXPECT_LE(before->energy.total.count(), cost->energy.total.count() * (1 + 1e-9))
            << "seed " << seed << ", density " << density;
        EXPECT_LE(before->sparse->steps, cost->sparse->steps * (1 + 1e-9)) << "seed " << seed;
      }
      before = cost;
    }
  }
  EXPECT_GT(compared, tried_of(200));
}

// A bitmask pays where a share of 1/w and more of the elements of w bits is zero.
TEST(SparseLaws, ABitmaskPaysWhereZerosAreMoreThanItsBits) {
  const TensorFormat bitmask{false, false, {{RankFormat::kBitmask, 0}}};
  for (const int zeros : {4, 8, 15, 16, 17, 24, 64, 120}) {
    const Workload workload =
        parse_workload(fmt::format("name: w\ngemm: {{m: 16, n: 1, k: 8}}\ndensity: {{A: {}}}\n",
                                   1 - zeros / 128.0),
                       "w.yaml");
    const StoredTile whole =
        stored_on_average(bitmask, DensityModel{workload, TensorId{0}}, {16, 8});
    constexpr double kWidth = 8;
    EXPECT_EQ(kWidth * whole.elements + whole.format_bits <= kWidth * 128, zeros >= 16) << zeros;
  }
}

// Places of zeros that are drawn from the uniform density and given as data have, on average over
// the draws, the figures of the density.
TEST(SparseLaws, DataDrawnFromADensityHasItsFigures) {
  Distances distances;
  for (std::uint64_t seed = 0; seed < tried_of(2000U); ++seed) {
    const auto random = sparse_case(seed);
    const auto expected = random ? cost_of(*random) : std::nullopt;
    if (!expected || random->workload.macs() > 300) {
      continue;
    }
    std::vector<Cost> drawn;
    constexpr std::uint64_t kDraws = 100;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      RandomCase data = *random;
      const PerTensor<DenseTensor> operands =
          operands_with_zeros(random->workload, 1000 * seed + draw);
      for (const TensorId t : data.workload.tensors.ids()) {
        Tensor& tensor = data.workload.tensors[t];
        const bool has_window =
            std::any_of(tensor.ranks.begin(), tensor.ranks.end(), [](const Rank& rank) {
              return rank.terms.size() != 1 || rank.terms.front().coefficient != 1;
            });
        if (t == data.workload.output() || has_window) {
          continue;
        }
        Pattern pattern;
        pattern.kind = PatternKind::kData;
        pattern.box = operands[t].shape;
        for (const double value : operands[t].values) {
          pattern.nonzero.push_back(value != 0 ? 1 : 0);
        }
        tensor.pattern = Shared<Pattern>{std::move(pattern)};
        tensor.density = DensityModel{data.workload, t}.density();
      }
      if (const auto cost = cost_of(data)) {
        drawn.push_back(*cost);
      }
    }
    if (drawn.size() < kDraws) {
      continue;
    }
    const auto compare = [&](double mean, const std::function<double(const Cost&)>& figure,
                             const std::string& where) {
      std::vector<double> all;
      for (const Cost& cost : drawn) {
        all.push_back(figure(cost));
      }
      distances.add(all, mean, fmt::format("seed {}, {}", seed, where));
    };
    compare(
        expected->sparse->operations, [](const Cost& cost) { return cost.sparse->operations; },
        "operations");
    for (const LevelId l : expected->sparse->levels.ids()) {
      for (const TensorId t : expected->sparse->levels[l].ids()) {
        const auto i =
            static_cast<std::size_t>(crossing_access(true, t == random->workload.output()));
        compare(
            expected->sparse->levels[l][t].total[i].actual,
            [&](const Cost& cost) { return cost.sparse->levels[l][t].total[i].actual; },
            fmt::format("level {}, tensor {}", index_of(l), index_of(t)));
      }
    }
  }
  distances.expect_chance(tried_of(25));
}

// Runs of drawn data sets are spread about the closed form as chance has it.
TEST(SparseLaws, DrawnRunsAreSpreadAboutTheClosedForm) {
  Distances distances;
  for (std::uint64_t seed = 0; seed < tried_of(300U); ++seed) {
    const auto random = sparse_case(seed);
    const auto expected = random ? cost_of(*random) : std::nullopt;
    if (!expected || random->workload.macs() > 300) {
      continue;
    }
    const Problem problem(random->arch, random->workload);
    constexpr std::uint64_t kRuns = 100;
    std::vector<std::vector<double>> runs;
    for (std::uint64_t run = 0; run < kRuns; ++run) {
      const PerTensor<DenseTensor> operands =
          operands_with_zeros(random->workload, 5000 * seed + run);
      const Simulation walked = simulate(problem, random->mapping, operands, kMaxCaseMacs);
      std::vector<double>& all = runs.emplace_back();
      all.push_back(walked.sparse->operations);
      for (const auto& level : walked.sparse->levels) {
        for (const SparseTensor& at : level) {
          for (const SparseAccess& access : at.total) {
            all.insert(all.end(), {access.actual, access.gated, access.skipped});
          }
        }
      }
    }
    std::vector<double> means{expected->sparse->operations};
    for (const auto& level : expected->sparse->levels) {
      for (const SparseTensor& at : level) {
        for (const SparseAccess& access : at.total) {
          means.insert(means.end(), {access.actual, access.gated, access.skipped});
        }
      }
    }
    for (std::size_t i = 0; i < means.size(); ++i) {
      std::vector<double> all;
      for (const std::vector<double>& run : runs) {
        all.push_back(run[i]);
      }
      distances.add(all, means[i], fmt::format("seed {}, figure {}", seed, i));
    }
  }
  distances.expect_chance(tried_of(200));
}

// Where what a tile of A holds and whether it is moved go by the same place, the mean of their
// product is not the product of their means.
TEST(SparseLaws, PlacesOfCutBlocksAreNotAveragedTwice) {
  const auto why = [](int tile, const char* format) {
    const std::string zeros = fmt::format(
        "    format: {{input: {}, weight: bitmask}}\n"
        "    when_empty: [{{skip: input, on: weight}}]\n",
        format);
    const Problem problem{
        parse_arch("name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n"
                   "    capacity: unlimited\n    energy: {read: 1 pJ/word, write: 1 pJ/word}\n" +
                       zeros +
                       "  - storage: L1\n    word: 8 b\n    capacity: unlimited\n"
                       "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n" +
                       zeros + "  - compute: MAC\n    energy: 1 pJ\n    when_zero: skip\n",
                   "m.yaml"),
        parse_workload("name: w\ngemm: {m: 2, n: 1, k: 12}\n"
                       "density: {A: structured 1:4 along K, B: structured 1:4 along K}\n",
                       "w.yaml")};
    const Mapping mapping =
        parse_mapping(fmt::format("mapping:\n  - keep DRAM: [A, B, Z]\n  - for K: {}\n"
                                  "  - keep L1: [A, B, Z]\n  - for M: 1\n  - for K: 1\n",
                                  tile),
                      "map.yaml", problem.arch(), problem.workload());
    try {
      evaluate(problem, mapping);
    } catch (const ConfigError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(why(4, "[bitmask, bitmask]"), "");
  EXPECT_EQ(why(3, "bitmask"), "");
  EXPECT_NE(why(3, "[bitmask, bitmask]").find("where tiles of A hold parts of n:m blocks: "),
            std::string::npos)
      << why(3, "[bitmask, bitmask]");
}

// A larger tile, and one of a tensor with more nonzeros, is less often empty.
TEST(SparseLaws, LargerTilesAreEmptyLessOften) {
  double denser = 1;
  for (const double density : {0.05, 0.1, 0.3, 0.7}) {
    const Workload workload = parse_workload(
        fmt::format("name: w\ngemm: {{m: 32, n: 1, k: 32}}\ndensity: {{A: {}}}\n", density), "w");
    const DensityModel model{workload, TensorId{0}};
    double before = 1;
    for (std::int64_t n = 1; n <= 1024; n *= 2) {
      const double chance =
          model.empty({std::max<std::int64_t>(1, n / 32), std::min<std::int64_t>(n, 32)});
      EXPECT_TRUE(chance < before || chance == 0) << n;
      before = chance;
    }
    EXPECT_LT(model.empty({1, 8}), denser);
    denser = model.empty({1, 8});
  }
}

// Half of the elements, in the one case anywhere, in the other two of each four neighbours: they
// store the same, but three neighbours of four are never empty.
TEST(SparseLaws, HalfAndTwoOfFourDifferInWhatIsEmpty) {
  const auto model = [](const std::string& density) {
    return DensityModel{
        parse_workload("name: w\ngemm: {m: 16, n: 1, k: 16}\ndensity: {A: " + density + "}\n", "w"),
        TensorId{0}};
  };
  const DensityModel half = model("0.5");
  const DensityModel pairs = model("structured 2:4 along K");
  const TensorFormat bitmask{false, false, {{RankFormat::kBitmask, 0}}};
  for (const TileShape& tile : {TileShape{1, 4}, TileShape{2, 8}, TileShape{16, 16}}) {
    EXPECT_NEAR(stored_on_average(bitmask, half, tile).elements,
                stored_on_average(bitmask, pairs, tile).elements, 1e-9);
  }
  EXPECT_GT(half.empty({1, 4}), 0.05);
  EXPECT_EQ(pairs.empty({1, 4}), 0);
  EXPECT_EQ(pairs.empty({1, 8}), 0);
  EXPECT_GT(pairs.empty({4, 1}), 0.05) << "across the blocks they are independent";
}

}  // namespace
}  // namespace mapsim::sparse_laws_test
