// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <ctime>
#include <limits>
#include <span>
#include <vector>

#include "arch/load.hpp"
#include "mapper/fusion/chain_curve.hpp"
#include "mapper/fusion/chain_front.hpp"
#include "mapper/fusion/chain_search.hpp"
#include "tests/mapper/brute_chain.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::fusion_test {
namespace {

double energy_of(const ChainResult& result) {
  return result.cost ? result.cost->energy.count() : std::numeric_limits<double>::infinity();
}

EinsumChain attention() {
  return parse_chain(
      "name: attention\nchain:\n"
      "  - name: qk\n    gemm: {m: 64, n: 64, k: 8}\n    out: S\n"
      "  - name: pv\n    gemm: {m: 64, n: 8, k: 64}\n    in: {A: S}\n",
      "chain.yaml");
}
Arch machine(const std::string& capacity, const std::string& more = "",
             const std::string& of_compute = "") {
  return parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 100 pJ/word, write: 100 pJ/word}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: " +
          capacity + "\n    energy: {read: 2 pJ/word, write: 2 pJ/word}\n" + more +
          "  - compute: MAC\n    energy: 1 pJ\n" + of_compute,
      "arch.yaml");
}

// An intermediate that is held whole with its final sums, narrow, while its group keeps a part of
// it further in: that part must bring each sum once. With chain 9,000,530 a tree that did not was
// called the best, and did not fit.
TEST(Fusion, HoldsFinalSumsThatArriveOnce) {
  for (std::uint64_t seed = 9'000'520; seed < 9'000'540; ++seed) {
    const TinyChain tiny = wide_tiny_chain(seed, 6);
    const ChainResult apart = search_chain(tiny.arch, tiny.chain, {1, 0, true}, {});
    const ChainResult found = search_chain(tiny.arch, tiny.chain, {}, {});
    EXPECT_TRUE(found.proven);
    EXPECT_LE(energy_of(found), energy_of(apart)) << "seed " << seed << "\n" << describe(tiny);
  }
}

TEST(Fusion, FindsWhatBruteForceFinds) {
  std::int64_t trees = 0;
  int fused = 0;
  const std::vector<std::uint64_t> seeds{2,  8,         12,        20,        22,       31,
                                         67, 1'000'002, 1'000'012, 1'000'026, 1'000'028};
  for (const std::uint64_t seed : std::span(seeds).first(tried_of(seeds.size()))) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, false, trees);
    const double expected =
        front.empty() ? std::numeric_limits<double>::infinity() : front.front().energy;
    const ChainResult found = search_chain(tiny.arch, tiny.chain, {}, {});
    EXPECT_TRUE(found.proven);
    ASSERT_EQ(std::isinf(expected), !found.cost) << "seed " << seed << "\n" << describe(tiny);
    if (found.cost) {
      EXPECT_NEAR(energy_of(found), expected, 1e-9 * expected)
          << "seed " << seed << "\n"
          << describe(tiny) << print_tree(tiny.arch, tiny.chain, *found.best);
    }
    const ChainResult apart = search_chain(tiny.arch, tiny.chain, {.most_einsums = 1}, {});
    fused += energy_of(found) < energy_of(apart) * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(fused, tried_of(4) - 1);
}

// What two levels bring: scopes and shared keeps at both of them, one tensor's among them. Trees at
// one level are trees of the whole space, and here they need more.
TEST(Fusion, KeepsTensorsOfAGroupAtSeveralLevels) {
  for (const std::uint64_t seed : {31U, 67U}) {
    const TinyChain tiny = tiny_chain(seed);
    double at_one = std::numeric_limits<double>::infinity();
    for (const LevelId level : {LevelId{1}, LevelId{2}}) {
      FusionLimits limits;
      limits.only_level = level;
      const ChainResult found = search_chain(tiny.arch, tiny.chain, limits, {});
      EXPECT_TRUE(found.proven);
      at_one = std::min(at_one, energy_of(found));
    }
    const ChainResult found = search_chain(tiny.arch, tiny.chain, {}, {});
    EXPECT_LT(energy_of(found), at_one * (1 - 1e-3)) << seed;
    EXPECT_TRUE(check_tree(tiny.arch, tiny.chain, *found.best).empty());
  }
}

// Each space contains the one before.
TEST(Fusion, NeverNeedsMoreThanLayerByLayer) {
  for (const char* capacity : {"256 B", "2 KiB", "8 KiB"}) {
    const Arch arch = machine(capacity);
    const EinsumChain chain = attention();
    const ChainResult spilled =
        search_chain(arch, chain, {.most_einsums = 1, .may_hold = false}, {});
    const ChainResult on_chip = search_chain(arch, chain, {.most_einsums = 1}, {});
    const ChainResult one_loop = search_chain(arch, chain, {.most_loops = 1}, {});
    const ChainResult fused = search_chain(arch, chain, {}, {});
    EXPECT_LE(energy_of(on_chip), energy_of(spilled));
    EXPECT_LE(energy_of(one_loop), energy_of(on_chip));
    EXPECT_LE(energy_of(fused), energy_of(one_loop));
    EXPECT_GE(fused.lower_bound, 0);
    EXPECT_TRUE(check_tree(arch, chain, *fused.best).empty());
  }
}

// 64 x 64 scores do not fit into 2 KiB, and a tile of them does.
TEST(Fusion, KeepsTilesOfScoresOnChip) {
  const Arch arch = machine("2 KiB");
  const EinsumChain chain = attention();
  const ChainResult fused = search_chain(arch, chain, {}, {});
  EXPECT_EQ(fused.best->nodes.size(), 3U);
  EXPECT_EQ(fused.cost->counts.intermediates[0].made, 64 * 64);
  // DRAM: what the two products read and write, once.
  double at_dram = 0;
  for (const EinsumCost& cost : fused.cost->einsums) {
    for (const TensorEnergy& tensor : cost.energy.levels[LevelId{0}]) {
      at_dram += tensor.total.count();
    }
  }
  EXPECT_DOUBLE_EQ(at_dram, 100.0 * 4 * 64 * 8);
}

// Each PE has 64 B; the array adds up sums, and the tile of the scores stays in front of it.
TEST(Fusion, SpreadsBranchesOverAnArray) {
  const Arch arch = machine("2 KiB",
                            "  - fanout: PEs\n    x: 4\n    y: 4\n    multicast: [input, weight]\n"
                            "    spatial_reduction: true\n"
                            "  - storage: spad\n    word: 8 b\n    capacity: 64 B\n"
                            "    energy: {read: 0.1 pJ/word, write: 0.1 pJ/word}\n");
  const EinsumChain chain = attention();
  const ChainResult fused = search_chain(arch, chain, {}, {});
  const ChainResult apart = search_chain(arch, chain, {.most_einsums = 1}, {});
  EXPECT_TRUE(fused.proven);
  EXPECT_LT(energy_of(fused), 0.7 * energy_of(apart));
  for (const Counts& counts : fused.cost->counts.einsums) {
    EXPECT_GT(counts.used_x[FanoutId{0}] * counts.used_y[FanoutId{0}], 1);
  }
}

// A window over points whose number has few divisors, made by an einsum that profits from its
// boxes' having more: the whole einsum, or boxes of several sizes, bound no box of one size.
struct Halo {
  int points, channels, weight, other;  // widths [b]
  const char* buffer;
  int dram;  // [pJ]
};
double energy_of_tree(const Halo& halo, double& searched) {
  const Arch arch = parse_arch(
      "name: a\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n    energy: {read: " +
          std::to_string(halo.dram) + " pJ/word, write: " + std::to_string(halo.dram) +
          " pJ/word}\n  - storage: Buffer\n    word: 8 b\n    capacity: " + halo.buffer +
          "\n    energy: {read: 10 pJ/word, write: 10 pJ/word}\n"
          "  - fanout: PEs\n    x: 4\n    multicast: [weight]\n    spatial_reduction: false\n"
          "  - compute: MAC\n    energy: 1 pJ\n",
      "arch.yaml");
  const std::string made = std::to_string(halo.other) + " b";
  const EinsumChain chain = parse_chain(
      "name: c\nchain:\n"
      "  - name: e1\n    einsum: {equation: \"T[h] += A[h][c] * W[c]\", dims: {h: " +
          std::to_string(halo.points) + ", c: " + std::to_string(halo.channels) +
          "}}\n    precision: {input: 8 b, weight: " + std::to_string(halo.weight) +
          " b, output: " + made + ", partial: " + made +
          "}\n    out: T\n"
          "  - name: e2\n    einsum: {equation: \"O[p] += T[p+r] * V[r]\", dims: {p: " +
          std::to_string(halo.points - 1) + ", r: 2}}\n    precision: {input: " + made +
          ", weight: 8 b, output: 8 b, partial: 8 b}\n    in: {T: T}\n",
      "chain.yaml");
  const MappingTree tree = parse_tree(
      "mapping:\n  - keep Buffer: [e1.W]\n  - for e2.p: 3\n  - keep Buffer: [T]\n  - sequence:\n"
      "      - e1: [for c: 1, parallel h: 1 over X of PEs]\n"
      "      - e2: [for r: 1, parallel p: 1 over X of PEs]\n",
      "tree.yaml", arch, chain);
  const ChainResult found = search_chain(arch, chain, {}, {});
  EXPECT_TRUE(found.proven);
  searched = energy_of(found);
  return std::get<TreeCost>(evaluate_tree(arch, chain, tree)).energy.count();
}
TEST(Fusion, BoundsNoBoxByOneThatItDoesNotDivide) {
  for (const Halo& halo : {Halo{13, 7, 64, 8, "1 KiB", 20}, Halo{16, 3, 128, 32, "66 B", 60},
                           Halo{28, 3, 128, 32, "66 B", 60}}) {
    double searched = 0;
    const double tree = energy_of_tree(halo, searched);
    EXPECT_LE(searched, tree * (1 + 1e-9)) << halo.points;
  }
}

// Every objective with time, and limits, on machines with ports of finite bandwidth.
TEST(Fusion, FindsTheBestPointsThatBruteForceFinds) {
  std::int64_t trees = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> expected = front_by_force(tiny.arch, tiny.chain, true, trees);
    const ChainFront found = search_chain_front(tiny.arch, tiny.chain, {}, {});
    EXPECT_TRUE(found.complete);
    ASSERT_EQ(found.points.size(), expected.size()) << "seed " << seed << "\n" << describe(tiny);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.points[i].cost.energy.count(), expected[i].energy,
                  1e-9 * expected[i].energy);
      EXPECT_EQ(found.points[i].cost.latency.count(), expected[i].cycles);
    }
    for (const Objective& objective :
         {Objective::kLatency, Objective::kEdp, Objective{ObjectiveFunction::weighted_sum(20)}}) {
      SearchOptions options;
      options.objective = objective;
      const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, options);
      EXPECT_TRUE(best.proven);
      double least = std::numeric_limits<double>::infinity();
      for (const TreePoint& point : expected) {
        least = std::min(least,
                         objective.function.value(point.energy, static_cast<double>(point.cycles)));
      }
      ASSERT_EQ(best.cost.has_value(), !expected.empty());
      if (best.cost) {
        EXPECT_NEAR(value_of(objective, *best.cost), least, 1e-9 * least) << "seed " << seed;
      }
    }
  }
}

// Optima of a prototype that shares nothing with this search: tiles of 8 x 8 elements of 16 b,
// whose bits are those of this machine's elements, so that an operation is 512 of the chain's.
TEST(Fusion, NeedsTheEnergiesOfAnIndependentPrototype) {
  const auto value = [](const char* buffer, const FusionLimits& limits) {
    const Arch arch =
        parse_arch(std::string("name: e\nclock: 1 GHz\nnodes:\n"
                               "  - storage: DRAM\n    word: 1 b\n    capacity: unlimited\n"
                               "    energy: {read: 200 pJ/word, write: 200 pJ/word}\n"
                               "  - storage: Buffer\n    word: 1 b\n    capacity: ") +
                       buffer +
                       "\n    energy: {read: 6 pJ/word, write: 6 pJ/word}\n"
                       "  - storage: Regs\n    word: 1 b\n"
                       "    capacity: {input: 4704 B, weight: 4704 B, output: 4704 B}\n"
                       "    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
                       "  - compute: MAC\n    energy: 512 pJ\n",
                   "arch.yaml");
    const std::string bits = "{input: 64 b, weight: 64 b, output: 64 b, partial: 64 b}\n";
    const EinsumChain chain = parse_chain(
        "name: ffn\nchain:\n  - name: up\n    gemm: {m: 64, n: 384, k: 96}\n    precision: " +
            bits + "    out: H\n  - name: down\n    gemm: {m: 64, n: 96, k: 384}\n    precision: " +
            bits + "    in: {A: H}\n",
        "chain.yaml");
    return energy_of(search_chain(arch, chain, limits, {})) * 1e-9;
  };
  EXPECT_NEAR(value("128 KiB", {1, 0, false}), 5.608, 5e-4);  // 2 MiB of 16 b, [mJ]
  EXPECT_NEAR(value("128 KiB", {}), 4.983, 5e-4);
  EXPECT_NEAR(value("512 KiB", {1, 0, false}), 5.592, 5e-4);
  EXPECT_NEAR(value("512 KiB", {}), 4.962, 5e-4);
}

// With capacities of steps, and with a byte less; by any objective, and within a limit.
TEST(Fusion, FindsTheOptimumOfEveryCapacity) {
  const EinsumChain chain = attention();
  const LevelId buffer{1};
  const FusionLimits limits{.most_loops = 1};
  const auto with_port = [](const std::string& capacity) {
    Arch arch = machine(capacity);
    arch.levels[LevelId{0}].bandwidth.shared = BitsPerCycle{4};
    return arch;
  };
  Objective limited = Objective::kEnergy;
  limited.max_latency = Cycles{150'000};
  for (const Objective& objective :
       {Objective::kEnergy, Objective::kLatency, Objective::kEdp, limited}) {
    SearchOptions options;
    options.objective = objective;
    const auto value = [&](const ChainResult& result) { return value_of(objective, *result.cost); };
    const ChainCurve curve =
        search_chain_curve(with_port("2 KiB"), chain, limits, options, {buffer, {}}, [](Bits) {});
    EXPECT_TRUE(curve.complete);
    ASSERT_GT(curve.steps.size(), 4U);
    EXPECT_EQ(curve.steps.back().capacity > Bits{0}, objective == limited);
    for (std::size_t i = 0; i + 1 < curve.steps.size(); i += 5) {
      EXPECT_LT(value(curve.steps[i].result), value(curve.steps[i + 1].result));
      const std::int64_t bytes = curve.steps[i].capacity.count() / 8;
      for (const std::size_t less : {0U, 1U}) {
        const std::string capacity = std::to_string(bytes - static_cast<std::int64_t>(less)) + " B";
        const ChainResult direct = search_chain(with_port(capacity), chain, limits, options);
        const double expected = value(curve.steps[i + less].result);
        EXPECT_NEAR(value(direct), expected, 1e-9 * expected) << capacity;
      }
    }
  }
}

// However short the time is, there is a tree, and a bound that says how far it may be from the
// best.
TEST(Fusion, HasATreeAndABoundWithoutTime) {
  for (const Objective& objective :
       {Objective::kEnergy, Objective::kLatency, Objective{ObjectiveFunction::weighted_sum(20)}}) {
    SearchOptions options;
    options.objective = objective;
    const Arch arch = machine("2 KiB");
    const double best = value_of(objective, *search_chain(arch, attention(), {}, options).cost);
    options.budget.seconds = 0;
    const ChainComparison hurried = compare_ways(arch, attention(), {}, options);
    for (const ChainResult* found : {&hurried.spilled, &hurried.on_chip, &hurried.fused}) {
      ASSERT_TRUE(found->cost);
      EXPECT_FALSE(found->proven || found->out_of_memory);
      EXPECT_GE(value_of(objective, *found->cost), best * (1 - 1e-9));
      EXPECT_GT(found->lower_bound, 0);
      EXPECT_LE(found->lower_bound, best * (1 + 1e-9));
    }
  }
}

// Nor is time spent on counting mappings that nobody sees: 0.2 s for each of these einsums.
TEST(Fusion, CountsNothingWithoutTime) {
  const EinsumChain wide = parse_chain(
      "name: wide\nchain:\n"
      "  - {name: a, conv2d: {in_channels: 720, out_channels: 840, input: [242, 242], kernel: [3, "
      "3]},"
      " out: t}\n"
      "  - {name: b, conv2d: {in_channels: 840, out_channels: 720, input: [240, 240], kernel: [1, "
      "1]},"
      " in: {I: t}}\n",
      "chain.yaml");
  SearchOptions options;
  options.budget.seconds = 0;
  const std::clock_t before = std::clock();
  EXPECT_TRUE(
      search_chain(load_arch(source_path("configs/arch/simba_package.yaml")), wide, {}, options)
          .cost);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kSanitized ? 3 : 0.25);
}

TEST(Fusion, StopsWithABoundWhenTimeIsOver) {
  const std::atomic<bool> stop{true};
  SearchOptions options;
  options.stop = &stop;
  const ChainResult result = search_chain(machine("2 KiB"), attention(), {}, options);
  EXPECT_FALSE(result.proven);
  EXPECT_FALSE(result.cost);
}

// Wherever it is stopped: between a state of the cuts and the first way to it, too.
TEST(Fusion, IsSoundWhereverItIsStopped) {
  const EinsumChain one = parse_chain(
      "name: one\nchain:\n  - name: a\n    gemm: {m: 96, n: 60, k: 48}\n", "chain.yaml");
  const Arch eyeriss = load_arch(source_path("configs/arch/eyeriss.yaml"));
  SearchOptions options;
  options.objective = Objective::kLatency;
  const auto least = search_chain(eyeriss, one, {}, options).cost->latency.count();
  for (int i = 0; i < 200; ++i) {
    options.budget.seconds = 1e-4 * i;
    const ChainResult found = search_chain(eyeriss, one, {}, options);
    EXPECT_LE(found.lower_bound, static_cast<double>(least));
    EXPECT_TRUE(!found.cost || found.cost->latency.count() >= least);
  }
}

// No weight of energies leads to the least latency where none is needed.
TEST(Fusion, FindsProductsWithoutEnergies) {
  const Arch free = parse_arch(
      "name: free\nclock: 1 GHz\nnodes:\n"
      "  - storage: DRAM\n    word: 8 b\n    capacity: unlimited\n"
      "    energy: {read: 0 pJ/word, write: 0 pJ/word}\n    bandwidth: {shared: 1 word/cycle}\n"
      "  - storage: Buffer\n    word: 8 b\n    capacity: 256 B\n"
      "    energy: {read: 0 pJ/word, write: 0 pJ/word}\n"
      "  - compute: MAC\n    energy: 0 pJ\n",
      "arch.yaml");
  SearchOptions options;
  options.objective = Objective::kLatency;
  const auto least = search_chain(free, attention(), {}, options).cost->latency.count();
  for (const double power : {0.5, 2.0}) {
    options.objective = Objective{ObjectiveFunction::product(0, power)};
    const ChainResult found = search_chain(free, attention(), {}, options);
    ASSERT_TRUE(found.proven && found.cost);
    EXPECT_EQ(found.cost->latency.count(), least) << power;
  }
}

// From nothing to enough: never above the least in its bound, never below it in its tree.
TEST(Fusion, BoundsWhatItClaimsWithLittleMemory) {
  const Arch arch = machine("2 KiB");
  const ChainResult best = search_chain(arch, attention(), {}, {});
  ASSERT_TRUE(best.proven);
  EXPECT_GT(best.peak_bytes, 10'000U);
  EXPECT_FALSE(best.out_of_memory);
  int stopped = 0;
  for (std::size_t bytes = 1; bytes < 4 * best.peak_bytes; bytes *= 2) {
    SearchOptions options;
    options.budget.bytes = bytes;
    const ChainResult found = search_chain(arch, attention(), {}, options);
    ASSERT_TRUE(found.cost) << bytes;
    EXPECT_LE(found.peak_bytes, bytes);
    EXPECT_GE(found.cost->energy.count(), best.cost->energy.count() * (1 - 1e-9)) << bytes;
    EXPECT_LE(found.lower_bound, best.cost->energy.count() * (1 + 1e-9)) << bytes;
    EXPECT_EQ(found.proven, !found.out_of_memory) << bytes;
    stopped += found.out_of_memory ? 1 : 0;
  }
  EXPECT_GT(stopped, 10);
}

// Whichever of its searches it was that had too little.
TEST(Fusion, SaysThatAFrontIsShortOfMemory) {
  int behind_hull = 0;
  const std::vector<std::uint64_t> seeds{2'000'001, 2'000'004, 2'000'053, 2'000'077};
  for (const std::uint64_t seed : std::span(seeds).first(tried_of(seeds.size()))) {
    const TinyChain tiny = tiny_chain(seed);
    const ChainFront whole = search_chain_front(tiny.arch, tiny.chain, {}, {});
    ASSERT_TRUE(whole.complete);
    EXPECT_FALSE(whole.out_of_memory);
    for (std::size_t bytes = whole.peak_bytes - 1; bytes > whole.peak_bytes / 2;
         bytes -= bytes / 32) {
      SearchOptions options;
      options.budget.bytes = bytes;
      const ChainFront found = search_chain_front(tiny.arch, tiny.chain, {}, options);
      EXPECT_EQ(found.complete, !found.out_of_memory) << seed << ' ' << bytes;
      EXPECT_LE(found.peak_bytes, bytes);
      const auto lines = static_cast<std::int64_t>(found.lines.size());  // none of the last search
      behind_hull += !found.complete && found.searches > lines ? 1 : 0;
    }
  }
  EXPECT_GT(behind_hull, tried_of(10));
}

// All ways together, and all steps of a curve.
TEST(Fusion, SharesABudgetAmongItsSearches) {
  const std::string configs = source_path("configs/");
  const Arch flat = load_arch(configs + "arch/teaching_flat.yaml");
  const EinsumChain block = load_chain(configs + "chains/resnet50_conv2_block.yaml");
  SearchOptions options;
  options.budget.seconds = 0.15;
  const auto cpu_seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  double before = cpu_seconds();
  const ChainComparison found = compare_ways(flat, block, {}, options);
  EXPECT_LT(cpu_seconds() - before, 0.3) << "three searches";
  EXPECT_FALSE(found.fused.proven);
  before = cpu_seconds();
  const ChainCurve curve =
      search_chain_curve(flat, block, {1, 0, true}, options, {LevelId{1}, {}}, [](Bits) {});
  EXPECT_LT(cpu_seconds() - before, 0.3) << curve.searches << " searches";
  EXPECT_FALSE(curve.complete);
}

// ... and what may be taken beyond it: ten einsums took 0.25 s of CPU.
TEST(Fusion, SharesWhatIsTakenBeyondABudget) {
  std::string text = "name: many\nchain:\n";
  for (int e = 0; e < 10; ++e) {
    text += fmt::format(
        "  - {{name: e{}, conv2d: {{in_channels: {}, out_channels: {}, input: [240, 240], kernel: "
        "[1, 1]}}{}{}}}\n",
        e, e % 2 == 0 ? 720 : 840, e % 2 == 0 ? 840 : 720,
        e > 0 ? fmt::format(", in: {{I: t{}}}", e - 1) : "",
        e < 9 ? fmt::format(", out: t{}", e) : "");
  }
  const EinsumChain many = parse_chain(text, "chain.yaml");
  const Arch arch = load_arch(source_path("configs/arch/simba_package.yaml"));
  for (const Objective& objective : {Objective::kLatency, Objective::kEdp}) {
    SearchOptions options;
    options.objective = objective;
    options.budget.seconds = 0;
    const std::clock_t before = std::clock();
    const ChainComparison found = compare_ways(arch, many, {}, options);
    EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kSanitized ? 2 : 0.2);
    ASSERT_TRUE(found.fused.cost);
    EXPECT_FALSE(found.fused.proven);
    EXPECT_LE(found.fused.lower_bound, value_of(objective, *found.fused.cost));
  }
}

TEST(Fusion, SearchesAChainOfOneEinsumOnce) {
  const std::string configs = source_path("configs/");
  const EinsumChain block = load_chain(configs + "chains/resnet50_conv2_block.yaml");
  const EinsumChain one = chain_of(block.einsums.front());
  const ChainComparison found =
      compare_ways(load_arch(configs + "arch/teaching_flat.yaml"), one, {}, {});
  EXPECT_TRUE(found.fused.proven);
  EXPECT_GT(found.spilled.seconds, 0);
  EXPECT_EQ(found.on_chip.seconds + found.fused.seconds, 0);
}

TEST(Fusion, RefusesWhatTreesCannotSay) {
  EXPECT_EQ(fusion_obstacle(machine("2 KiB")), "");
  EXPECT_EQ(fusion_obstacle(Objective::kEdp), "");
  Objective ramped = Objective::kLatency;
  ramped.mode = LatencyMode::kRamped;
  EXPECT_NE(fusion_obstacle(ramped), "");
}

}  // namespace
}  // namespace mapsim::fusion_test
