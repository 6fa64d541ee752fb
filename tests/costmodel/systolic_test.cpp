// SPDX-License-Identifier: Apache-2.0
#include "costmodel/timing/systolic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "costmodel/timing/array.hpp"
#include "tests/costmodel/case_text.hpp"
#include "tests/costmodel/random_case.hpp"
#include "workloads/load.hpp"

namespace mapsim::systolic_test {
namespace {

// The definition: the first instance's steps one by one, a list of folds, the sum over the list.

std::vector<Fold> walk_folds(const Problem& problem, const SystolicTiming& timing,
                             const Mapping& mapping, const std::optional<Stationary>& stationary) {
  const Workload& workload = problem.workload();
  LoopWalk walk(workload, mapping);
  const Fanout& array = problem.arch().fanouts[timing.array];
  std::vector<Fold> folds;
  std::set<std::vector<std::int64_t>> held;  // tiles of what stays
  std::optional<std::size_t> advanced = 0;
  bool first = true;
  while (advanced) {
    if (first || (stationary && *advanced < stationary->folded)) {
      std::int64_t rows = 1;
      std::int64_t columns = 1;
      for (std::size_t k = 0; k < walk.loops().size(); ++k) {
        const WalkLoop& loop = walk.loops()[k];
        const LoopIndices start(walk.loops().size(), 0);
        const std::int64_t above = (*walk.tile(k, start))[loop.dim].size;
        if (loop.fanout == timing.array) {
          (loop.axis == Axis::kX ? columns : rows) *= (above + loop.extent - 1) / loop.extent;
        }
      }
      const std::int64_t used = rows * columns;
      rows = timing.full_folds ? array.y : rows;
      columns = timing.full_folds ? array.x : columns;
      Fold fold{0, 0, 0, rows + columns - 2};
      if (stationary) {
        const auto tile = walk.tile(stationary->position, LoopIndices(walk.loops().size(), 0));
        PerDim<std::int64_t> sizes(workload.dims.size());
        for (const DimId d : workload.dims.ids()) {
          sizes[d] = (*tile)[d].size;
        }
        std::vector<std::int64_t> origin;
        for (const DimId d : workload.dims.ids()) {
          if (workload.tensors[stationary->tensor].dims().contains(d)) {
            origin.push_back((*tile)[d].begin);
          }
        }
        const bool is_new = held.insert(origin).second;
        const std::int64_t points = footprint(workload.tensors[stationary->tensor], sizes);
        const std::int64_t shift = rows * points;
        fold.held = used * points;
        if (stationary->tensor == workload.output()) {
          fold.drain = shift;
          fold.skew = shift + columns - 2;
          fold.load = is_new ? 0 : shift;
        } else {
          fold.load = shift;
        }
      }
      folds.push_back(fold);
      first = false;
    }
    folds.back().steps += problem.arch().compute.issue_interval;
    advanced = walk.advance();
  }
  return folds;
}

std::int64_t cycles(const SystolicTiming& timing, const std::vector<Fold>& folds) {
  std::int64_t sum = folds.front().load;
  for (std::size_t f = 0; f + 1 < folds.size(); ++f) {
    const std::int64_t busy = timing.hides_drain ? std::max(folds[f].steps, folds[f].drain)
                                                 : folds[f].steps + folds[f].skew;
    const bool hides = timing.hides_load || (timing.hides_drain && folds[f + 1].drain > 0);
    sum += hides ? std::max(busy, folds[f + 1].load) : busy + folds[f + 1].load;
  }
  return sum + folds.back().steps + folds.back().skew;
}

// The folds of the tensor that stays, and no other candidate is done sooner.
std::vector<Fold> least_folds(const Problem& problem, const SystolicTiming& timing,
                              const Mapping& mapping, const std::optional<TensorId>& stays) {
  const Nest nest = make_nest(problem.workload(), mapping);
  const auto candidates = stationary_candidates(problem, timing, nest);
  std::vector<Fold> found =
      walk_folds(problem, timing, mapping, stays ? candidates[*stays] : std::nullopt);
  for (const auto& candidate : candidates) {
    if (candidate) {
      EXPECT_TRUE(stays.has_value());
      EXPECT_LE(cycles(timing, found),
                cycles(timing, walk_folds(problem, timing, mapping, candidate)));
    }
  }
  return found;
}

// Every fold of a padded tensor moves as much as the array takes at most. How many there are.
int check_padding(const Problem& problem, const SystolicTiming& timing, const Mapping& mapping) {
  const Nest nest = make_nest(problem.workload(), mapping);
  const PerTensor<TilePadding> padding = paddings(problem, timing, nest);
  const auto candidates = stationary_candidates(problem, timing, nest);
  const Fanout& array = problem.arch().fanouts[timing.array];
  int padded = 0;
  EXPECT_EQ(padding.empty(), !timing.whole_tiles);
  for (const TensorId t : padding.ids()) {
    if (is_padded(problem, timing, t) && candidates[t]) {
      const std::vector<Fold> folds = walk_folds(problem, timing, mapping, candidates[t]);
      std::int64_t whole = 0;
      std::int64_t used = 0;
      for (const Fold& fold : folds) {
        whole += array.x * folds.front().load;  // rows x elements x columns
        used += fold.held;
      }
      EXPECT_EQ(padding[t].all.whole * used, padding[t].all.used * whole);
      EXPECT_EQ(padding[t].first.whole * folds.front().held,
                padding[t].first.used * array.x * folds.front().load);
      ++padded;
    }
  }
  return padded;
}

TEST(SystolicTiming, IsTheSumOverFoldsWalkedOneByOne) {
  int arrays = 0;
  int folded = 0;
  int padded = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    RandomCase random = random_case(seed);
    if (random.arch.fanouts.empty()) {
      continue;
    }
    const SystolicTiming timing{static_cast<FanoutId>(seed / 8 % random.arch.fanouts.size()),
                                seed % 2 == 0,
                                seed / 2 % 2 == 0,
                                seed / 4 % 2 == 0,
                                seed % 2 == 0,
                                false};
    random.arch.compute.timing = timing;
    if (seed % 5 > 0) {  // else as it comes: mostly something is not handed on
      random.arch.fanouts[timing.array].multicast = {Role::kInput, Role::kWeight};
      random.arch.fanouts[timing.array].spatial_reduction = true;
    }
    const Problem problem{random.arch, random.workload};
    const ComputeTime time =
        systolic_time(problem, timing, make_nest(random.workload, random.mapping));
    const std::vector<Fold> folds = least_folds(problem, timing, random.mapping, time.stationary);
    ASSERT_EQ(time.folds, static_cast<std::int64_t>(folds.size())) << describe(random);
    ASSERT_EQ(time.total().count(), cycles(timing, folds)) << "seed " << seed << describe(random);
    std::int64_t busy = 0;
    std::int64_t load = 0;
    for (const Fold& fold : folds) {
      busy += fold.steps;
      load += fold.load;
    }
    ASSERT_EQ(time.busy.count(), busy);
    ASSERT_EQ((time.load + time.hidden_load).count(), load);
    ASSERT_GE(time.skew.count(), 0);
    padded += check_padding(problem, timing, random.mapping);
    ++arrays;
    folded += folds.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(arrays, 2000);
  EXPECT_GT(folded, 500);
  EXPECT_GT(padded, 200);
}

// A 4 x 6 array of MACs with a register for what stays, on a GEMM of M 10, N 15, K 9.
Problem gemm_problem(const std::string& stays, const std::string& timing,
                     const std::string& bandwidth = "", const std::string& capacity = "2 B") {
  const std::string arch =
      "name: array\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n" + bandwidth +
      "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n"
      "  - fanout: Array\n    x: 6\n    y: 4\n    spatial_reduction: true\n"
      "  - storage: Register\n    capacity: " +
      capacity + "\n    keep: [" + stays +
      "]\n    double_buffered: true\n    energy: {read: 0 pJ/B, write: 0 pJ/B}\n"
      "  - compute: MAC\n    energy: 1 pJ\n    timing: " +
      timing + "\n";
  return {parse_arch(arch, "array.yaml"),
          parse_workload("name: g\ngemm: {m: 10, n: 15, k: 9}\n", "g.yaml")};
}

Cost cost_of(const Problem& problem, const std::string& nodes) {
  const std::string text = "mapping:\n  - keep DRAM: [A, B, Z]\n" + nodes;
  const Mapping mapping = parse_mapping(text, "m.yaml", problem.arch(), problem.workload());
  return std::get<Cost>(evaluate(problem, mapping));
}

const std::string kWeights =
    "  - for N: 6\n  - for K: 4\n  - parallel N: 1 over X of Array\n"
    "  - parallel K: 1 over Y of Array\n  - keep Register: [B]\n  - for M: 1\n";
const std::string kSums =
    "  - for N: 6\n  - for M: 4\n  - parallel N: 1 over X of Array\n"
    "  - parallel M: 1 over Y of Array\n  - keep Register: [Z]\n  - for K: 1\n";

// F (t + 2R + C - 2) and F (t + R + C - 2), F = ceil(15/6) ceil(9/4) and ceil(15/6) ceil(10/4).
TEST(SystolicTiming, WithoutOverlapIsScaleSimsClosedForm) {
  const Latency weights = cost_of(gemm_problem("weight", "{model: systolic}"), kWeights).latency;
  EXPECT_EQ(weights.compute.folds, 9);
  EXPECT_EQ(weights.steady, Cycles{9 * (10 + 2 * 4 + 6 - 2)});
  EXPECT_EQ(weights.compute.busy, Cycles{9 * 10});
  EXPECT_EQ(weights.compute.load, Cycles{9 * 4});
  EXPECT_EQ(weights.compute.skew, Cycles{9 * (4 + 6 - 2)});
  const Latency sums = cost_of(gemm_problem("output", "{model: systolic}"), kSums).latency;
  EXPECT_EQ(sums.compute.folds, 9);
  EXPECT_EQ(sums.steady, Cycles{9 * (9 + 4 + 6 - 2)});
}

// That tool prints the number of its last cycle.
TEST(SystolicTiming, CountsAsScaleSimIfAsked) {
  const std::string compat = "{model: systolic, compat: scalesim}";
  EXPECT_EQ(cost_of(gemm_problem("weight", compat), kWeights).latency.steady,
            Cycles{9 * (10 + 2 * 4 + 6 - 2) - 1});
  EXPECT_EQ(cost_of(gemm_problem("output", compat), kSums).latency.steady,
            Cycles{9 * (9 + 4 + 6 - 2) - 1});
}

// 9 folds bring 4 x 6 weights each, of which 15 x 9 are used, and inputs and sums as they are.
TEST(SystolicTiming, BringsWholeTilesIfAsked) {
  const std::string dram = "    bandwidth: {read: 1 B/cycle}\n";
  const auto time = [&](const std::string& timing) {
    return cost_of(gemm_problem("weight", timing, dram), kWeights).latency.resources[1].time;
  };
  const Cycles used = time("{model: systolic}");
  const Cycles whole = time("{model: systolic, whole_tiles: true}");
  EXPECT_EQ(whole - used, Cycles{9 * 4 * 6 - 15 * 9});
}

// Rows used: K in 4, 4, 1; columns: N in 6, 6, 3.
TEST(SystolicTiming, CountsUsedRowsAndColumnsIfAsked) {
  const Latency used =
      cost_of(gemm_problem("weight", "{model: systolic, fold_size: used}"), kWeights).latency;
  EXPECT_EQ(used.steady, Cycles{9 * (10 - 2) + 2 * 3 * (4 + 4 + 1) + 3 * (6 + 6 + 3)});
}

TEST(SystolicTiming, HidesWhatASecondRegisterHides) {
  const std::string both = "{model: systolic, overlap: {stationary_load: true, drain: true}}";
  const Latency hidden = cost_of(gemm_problem("weight", both), kWeights).latency;
  EXPECT_EQ(hidden.steady, Cycles{4 + 8 * 10 + (10 + 4 + 6 - 2)});
  EXPECT_EQ(hidden.compute.load, Cycles{4});
  EXPECT_EQ(hidden.compute.hidden_load, Cycles{8 * 4});
  const std::string drain = "{model: systolic, overlap: {drain: true}}";
  const Latency sums = cost_of(gemm_problem("output", drain), kSums).latency;
  EXPECT_EQ(sums.steady, Cycles{8 * 9 + (9 + 4 + 6 - 2)});
}

// Accumulators of 5 entries a column: the stream of 10 is cut in two, and every tile of weights
// comes once for each half.
TEST(SystolicTiming, LoadsTheWeightsAgainForEveryChunkOfTheAccumulators) {
  const Cost whole = cost_of(gemm_problem("weight", "{model: systolic}"), kWeights);
  const Cost halves =
      cost_of(gemm_problem("weight", "{model: systolic}"), "  - for M: 5\n" + kWeights);
  EXPECT_EQ(halves.latency.compute.folds, 2 * whole.latency.compute.folds);
  EXPECT_EQ(halves.latency.compute.busy, whole.latency.compute.busy);
  EXPECT_EQ(halves.latency.steady, Cycles{18 * (5 + 2 * 4 + 6 - 2)});
  // One chunk inside all loops that move the weights costs no load: they stay.
  const Cost inside =
      cost_of(gemm_problem("weight", "{model: systolic}"),
              "  - for N: 6\n  - for K: 4\n  - for M: 5\n  - parallel N: 1 over X of Array\n"
              "  - parallel K: 1 over Y of Array\n  - keep Register: [B]\n  - for M: 1\n");
  EXPECT_EQ(inside.latency.steady, whole.latency.steady);
}

// K in three parts outside of all folds: 9 folds, and twice the same 9 with sums to be shifted in.
TEST(SystolicTiming, ShiftsInSumsThatAreResumed) {
  const std::string parts = "  - for K: 3\n" + kSums;
  const Latency plain = cost_of(gemm_problem("output", "{model: systolic}"), parts).latency;
  EXPECT_EQ(plain.compute.folds, 27);
  EXPECT_EQ(plain.compute.load, Cycles{18 * 4});
  EXPECT_EQ(plain.resources.front().time, Cycles{27 * (3 + 4 + 6 - 2) + 18 * 4});
  const std::string drain = "{model: systolic, overlap: {drain: true}}";
  const Latency chain = cost_of(gemm_problem("output", drain), parts).latency;
  EXPECT_EQ(chain.compute.hidden_load, Cycles{18 * 4});
  EXPECT_EQ(chain.resources.front().time, Cycles{26 * 4 + (3 + 4 + 6 - 2)});
}

// Every group of a grouped product is a fold of its own: nothing of a batch is shared.
TEST(SystolicTiming, FoldsABatchOneByOne) {
  const Problem one = gemm_problem("weight", "{model: systolic}");
  const Problem batch{
      one.arch(), parse_workload("name: b\nbatched_gemm: {batch: 3, m: 10, n: 15, k: 9}\n", "b")};
  EXPECT_EQ(cost_of(batch, "  - for H: 1\n" + kWeights).latency.steady.count(),
            3 * cost_of(one, kWeights).latency.steady.count());
}

// Three times A, B once, Z thrice up and twice back, through 1 B/cycle of DRAM: the four parts add
// up to the steady latency.
TEST(SystolicTiming, SaysWhatAPortKeepsWaiting) {
  const std::string both = "{model: systolic, overlap: {stationary_load: true, drain: true}}";
  const Problem slow = gemm_problem("weight", both, "    bandwidth: {shared: 1 B/cycle}\n");
  const Latency latency = cost_of(slow, kWeights).latency;
  EXPECT_EQ(latency.steady, Cycles{3 * 90 + 135 + (3 + 2) * 150});
  EXPECT_GT(latency.stall, Cycles{0});
  EXPECT_EQ(latency.compute.total() + latency.stall, latency.steady);
  EXPECT_EQ(latency.resources.front().time, Cycles{4 + 8 * 10 + (10 + 4 + 6 - 2)});
  EXPECT_NE(latency.bottleneck, 0U);
}

// Tiles of weights that come late show the cycles that shifting them in takes, where weights are
// most of what the port brings: 135 B of them beside 3 * 18 B of inputs, or 3 * 90 B.
TEST(SystolicTiming, ShowsTheLoadOfTilesThatComeLate) {
  const std::string both = "{model: systolic, overlap: {stationary_load: true, drain: true}}";
  const Problem slow = gemm_problem("weight", both, "    bandwidth: {read: 1 B/cycle}\n");
  const Latency inputs = cost_of(slow, kWeights).latency;
  EXPECT_EQ(inputs.steady, Cycles{135 + 3 * 90 + 2 * 150});
  EXPECT_EQ(inputs.compute.load, Cycles{4});
  EXPECT_EQ(inputs.compute.hidden_load, Cycles{8 * 4});
  const Problem few{slow.arch(), parse_workload("name: g\ngemm: {m: 2, n: 15, k: 9}\n", "g")};
  const Latency weights = cost_of(few, kWeights).latency;
  EXPECT_EQ(weights.steady, Cycles{135 + 3 * 18 + 2 * 30});
  EXPECT_EQ(weights.compute.load, Cycles{9 * 4});
  EXPECT_EQ(weights.compute.hidden_load, Cycles{0});
  EXPECT_EQ(weights.compute.total() + weights.stall, weights.steady);
}

// 135 weights by pairs, in halves of registers of 4 B; a window of 8 x 3 points by tiles of as many
// points as the product of its two extents, 2 each; without a place no folds do.
TEST(SystolicTiming, NeedsTheLeastFoldsThatHoldWhatStays) {
  const Problem product =
      gemm_problem("weight]\n    bypass: [input", "{model: systolic}", "", "4 B");
  PerDim<std::int64_t> bounds(3);
  for (const DimId d : bounds.ids()) {
    bounds[d] = product.workload().dims[d].bound;
  }
  const auto least = [&](const Problem& problem, const char* tensor) {
    return least_folds(problem, FanoutId{0}, bounds, *problem.workload().find_tensor(tensor));
  };
  EXPECT_EQ(least(product, "B").folds, 68);  // ceil(135 / 2)
  EXPECT_EQ(least(product, "B").elements, 135);
  EXPECT_EQ(least(product, "A").folds, std::numeric_limits<double>::infinity());
  const Problem window{
      gemm_problem("input", "{model: systolic}", "", "4 B").arch(),
      parse_workload(
          "name: w\neinsum: {equation: 'O[p][k] += I[p+r] * W[k][r]', dims: {p: 8, k: 5, r: 3}}\n",
          "w")};
  bounds = PerDim<std::int64_t>(3);
  for (const DimId d : bounds.ids()) {
    bounds[d] = window.workload().dims[d].bound;
  }
  EXPECT_EQ(least(window, "I").folds, 6);      // 8 * 3 / 2^2
  EXPECT_EQ(least(window, "I").elements, 12);  // ... / 2
}

TEST(IssueInterval, FollowsTheWidthsOfTheOperands) {
  const auto interval = [](const std::string& precision) {
    const std::string arch =
        "name: a\nnodes:\n  - storage: DRAM\n    capacity: unlimited\n"
        "    energy: {read: 1 pJ/B, write: 1 pJ/B}\n  - compute: MAC\n    energy: 1 pJ\n"
        "    issue_interval: {8x8: 1, 8x16: 2, 16x16: 4}\n";
    const Problem problem{
        parse_arch(arch, "a.yaml"),
        parse_workload("name: g\ngemm: {m: 2, n: 2, k: 2}\nprecision: " + precision + "\n", "g")};
    return problem.arch().compute.issue_interval;
  };
  EXPECT_EQ(interval("{input: 8 b, weight: 8 b}"), 1);
  EXPECT_EQ(interval("{input: 8 b, weight: 4 b}"), 1);
  EXPECT_EQ(interval("{input: 16 b, weight: 8 b}"), 2);
  EXPECT_EQ(interval("{input: 8 b, weight: 12 b}"), 2);
  EXPECT_EQ(interval("{input: 16 b, weight: 16 b}"), 4);
  try {
    interval("{input: 8 b, weight: 32 b}");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "a: MAC.issue_interval: none is given for operands of 8 b and 32 b; add 8x32");
  }
}

}  // namespace
}  // namespace mapsim::systolic_test
