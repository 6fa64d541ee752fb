// SPDX-License-Identifier: Apache-2.0
// A search with little memory or time: its answer is a mapping, its bound a bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/deadline.hpp"
#include "mapper/front.hpp"
#include "mapper/graph/volume.hpp"
#include "mapper/histogram.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/membership.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::memory_test {
namespace {

SearchResult with_memory(const Mapspace& space, const Objective& objective, std::size_t bytes) {
  SearchOptions options;
  options.objective = objective;
  options.budget.bytes = bytes;
  return search_exact(space, options);
}

// From nothing to enough: never above the optimum in its bound, never below it in its mapping.
TEST(Memory, BoundsWhatASearchClaims) {
  int partial = 0;
  for (std::uint64_t seed = 0; seed < tried_of(150U); ++seed) {
    const SearchCase random = random_space(seed, 2'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      const SearchResult best = search_exhaustive(space, {objective});
      if (!best.cost) {
        continue;
      }
      const double optimum = objective_value(objective, *best.cost);
      for (const std::size_t bytes : {std::size_t{100}, std::size_t{4'000}, std::size_t{100'000}}) {
        const SearchResult found = with_memory(space, objective, bytes);
        ASSERT_TRUE(found.cost) << "seed " << seed;
        EXPECT_GE(objective_value(objective, *found.cost), optimum * (1 - 1e-9)) << seed;
        EXPECT_LE(found.certificate.lower_bound, optimum * (1 + 1e-9)) << seed;
        if (!found.interrupted) {
          EXPECT_LE(objective_value(objective, *found.cost), optimum * (1 + 1e-9)) << seed;
        }
        partial += found.interrupted ? 1 : 0;
        EXPECT_LE(found.statistics.peak_bytes, bytes) << seed;
      }
    }
  }
  EXPECT_GT(partial, tried_of(30));
}

// The best is within the gap, and so is the bound; of both kinds of factors and any objective.
TEST(Gap, IsKeptByTheBestAndItsBound) {
  int open = 0;
  for (std::uint64_t seed = 0; seed < tried_of(40U); ++seed) {
    const SearchCase random =
        seed % 2 == 0 ? random_space(seed, 2'000) : random_imperfect_space(seed, 2'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      const SearchResult best = search_exact(space, {objective});
      if (!best.cost) {
        continue;
      }
      const double optimum = objective_value(objective, *best.cost);
      for (const double gap : {0.01, 0.2, 0.9}) {
        SearchOptions options;
        options.objective = objective;
        options.budget.gap = gap;
        const SearchResult found = search_exact(space, options);
        ASSERT_TRUE(found.cost) << seed;
        const double value = objective_value(objective, *found.cost);
        const Certificate& proof = found.certificate;
        EXPECT_FALSE(found.interrupted) << seed;
        EXPECT_GE(value, optimum * (1 - 1e-9)) << seed;
        EXPECT_LE(proof.lower_bound, optimum * (1 + 1e-9)) << seed;
        EXPECT_GE(proof.lower_bound * (1 + gap), value * (1 - 1e-9)) << seed;
        EXPECT_NEAR(proof.gap, value / proof.lower_bound - 1, 1e-9) << seed;
        EXPECT_EQ(proof.status == Proof::kOptimal, proof.gap == 0) << seed;
        open += proof.gap > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(open, tried_of(25));
}

// Six levels, two fanouts and seven dims with many divisors: 48 million unrollings, and tables of
// the first one that would take 40 GB.
const Problem& large() {
  static const Problem problem{
      parse_arch("name: six\n"
                 "clock: 1 GHz\n"
                 "nodes:\n"
                 "  - {storage: L0, word: 8 b, capacity: unlimited, energy: {read: 100 pJ/word, "
                 "write: 100 pJ/word}}\n"
                 "  - {storage: L1, word: 8 b, capacity: 8 MiB, energy: {read: 20 pJ/word, write: "
                 "21 pJ/word}}\n"
                 "  - {storage: L2, word: 8 b, capacity: 512 KiB, energy: {read: 10 pJ/word, "
                 "write: 11 pJ/word}}\n"
                 "  - {fanout: A, x: 12, y: 14, multicast: true, spatial_reduction: true}\n"
                 "  - {storage: L3, word: 8 b, capacity: 16 KiB, energy: {read: 3 pJ/word, write: "
                 "3.5 pJ/word}}\n"
                 "  - {fanout: B, x: 8, y: 8, multicast: true, spatial_reduction: true}\n"
                 "  - {storage: L4, word: 8 b, capacity: 512 B, energy: {read: 1 pJ/word, write: "
                 "1.2 pJ/word}}\n"
                 "  - {storage: L5, word: 8 b, capacity: 24 B, energy: {read: 0.2 pJ/word, write: "
                 "0.3 pJ/word}}\n"
                 "  - {compute: MAC, energy: 1 pJ}\n",
                 "six.yaml"),
      parse_workload("name: seven\n"
                     "einsum:\n"
                     "  equation: O[n][k][p][q] += I[n][c][p+r][q+s] * W[k][c][r][s]\n"
                     "  dims: {n: 5040, k: 5040, c: 5040, p: 720, q: 12, r: 2, s: 4}\n"
                     "precision: {I: 8 b, W: 8 b, O: 32 b}\n",
                     "seven.yaml")};
  return problem;
}

TEST(Memory, IsNotExceededByLargeSpaces) {
  SearchOptions options;
  options.budget.bytes = 64 << 20;
  options.budget.seconds = 0.02;
  const SearchResult found = search_exact(Mapspace{large(), {}}, options);
  ASSERT_TRUE(found.cost);
  EXPECT_TRUE(found.interrupted);
  EXPECT_EQ(found.certificate.status, Proof::kBounded);
  EXPECT_LE(found.certificate.lower_bound, found.cost->energy.total.count());
  EXPECT_LE(found.statistics.peak_bytes, options.budget.bytes);
}

// More unrollings than can be listed: the best mapping of perfect factors, without a bound.
TEST(Memory, IsNotExceededByImperfectFactors) {
  Constraints constraints;
  constraints.factors.imperfect = true;
  SearchOptions options;
  options.budget.bytes = 64 << 20;
  options.budget.seconds = 0.02;
  const SearchResult found = search_exact(Mapspace{large(), constraints}, options);
  ASSERT_TRUE(found.cost);
  EXPECT_TRUE(found.interrupted);
  EXPECT_EQ(found.certificate.status, Proof::kBounded);
  EXPECT_GT(found.certificate.lower_bound, 0);
  EXPECT_EQ(found.certificate.mapspace_size, "");
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The search of a front, and the count of its space: without a budget they would take hours. What
// is done before anything can be left out takes a second of this machine and these dims.
TEST(Time, BoundsFrontsAndCurves) {
  SearchOptions options;
  options.budget.bytes = 64 << 20;
  options.budget.seconds = 0.05;
  const Mapspace space{large(), {}};
  const CurveCapacity capacity{LevelId{1}, {}};
  for (const bool is_curve : {false, true}) {
    const double before = cpu_seconds();
    const Front front =
        is_curve ? search_curve(space, options, capacity) : search_front(space, options);
    EXPECT_LT(cpu_seconds() - before, 5);
    EXPECT_FALSE(front.complete);
    EXPECT_EQ(front.mapspace_size, "");
  }
}

// Whatever is counted: it takes seconds to the end.
TEST(Time, BoundsCounting) {
  Constraints imperfect;
  imperfect.factors.imperfect = true;
  const Problem gemm{load_arch(source_path("configs/arch/teaching.yaml")),
                     mapsim::gemm("g", {2'520, 2'520, 2'520, {}, false}, {})};
  for (const Mapspace& space : {Mapspace{large(), {}}, Mapspace{gemm, imperfect}}) {
    const double before = cpu_seconds();
    const auto size = mapspace_size_unless(space, [&] { return cpu_seconds() - before > 0.05; });
    EXPECT_LT(cpu_seconds() - before, 0.25);
    EXPECT_FALSE(size) << *size;
  }
}

// 48 million unrollings would take 30 GB as a list.
TEST(Memory, IsNotSpentOnListsOfUnrollings) {
  const Mapspace space{large(), {}};
  EXPECT_FALSE(space.is_listable());
  SearchOptions options;
  for (const char* strategy : {"random", "annealing", "genetic", "exhaustive"}) {
    EXPECT_THROW((*find_mapper(strategy))(space, options), UnsupportedSearch) << strategy;
  }
  EXPECT_THROW(make_histogram(space, {}), UnsupportedSearch);
  Constraints ruled;
  ruled.one_loop_per_dim = true;
  EXPECT_FALSE(mapspace_size_unless(Mapspace{large(), ruled}, [] { return false; }));
}

Arch two_levels(const std::string& capacity) {
  return parse_arch(
      "name: two\nclock: 1 GHz\nnodes:\n"
      "  - {storage: L0, word: 8 b, capacity: unlimited, bandwidth: {shared: 1 B/cycle}, "
      "energy: {read: 9 pJ/word, write: 9 pJ/word}}\n"
      "  - {storage: L1, word: 8 b, capacity: " +
          capacity +
          ", energy: {read: 2 pJ/word, write: 2 pJ/word}}\n"
          "  - {compute: MAC, energy: 1 pJ}\n",
      "two.yaml");
}

// An array of 256 x 256 whose axes take any dims.
Problem on_large_array(const std::string& layer) {
  Arch arch = load_arch(source_path("configs/arch/systolic_32x32.yaml"));
  Fanout& array = arch.fanouts[FanoutId{0}];
  array.x = array.y = 256;
  array.x_dims = array.y_dims = {};
  return Problem{std::move(arch), parse_workload(layer, "layer.yaml")};
}

std::int64_t peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1'024;
}

// 26 million ways to give dims to the axes, 10 GB as a list; with remainders there are more.
TEST(Memory, IsNotSpentOnWaysToFillAnArray) {
  const Problem problem = on_large_array(
      "name: seven\nconv2d: {batch: 32, in_channels: 240, out_channels: 360, input: [56, 56], "
      "kernel: [3, 3], padding: 1}\nprecision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 "
      "b}\n");
  SearchOptions options;
  options.partial_folds = true;
  options.budget.seconds = 0.05;
  for (const Objective& objective : {Objective::kLatency, Objective::kEnergy}) {
    options.objective = objective;
    const std::int64_t peak = peak_mebibytes();
    const double before = cpu_seconds();
    const SearchResult found = search_exact(Mapspace{problem, {}}, options);
    EXPECT_LT(cpu_seconds() - before, kSanitized ? 60 : 6);
    EXPECT_LT(peak_mebibytes() - peak, kSanitized ? 900 : 300);
    ASSERT_TRUE(found.cost);
    EXPECT_LE(found.certificate.lower_bound, objective_value(objective, *found.cost));
  }
}

// Tables of gigabytes would be filled before anybody asks for the time: 4 to 10 s.
TEST(Time, IsNotSpentOnLargeTables) {
  const Problem imperfect{load_arch(source_path("configs/arch/simba_package.yaml")),
                          gemm("g", {1'000'000, 1'000'000, 1'000, {}, false}, {})};
  const Problem eight{
      load_arch(source_path("configs/arch/eyeriss.yaml")),
      parse_workload("name: eight\neinsum:\n"
                     "  equation: O[a][b][c][d] += A[a][e][f][g] * B[b][e][f][h][c][d]\n"
                     "  dims: {a: 720, b: 5040, c: 24, d: 60, e: 60, f: 8, g: 12, h: 12}\n"
                     "precision: {A: 8 b, B: 8 b, O: 8 b}\n",
                     "eight.yaml")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  SearchOptions options;
  options.budget.bytes = std::size_t{12} << 30U;
  const std::int64_t peak = peak_mebibytes();
  for (const Mapspace& space : {Mapspace{imperfect, constraints}, Mapspace{eight, {}}}) {
    options.objective = space.problem().workload().dims.size() == 3 ? Objective::kEdp : Objective{};
    options.budget.seconds = 0.05;
    const double before = cpu_seconds();
    const SearchResult found = search_exact(space, options);
    EXPECT_LT(cpu_seconds() - before, kSanitized ? 15 : 1.5);
    EXPECT_TRUE(found.cost);
  }
  EXPECT_LT(peak_mebibytes() - peak, kSanitized ? 900 : 300);
}

TEST(Time, IsAskedForBeforeEachPieceOfATable) {
  std::vector<double> table{1};
  int asked = 0;
  fill_in_pieces(table, 10'000'000, 2.0, [&] { ++asked; });
  EXPECT_THAT(asked, testing::AllOf(testing::Gt(10), testing::Lt(100)));
  EXPECT_EQ(table.size(), 10'000'000);
  EXPECT_EQ(std::accumulate(table.begin(), table.end(), 0.0), 19'999'999);
  SearchOptions options;
  options.budget.seconds = 0;
  options.budget.bytes = 1'000'000;
  const Deadline over{options};
  HeldMemory held{&over};
  std::vector<double> none;
  EXPECT_THROW(held.fill(none, 1'000, 0.0), OutOfBudget);
  EXPECT_THAT(none, testing::IsEmpty());
  options.budget.seconds = std::numeric_limits<double>::infinity();
  const Deadline small{options};
  HeldMemory little{&small};
  EXPECT_THROW(little.fill(none, 1'000'000, 0.0), OutOfBudget);
  little.fill(none, 1'000, 0.0);
  EXPECT_EQ(small.peak_bytes(), 8'000);
}

// Where a mapping fits, it is found whatever the time: also where the unrolling is given and
// divides no bound, and where the best unrollings have none.
TEST(Time, IsNotNeededForAnAnswer) {
  const std::string configs = source_path("configs/");
  SearchOptions options;
  options.budget.seconds = 0;
  const Problem conv1{load_arch(configs + "arch/eyeriss.yaml"),
                      load_workload(configs + "workloads/alexnet/conv1.yaml")};
  const Problem primes{load_arch(configs + "arch/nvdla_like_1024.yaml"),
                       gemm("g", {997, 1'009, 1'013, {}, false}, {})};
  for (const auto& [problem, file] : {std::pair{&conv1, "constraints/eyeriss_3x3.yaml"},
                                      std::pair{&primes, "constraints/nvdla_fc1000.yaml"}}) {
    const Constraints constraints =
        load_constraints(configs + file, *problem, nullptr, /*imperfect=*/true);
    EXPECT_TRUE(search_exact(Mapspace{*problem, constraints}, options).cost) << file;
  }
  const Problem rich = on_large_array("name: g\ngemm: {m: 55440, n: 55440, k: 55440}\n");
  for (const Objective& objective : {Objective::kLatency, Objective::kEnergy, Objective::kEdp}) {
    options.objective = objective;
    EXPECT_TRUE(search_exact(Mapspace{rich, {}}, options).cost);
  }
}

// A budget that others exceeded leaves no time to search: the answer is one loop per dim.
TEST(Time, IsNotTakenOnceOthersTookWhatMayBeBeyondABudget) {
  SearchOptions options{Objective::kEdp};
  options.budget.seconds = -0.2;
  int found = 0;
  for (std::uint64_t seed = 0; seed < tried_of(100U); ++seed) {
    const SearchCase random = random_space(seed, 2'000);
    const Mapspace space{random.problem, random.constraints};
    const SearchResult best = search_exhaustive(space, {Objective::kEdp});
    const SearchResult hasty = search_exact(space, options);
    EXPECT_EQ(hasty.statistics.labels, 0);
    if (hasty.cost) {
      ++found;
      EXPECT_EQ(why_outside_of(space, *hasty.best), "") << seed;
      const double optimum = objective_value(Objective::kEdp, *best.cost) * (1 - 1e-9);
      EXPECT_GE(objective_value(Objective::kEdp, *hasty.cost), optimum) << seed;
      EXPECT_LE(hasty.certificate.lower_bound * (1 - 2e-9), optimum) << seed;
    }
  }
  EXPECT_GT(found, tried_of(10));
}

// Where a mapping is known when time is over, no class of unrollings is sought any more: on an
// array of three fanouts that took a second.
TEST(Time, IsNotSpentOnFindingAClassInVain) {
  const Problem problem{load_arch(source_path("configs/arch/tpu_pod_like.yaml")),
                        gemm("g", {997, 1'009, 1'013, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  SearchOptions options;
  options.objective = Objective::kEdp;
  options.budget.seconds = 0;
  const SearchResult found = search_exact(Mapspace{problem, constraints}, options);
  EXPECT_TRUE(found.cost);
  EXPECT_TRUE(found.classes.empty());
  EXPECT_GT(found.certificate.lower_bound, 0);
  EXPECT_EQ(found.certificate.status, Proof::kBounded);
}

// One dim of 4,000 extents, whose splits among the stages are millions of large numbers.
TEST(Time, BoundsCountingOfManyExtents) {
  const Problem problem{load_arch(source_path("configs/arch/tpu_pod_like.yaml")),
                        gemm("g", {4'000'000, 4, 4, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const double before = cpu_seconds();
  EXPECT_FALSE(mapspace_size_unless(space, [&] { return cpu_seconds() - before > 0.5; }));
  EXPECT_LT(cpu_seconds() - before, kSanitized ? 10 : 1);
}

// Nor on listing unrollings, nearly all of which a rule refuses, nor on looking for one that it
// does not: both took minutes.
TEST(Time, IsNotSpentOnRulesThatAreHardToMeet) {
  const Problem problem{
      load_arch(source_path("configs/arch/tpu_pod_like.yaml")),
      parse_workload("name: conv\nconv2d: {in_channels: 131, out_channels: 139, input: [127, 113],"
                     " kernel: [3, 3], stride: 2, batch: 13}\n",
                     "conv.yaml")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  constraints.unroll.emplace_back().fanout = FanoutId{2};
  constraints.unroll.back().min_utilization = 0.97;
  SearchOptions options;
  options.objective = Objective::kEdp;
  options.budget.seconds = 0;
  const double before = cpu_seconds();
  const SearchResult found = search_exact(Mapspace{problem, constraints}, options);
  EXPECT_LT(cpu_seconds() - before, kSanitized ? 15 : 1.5);
  EXPECT_TRUE(found.interrupted);
}

// So many levels that are alike, and two fanouts: a row of a bound for each way to keep the
// tensors, and some 2^levels ways to keep a window at several levels in turn. Once time is over no
// more is done than an answer takes.
TEST(Time, IsHeededOnMachinesOfManyLevels) {
  const Workload conv = parse_workload(
      "name: conv\nconv2d: {in_channels: 240, out_channels: 240, input: [56, 56], kernel: [3, 3], "
      "padding: 1}\n",
      "conv.yaml");
  for (const int levels : {9, 12, 16}) {
    std::string text = "name: deep\nclock: 1 GHz\nnodes:\n";
    for (int l = 0; l < levels; ++l) {
      text += "  - {storage: L" + std::to_string(l) +
              ", word: 8 b, capacity: " + (l == 0 ? "unlimited" : "64 KiB") +
              ", bandwidth: {shared: 16 B/cycle}, energy: {read: 2 pJ/word, write: 2 pJ/word}}\n";
      if (l == levels / 2 || l == levels - 2) {
        text += "  - {fanout: F" + std::to_string(l) +
                ", x: 8, y: 8, multicast: true, spatial_reduction: true}\n";
      }
    }
    const Problem problem{parse_arch(text + "  - {compute: MAC, energy: 1 pJ}\n", "deep.yaml"),
                          conv};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      options.budget.seconds = 0.02;
      const double before = cpu_seconds();
      const SearchResult found = search_exact(Mapspace{problem, {}}, options);
      const double most = levels == 16 ? 15 : 4;  // formerly 15 and more on 12, out of memory on 16
      EXPECT_LT(cpu_seconds() - before, kSanitized ? 10 * most : most) << levels;
      ASSERT_TRUE(found.cost);
      EXPECT_LE(found.certificate.lower_bound, objective_value(objective, *found.cost));
    }
  }
}

// Some million states would take a minute to count: a search of milliseconds goes without.
TEST(Memory, AndTimeAreNotSpentOnCountingUnderRules) {
  const Problem problem{two_levels("1 MiB"), gemm("gemm", {27'720, 27'720, 27'720, {}, false})};
  Constraints constraints;
  constraints.one_loop_per_dim = true;
  const Mapspace space{problem, constraints};
  const SearchResult result = search_exact(space, {});
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.certificate.mapspace_size, "");
}

// Only memory can stop these searches, so one that is stopped says that it ran out of it: whether
// the search of least energy or the one that breaks its ties.
TEST(Memory, IsCountedWhereTiesAreBroken) {
  int stopped = 0;
  for (std::uint64_t seed = 0; seed < tried_of(150U); ++seed) {
    const SearchCase random = random_space(seed, 2'000);
    const Mapspace space{random.problem, random.constraints};
    Objective objective = Objective::kEnergy;
    objective.exact_ties = true;
    for (std::size_t bytes = 1'000; bytes < 100'000; bytes *= 2) {
      const SearchResult found = with_memory(space, objective, bytes);
      if (found.interrupted) {
        EXPECT_GT(found.statistics.out_of_memory, 0) << seed << ' ' << bytes;
        ++stopped;
      }
    }
  }
  EXPECT_GT(stopped, tried_of(30));
}

// A space of one class: the search for the fastest mapping runs out of memory, then that of the
// front.
TEST(Memory, IsCountedInBothSearchesOfAFront) {
  const Problem problem{two_levels("64 B"), gemm("g", {32, 32, 32, {}, false})};
  const Mapspace space{problem, {}};
  ASSERT_EQ(space.class_count(), 1);
  SearchOptions options;
  options.budget.bytes = 100;
  EXPECT_EQ(search_front(space, options).statistics.out_of_memory, 2);
}

// A part of the tiles is a lattice of its own: the whole tile, tiles of ones, divisors between.
TEST(Memory, PartsOfTheTilesAreFewAndHaveTheEnds) {
  const Mapspace space{large(), {}};
  const UnrollingClass unrolled = space.classes().unrolling_class({});
  std::size_t before = 0;
  for (const std::size_t most : {2'000, 30'000, 200'000}) {
    const exact::Unrolled part(large(), unrolled, {}, most);
    for (const exact::DivisorLattice& lattice : part.lattices) {
      EXPECT_LE(lattice.size(), most);
      EXPECT_GT(lattice.size(), before);
      EXPECT_FALSE(lattice.ones().empty());
      for (const DimId d : large().workload().dims.ids()) {
        EXPECT_EQ(lattice.positions(d).back().extent, lattice.bound(d));
        EXPECT_EQ(lattice.positions(d).front().extent, 1);
      }
    }
    before = part.lattices.front().size();
  }
}

}  // namespace
}  // namespace mapsim::memory_test
