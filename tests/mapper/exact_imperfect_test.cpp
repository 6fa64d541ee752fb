// SPDX-License-Identifier: Apache-2.0
// The exact mapper on spaces with imperfect factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/reference/simulate.hpp"
#include "exact_check.hpp"
#include "front_check.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/tile_counts.hpp"
#include "mapper/label_search/history_search.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::exact_imperfect_test {
namespace {

bool is_perfect(const Workload& workload, const Mapping& mapping) {
  return make_nest(workload, mapping).perfect;
}

constexpr std::uint64_t kShards = 8;
const std::uint64_t kSpacesPerShard = tried_of(100U);
const std::uint64_t kRuledSpacesPerShard = tried_of(25U);
constexpr std::int64_t kMaxSize = 3'000;

class ExactOnImperfectSpaces : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnImperfectSpaces, testing::Range<std::uint64_t>(0, kShards));

TEST_P(ExactOnImperfectSpaces, FindsTheOptimumOfEveryObjectiveAndProvesIt) {
  for (std::uint64_t i = 0; i < kSpacesPerShard; ++i) {
    const std::uint64_t seed = 40'004 + 1'000 * GetParam() + i;
    const bool all = i % 4 == 0;  // ramped latency keeps labels apart: in small spaces only
    EXPECT_EQ(exact_mismatch(random_imperfect_space(seed, all ? kMaxSize / 10 : kMaxSize), all), "")
        << "seed " << seed;
  }
}

TEST_P(ExactOnImperfectSpaces, FindsTheOptimumUnderRules) {
  for (std::uint64_t i = 0; i < kRuledSpacesPerShard; ++i) {
    const std::uint64_t seed = 70'000 + 1'000 * GetParam() + i;
    const bool all = i % 4 == 0;
    EXPECT_EQ(
        exact_mismatch(random_ruled_imperfect_space(seed, all ? kMaxSize / 10 : kMaxSize), all), "")
        << "seed " << seed;
  }
}

// The optimum is counted by walking it, too.
TEST(ImperfectOptima, CostWhatTheSimulatorCounts) {
  int imperfect = 0;
  for (std::uint64_t seed = 60'000; seed < 60'120; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 3'000);
    const SearchResult result = search_exact(Mapspace{random.problem, random.constraints}, {});
    if (result.best) {
      const PerTensor<DenseTensor> operands = random_operands(random.problem.workload(), seed);
      EXPECT_EQ(simulate(random.problem, *result.best, operands, 1'000'000).counts,
                result.cost->counts)
          << "seed " << seed;
      imperfect += is_perfect(random.problem.workload(), *result.best) ? 0 : 1;
    }
  }
  EXPECT_GT(imperfect, 10);
}

// Of 13, loops to 7, 4 and 3 make 4 tiles of 4 and 6 of 3; without the 7, at which nothing need
// stand, they make 7 of 3, and no smaller tiles in place of the 4 and the 3 are as few. So it is in
// the mapping that needs the least energy.
TEST(ImperfectOptima, MayHaveAnExtentAtWhichNothingStands) {
  const char* const arch = R"(name: g
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 4 pJ/b, write: 1 pJ/b}}
  - storage: L1
    capacity: {input: 4 B, weight: 2 B}
    keep: [input, weight]
    bypass: [output]
    energy: {read: 2 pJ/b, write: 16 pJ/b}
  - storage: L2
    capacity: {input: 3 B, weight: 1 B}
    keep: [input, weight]
    bypass: [output]
    energy: {read: 1 pJ/b, write: 2 pJ/b}
  - {compute: MAC, energy: 1 pJ, register_reuse: [output]}
)";
  const char* const layer = R"(name: w
einsum:
  equation: Z[H][M][N] += A[H][M] * B[H][N]
  dims: {H: 2, M: 13, N: 4}
  roles: {A: input, B: weight}
precision: {A: 8 b, B: 8 b, Z: 8 b, partial: 8 b}
)";
  const Problem problem{parse_arch(arch, "arch"), parse_workload(layer, "layer")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const SearchResult result = search_exact(Mapspace{problem, constraints}, {});
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.cost->energy.total.count(), 15'080);  // of 762,300 mappings, each looked at
}

// Two machines with two fanouts, found by chance.
Problem behind_two_fanouts(const char* levels, const char* dims, const char* widths) {
  return {parse_arch(std::string{"name: g\nnodes:\n"} + levels, "arch"),
          parse_workload(std::string{"name: w\neinsum:\n"
                                     "  equation: Z[M][N] += A[M][K] * B[K][N]\n"
                                     "  roles: {A: input, B: weight}\n  dims: "} +
                             dims + "\nprecision: " + widths + "\n",
                         "layer")};
}

// Of M: 11, N: 2 and K: 3, N is spread over one fanout and M over the other.
SearchCase spread_over_two(const std::string& outer, const std::string& inner) {
  const std::string levels = "  - {storage: L0, capacity: unlimited" + outer +
                             ", energy: {read: 48 pJ/b, write: 16 pJ/b, update: 16 pJ/b}}\n"
                             "  - {storage: L1, capacity: 128 b" +
                             inner +
                             ", energy: {read: 2 pJ/b, write: 6 pJ/b, update: 6 pJ/b}}\n"
                             R"(  - {fanout: F0, x: 3, y: 1, multicast: false, forwarding: false}
  - {fanout: F1, x: 3, y: 2, multicast: false, spatial_reduction: false, energy_per_hop: 0.0625 pJ/b}
  - {compute: MAC, energy: 1 pJ, register_reuse: [weight, output]}
)";
  SearchCase at{behind_two_fanouts(levels.c_str(), "{M: 11, N: 2, K: 3}",
                                   "{A: 8 b, B: 8 b, Z: 8 b, partial: 32 b}"),
                {}};
  const Workload& workload = at.problem.workload();
  at.constraints.factors.imperfect = true;
  at.constraints.spatial = {{*workload.find_dim("N"), FanoutId{0}, Axis::kX, 2},
                            {*workload.find_dim("M"), FanoutId{1}, Axis::kX, 3}};
  return at;
}

// A keep that loops to 4 and to 3 do not move has to stand between them, where it costs what it
// does above both: `for M: 4, keep L1: B, for M: 3, for K: 1, keep L1: A`. Fewer instances work on
// the last tiles, which saves hops.
TEST(ImperfectOptima, MayNeedAKeepBetweenTwoLoopsOverOneDim) {
  const SearchCase at = spread_over_two("", "");
  const SearchResult result = search_exact(Mapspace{at.problem, at.constraints}, {});
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.cost->energy.total.count(), 21'943.5);  // of 11,306 mappings, each looked at
}

// The same where rules let the two loops and the keep between them be.
TEST(ImperfectOptima, MayNeedAKeepBetweenTwoLoopsUnderRules) {
  const SearchCase at = spread_over_two("", "");
  const Workload& workload = at.problem.workload();
  const DimId m = *workload.find_dim("M");
  const DimId k = *workload.find_dim("K");
  const TensorId a{0};
  Constraints ordered = at.constraints;
  ordered.loops.push_back({std::nullopt, FanoutId{0}, true, {DimSet{m}, DimSet{k}}, {}, {}});
  Constraints measured = at.constraints;
  measured.extents.push_back({LevelId{1}, a, k, {{1}}});
  Constraints both = ordered;
  both.extents.push_back({LevelId{1}, a, m, {{3}}});
  for (const Constraints& constraints : {ordered, measured, both}) {
    const Mapspace space{at.problem, constraints};
    const SearchResult result = search_exact(space, {});
    ASSERT_TRUE(result.cost.has_value());
    EXPECT_EQ(result.certificate.status, Proof::kOptimal);
    EXPECT_EQ(result.cost->energy.total, search_exhaustive(space, {}).cost->energy.total);
    EXPECT_EQ(result.cost->energy.total.count(), 21'943.5);
  }
  Constraints even = at.constraints;
  even.even = true;
  EXPECT_EQ(exact_mismatch({at.problem, even}), "");
}

// It may be as fast as the best without such an extent, and need less energy.
TEST(ImperfectOptima, AreTheBestOfEquallyFastOnes) {
  const SearchCase at =
      spread_over_two(", bandwidth: {shared: 2 b/cycle}", ", bandwidth: {read: 12 b/cycle}");
  EXPECT_EQ(exact_mismatch(at), "");
}

// Two fanouts over one dim: a tile of 10 keeps 2 x 2 instances busy, but pieces of 3 only three,
// though loops over N above a fanout do not move A.
TEST(ImperfectOptima, MayLeaveInstancesOfTheSecondFanoutIdle) {
  const Problem problem = behind_two_fanouts(
      R"(  - {storage: L0, capacity: unlimited, bandwidth: {read: 12 b/cycle}, energy: {read: 32 pJ/b, write: 32 pJ/b, update: 32 pJ/b}}
  - {storage: L1, capacity: 384 b, bandwidth: {shared: 64 b/cycle, link: 8 b/cycle}, energy: {read: 4 pJ/b, write: 4 pJ/b, update: 2 pJ/b}, keep: [input], bypass: [output]}
  - {fanout: F0, x: 3, y: 1, multicast: false, spatial_reduction: true, reduction_energy: 2 pJ}
  - {fanout: F1, x: 2, y: 1, multicast: [input], spatial_reduction: true, reduction_energy: 0 pJ}
  - {storage: L2, capacity: 1024 b, bandwidth: {read: 32 b/cycle, write: 12 b/cycle}, energy: {read: 0.75 pJ/b, write: 0.25 pJ/b, update: 0.75 pJ/b}, double_buffered: true, sliding: false, bypass: [output]}
  - {compute: MAC, energy: 1 pJ, issue_interval: 2}
)",
      "{M: 3, N: 10, K: 2}", "{A: 16 b, B: 4 b, Z: 16 b, partial: 16 b}");
  Constraints constraints;
  constraints.factors.imperfect = true;
  constraints.spatial = {{*problem.workload().find_dim("N"), FanoutId{0}, Axis::kX, 2},
                         {*problem.workload().find_dim("N"), FanoutId{1}, Axis::kX, 2}};
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult result = search_exact(Mapspace{problem, constraints}, options);
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.cost->latency.steady.count(), 55);
  EXPECT_EQ(result.cost->energy.total.count(), 53'916);  // of 133,386 mappings, each looked at
}

// Whoever residences a search does not wait for the size of a space of 27,207 unrollings.
TEST(ImperfectOptima, AreNotCountedWhenStopped) {
  const std::string root{kSource};
  const Problem problem{load_arch(root + "/configs/arch/eyeriss.yaml"),
                        load_workload(root + "/configs/workloads/resnet50/conv4_1x1a.yaml")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const std::atomic<bool> stop = true;
  SearchOptions options;
  options.stop = &stop;
  const SearchResult result = search_exact(space, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.mapspace_size, "");
}

// A rule wants tiles of 2 or 4 of 5 in the inner one of two levels that keep a tensor. The outer
// keep cannot go below the loop that cuts these any more than the inner one can.
TEST(ImperfectOptima, MayBeKeptTwiceAtATileThatARuleGives) {
  EXPECT_EQ(exact_mismatch(random_ruled_imperfect_space(8'500'079, 20'000), false), "");
}

// 40,320 mappings, most as fast as each other: what labels do not count of ramped latency keeps
// them apart, so that there are more of them. All are looked at after 6,040 labels.
SearchCase of_few_mappings() {
  const char* const arch = R"(name: a
nodes:
  - storage: L0
    capacity: unlimited
    energy: {read: 209.26 pJ/B, write: 110.47 pJ/B}
  - storage: L1
    capacity: 80 B
    bandwidth: {shared: 2 B/cycle}
    energy: {read: 20.94 pJ/B, write: 17.39 pJ/B}
    double_buffered: true
  - {storage: L2, capacity: 200 B, energy: {read: 2.37 pJ/B, write: 1.32 pJ/B}, keep: [input]}
  - {compute: MAC, energy: 1 pJ, issue_interval: 2}
)";
  const char* const layer = R"(name: w
einsum: {equation: "O[k][p] += I[c][1*p+2*r] * W[k][c][r]", dims: {k: 1, p: 4, c: 3, r: 4}}
precision: {input: 8 b, weight: 4 b, output: 8 b, partial: 24 b}
)";
  SearchCase at{{parse_arch(arch, "arch"), parse_workload(layer, "layer")}, {}};
  at.constraints = parse_constraints(
      "mapspace: {tiling: even, keep: {L1: [O]}, factors: imperfect}\n", "space", at.problem);
  return at;
}

TEST(FewMappings, AreLookedAtWhereLabelsLeaveThemOpen) {
  const SearchCase at = of_few_mappings();
  const Mapspace space{at.problem, at.constraints};
  SearchOptions options;
  options.objective = {Objective::kLatency.function, false, LatencyMode::kRamped};
  const SearchResult result = search_exact(space, options);
  ASSERT_TRUE(result.cost.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kOptimal);
  EXPECT_EQ(result.cost->latency.ramped, Cycles{98});
  EXPECT_EQ(result.certificate.lower_bound, 98);
  EXPECT_EQ(result.certificate.mapspace_size, "40320");
  EXPECT_EQ(result.classes.size(), 1U);
  EXPECT_GT(result.statistics.evaluations, 40'320);
  options.threads = 2;
  EXPECT_EQ(result_difference(search_exact(space, options), result), "");
  // Not where fewer labels were asked for, nor where labels suffice.
  options.budget.labels = 1'000;
  EXPECT_TRUE(search_exact(space, options).interrupted);
  EXPECT_LT(search_exact(space, {}).statistics.evaluations, 100);
}

TEST(FewMappings, AreLookedAtForFronts) {
  EXPECT_EQ(front_mismatch(of_few_mappings(), LatencyMode::kRamped), "");
}

TEST(FewMappings, SayWhatALimitWouldHaveToBe) {
  const SearchCase at = of_few_mappings();
  SearchOptions options;
  options.objective.mode = LatencyMode::kRamped;
  options.objective.max_latency = Cycles{97};
  const SearchResult result = search_exact(Mapspace{at.problem, at.constraints}, options);
  EXPECT_EQ(result.certificate.status, Proof::kInfeasible);
  EXPECT_EQ(result.infeasible.smallest_need.at("latency limit"), 98);
}

// Whatever the tiles, the last of which are partial, and however many instances idle.
// Also when nobody waits for them.
TEST(ImperfectFloors, AreNoMoreThanAnyMappingOfTheirGroupCosts) {
  const std::atomic<bool> stop{true};
  SearchOptions hasty;
  hasty.stop = &stop;
  const Deadline none{hasty};
  int classes_met = 0;
  int near = 0;
  for (std::uint64_t seed = 50'000; seed < 50'040; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 1'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      const exact::UnrollingTasks classes{space, objective};
      const exact::UnrollingTasks at_once{space, objective, &none};
      std::vector<double> best(classes.size(), exact::kInfinity);
      space.enumerate([&](const Mapping& mapping) {
        const Evaluation evaluation = evaluate(random.problem, mapping);
        if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
          const auto used = used_instances(random.problem, mapping);
          for (std::size_t g = 0; g < classes.size(); ++g) {
            if (space.unrolling_classes()[g].factors == used) {
              best[g] = std::min(best[g], objective_value(objective, *cost));
            }
          }
        }
        return true;
      });
      for (std::size_t g = 0; g < classes.size(); ++g) {
        const double bound = classes.bound(g).first;
        EXPECT_LE(bound, best[g] * (1 + kRounding)) << "seed " << seed << " group " << g;
        EXPECT_LE(at_once.bound(g).first, best[g] * (1 + kRounding)) << "seed " << seed;
        EXPECT_GT(at_once.bound(g).first, 0);
        classes_met += best[g] < exact::kInfinity ? 1 : 0;
        near += best[g] < exact::kInfinity && bound >= 0.9 * best[g] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(classes_met, 100);
  EXPECT_GT(near, classes_met / 2);  // additions and copies are charged
}

// On a coarse lattice the relaxation says no more than on the fine one, and something; where rooms
// are shared, as much or more.
TEST(CoarseBounds, AreBoundsOfEveryUnrolling) {
  int useful = 0;
  int sharing = 0;
  for (std::uint64_t seed = 60'000; seed < 60'120; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 100'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      const exact::UnrollingTasks classes{space, objective};
      for (std::size_t g = 0; g < classes.size(); ++g) {
        const UnrollingClass& unrollings = space.unrolling_classes()[g];
        const Deadline none{SearchOptions{}};
        const auto bound = [&](std::size_t most) {
          return imperfect::coarse_bound(classes.graph(g), unrollings, objective, most, none).first;
        };
        const double fine = bound(imperfect::ExtentLattice::kAll);
        for (const std::size_t most : {1, 20, 60}) {
          const double coarse = bound(most);
          EXPECT_LE(coarse, fine * (1 + kRounding)) << "seed " << seed << " group " << g;
          useful += coarse > classes.bound(g).first && coarse < fine ? 1 : 0;
        }
        const auto chainless = [&](imperfect::History history) {
          return imperfect::HistorySearch(classes.graph(g), unrollings, objective, {}, none)
              .bound_without_chains(history)
              .first;
        };
        const double shared = chainless(imperfect::History::kNone);
        EXPECT_GE(chainless(imperfect::History::kTileCounts), shared * (1 - kRounding))
            << "seed " << seed << " group " << g;
        EXPECT_GE(shared, fine * (1 - kRounding)) << "seed " << seed << " group " << g;
        sharing += shared > fine * (1 + kRounding) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(useful, 100);
  EXPECT_GT(sharing, 30);
}

// By labels or at once: no bound is above the optimum, and threads make no difference.
TEST(ImperfectBudget, IsReproducibleAndSound) {
  const std::atomic<bool> stop{true};
  int cut = 0;
  for (std::uint64_t seed = 50'000; seed < 50'000 + tried_of(40U); ++seed) {
    const SearchCase random = random_imperfect_space(seed, 3'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      const SearchResult whole = search_exact(space, options);
      const auto expect_sound = [&](const SearchResult& found) {
        EXPECT_LE(found.certificate.lower_bound, whole.certificate.lower_bound * (1 + kRounding))
            << "seed " << seed;
        EXPECT_FALSE(found.best && !whole.best);
        cut += found.interrupted ? 1 : 0;
      };
      for (const std::int64_t labels : {1, 20, 200}) {
        options.budget.labels = labels;
        options.threads = 1;
        const SearchResult one = search_exact(space, options);
        options.threads = 2;
        EXPECT_EQ(result_difference(one, search_exact(space, options)), "") << "seed " << seed;
        expect_sound(one);
      }
      options.budget = {};
      options.stop = &stop;
      expect_sound(search_exact(space, options));
    }
  }
  EXPECT_GT(cut, tried_of(60));
}

// Bounds of GEMM 512^3 on 16 x 16 units alone are hundreds of millions of states.
TEST(ImperfectBudget, CountsTheStatesThatAreBounded) {
  const Problem problem{parse_arch(R"(name: array
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 16 pJ/b, write: 16 pJ/b}}
  - {storage: Buffer, capacity: 64 KiB, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: PEs, x: 16, y: 16}
  - {storage: RF, capacity: 64 B, energy: {read: 0.1 pJ/b, write: 0.1 pJ/b}}
  - {compute: MAC, energy: 1 pJ}
)",
                                   "arch"),
                        gemm("gemm", {512, 512, 512, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  for (const std::int64_t labels : {1, 2'000, 20'000}) {
    SearchOptions options;
    options.budget.labels = labels;
    const SearchResult one = search_exact(space, options);
    EXPECT_LE(one.statistics.labels + one.statistics.states / imperfect::kStatesPerLabel, labels);
    EXPECT_TRUE(one.interrupted);
    EXPECT_TRUE(one.best.has_value());
    EXPECT_GT(one.certificate.gap, 0);
    options.threads = 2;
    EXPECT_EQ(result_difference(one, search_exact(space, options)), "");
  }
}

TEST(Counts, AreNoMoreThanAnyLoopsMake) {
  int told = 0;
  for (const int bound : {13, 29, 40}) {
    const Problem problem{
        parse_arch("name: g\nnodes:\n  - {storage: L0, capacity: unlimited, energy: {read: 1 pJ/b, "
                   "write: 1 pJ/b}}\n"
                   "  - {compute: MAC, energy: 1 pJ}\n",
                   "arch"),
        parse_workload("name: g\ngemm: {m: " + std::to_string(bound) + ", n: 1, k: 1}\n", "layer")};
    Constraints constraints;
    constraints.factors.imperfect = true;
    const Mapspace space{problem, constraints};
    const imperfect::ExtentLattice tiles{space, space.unrolling_classes().front(), {}};
    const DimId m = *problem.workload().find_dim("M");
    const ExtentDomain& domain = tiles.domain(m);
    for (std::uint64_t chain = 0; chain < std::uint64_t{1} << domain.size(); ++chain) {
      imperfect::TileCounts counts{tiles};
      std::vector<std::int64_t> sizes{bound};
      imperfect::TileCounts::Id known = 0;
      for (std::size_t extent = domain.size(); extent-- > 0;) {
        if ((chain >> extent & 1U) == 0) {
          continue;
        }
        std::vector<std::int64_t> cut;
        for (std::int64_t size : sizes) {
          for (; size > 0; size -= domain[extent]) {
            cut.push_back(std::min(size, domain[extent]));
          }
        }
        sizes = std::move(cut);
        const auto made = static_cast<std::int64_t>(sizes.size());
        EXPECT_LE(counts.least(m, known, domain[extent]), made) << bound << " " << chain;
        const std::int64_t straight = (bound + domain[extent] - 1) / domain[extent];
        told += counts.least(m, known, domain[extent]) > straight ? 1 : 0;
        if (extent % 2 == 0) {  // of others it knows nothing
          for (const imperfect::TileCounts::Id id : counts.choices(m, known, extent, 0)) {
            known = counts.least(m, id, domain[extent]) <= made ? id : known;
          }
        }
      }
    }
  }
  EXPECT_GT(told, 1'000);
}

}  // namespace
}  // namespace mapsim::exact_imperfect_test
