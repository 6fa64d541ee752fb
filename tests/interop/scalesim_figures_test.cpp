// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "interop/scalesim_import.hpp"
#include "tests/interop/scalesim_runs.hpp"
#include "tests/interop/scalesim_walk.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::scalesim_figures_test {
namespace {

void expect_equal(const ScaleSimFigures& ours, const ScaleSimFigures& theirs,
                  const std::string& what) {
  EXPECT_EQ(ours.cycles, theirs.cycles) << what;
  EXPECT_EQ(ours.stall_cycles, theirs.stall_cycles) << what;
  EXPECT_EQ(ours.cycles_with_prefetch, theirs.cycles_with_prefetch) << what;
  EXPECT_EQ(ours.ifmap, theirs.ifmap) << what;
  EXPECT_EQ(ours.filter, theirs.filter) << what;
  EXPECT_EQ(ours.ofmap, theirs.ofmap) << what;
}

void expect_equal_utilizations(const ScaleSimFigures& ours, const ScaleSimFigures& theirs,
                               const std::string& what) {
  const auto near = [&](double a, double b) { EXPECT_NEAR(a, b, 1e-12 * b) << what; };
  near(ours.overall_utilization, theirs.overall_utilization);
  near(ours.mapping_efficiency, theirs.mapping_efficiency);
  near(ours.compute_utilization, theirs.compute_utilization);
}

TEST(ScaleSimFigures, AreThoseOfTheCollectedRuns) {
  const std::vector<ToolRun> runs = collected_scalesim_runs();
  if (runs.empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/scalesim_runs.jsonl; 0 runs "
                    "compared; small ones are walked elsewhere";
  }
  double theirs = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const ToolRun& run : runs) {
    const ScaleSimFigures figures = scalesim_figures(run.config, run.layer);
    expect_equal(figures, run.printed, run.text);
    expect_equal_utilizations(figures, run.printed, run.text);
    theirs += run.seconds;
  }
  const std::chrono::duration<double> ours = std::chrono::steady_clock::now() - start;
  std::cout << fmt::format("{} runs: SCALE-Sim {:.0f} s, here {:.2f} s, {:.0f} times faster\n",
                           runs.size(), theirs, ours.count(), theirs / ours.count());
}

TEST(ScaleSimFigures, AreThoseOfTheCollectedRunsAtAGivenBandwidth) {
  const std::vector<ToolRun> runs = collected_scalesim_runs(true);
  if (runs.empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/scalesim_runs.jsonl; 0 runs "
                    "compared; small ones are walked elsewhere";
  }
  for (const ToolRun& run : runs) {
    const ScaleSimFigures figures = scalesim_figures(run.config, run.layer);
    expect_equal(figures, run.printed, run.text);
    expect_equal_utilizations(figures, run.printed, run.text);
  }
}

// The requests of a run, walked; what the tool counts and does not ask for is added.
ScaleSimFigures walked(const ToolRun& run, const ScaleSimFigures& figures) {
  ScaleSimFigures walked = walk_scalesim(run.config, run.layer);
  const ScaleSimGemm gemm = scalesim_gemm(run.layer);
  if (run.config.dataflow == ScaleSimDataflow::kOutput) {
    walked.ofmap.sram +=
        scalesim_folding(run.config, gemm).folds() * (run.config.rows + run.config.columns);
  }
  if (gemm != whole_gemm(run.layer)) {  // requests beyond the ifmap are counted, but not made
    EXPECT_GT(figures.ifmap.sram, walked.ifmap.sram - 1) << run.text;
    walked.ifmap.sram = figures.ifmap.sram;
  }
  return walked;
}

TEST(ScaleSimFigures, AreThoseOfAWalkThroughTheRequests) {
  int rounded = 0;
  int flushed = 0;
  int drained = 0;
  for (std::uint64_t seed = 0; seed < tried_of(600U); ++seed) {
    const ToolRun run = random_scalesim_run(seed);
    const ScaleSimFigures figures = scalesim_figures(run.config, run.layer);
    rounded += scalesim_gemm(run.layer) == whole_gemm(run.layer) ? 0 : 1;
    flushed += figures.ifmap.dram_start > -103 && figures.ifmap.dram > 500 ? 1 : 0;
    drained += figures.ofmap.dram_start < figures.cycles ? 1 : 0;
    expect_equal(figures, walked(run, figures), run.text);
  }
  EXPECT_GT(rounded, tried_of(50));
  EXPECT_GT(flushed, tried_of(50));
  EXPECT_GT(drained, tried_of(50));
}

TEST(ScaleSimFigures, AreThoseOfAWalkThroughTheRequestsAtAGivenBandwidth) {
  int rounded = 0;
  int stalled = 0;
  int full = 0;  // only the ofmap was late
  for (std::uint64_t seed = 0; seed < tried_of(600U); ++seed) {
    ToolRun run = random_scalesim_run(seed);
    Rng rng{seed};
    run.layer.channels *= 3;
    run.layer.filters *= 2;
    run.config.bandwidth = {rng.between(1, 9), rng.between(1, 9), rng.between(1, 3)};
    const ScaleSimFigures figures = scalesim_figures(run.config, run.layer);
    const bool late = figures.stall_cycles > 0;
    rounded += late && scalesim_gemm(run.layer) != whole_gemm(run.layer) ? 1 : 0;
    stalled += late ? 1 : 0;
    ToolRun fast = run;
    fast.config.ifmap_kb = fast.config.filter_kb = 1000;
    full += scalesim_figures(fast.config, run.layer).stall_cycles > 0 ? 1 : 0;
    expect_equal(figures, walked(run, figures), run.text);
  }
  EXPECT_GT(rounded, tried_of(50));
  EXPECT_GT(stalled, tried_of(150));
  EXPECT_GT(full, tried_of(20));
}

// A column fold that stays is asked for from its last row on, so that the window goes round all
// words again and again: thousands of millions of fetches, which are counted and not made.
TEST(ScaleSimFigures, AreSoonFoundHoweverOftenTheWindowGoesRound) {
  const ScaleSimConfig config{"c", 32, 32, 64, 1, 64, ScaleSimDataflow::kWeight, {{10, 10, 10}}};
  const ScaleSimFigures figures =
      scalesim_figures(config, {"l", 4, 4, 1, 1, 64, 400'000, 1, 1, false});
  EXPECT_TRUE(figures.walked);
  EXPECT_GT(figures.filter.dram / 520, std::int64_t{1} << 31);  // words of a fetch
}

// 51 s of CPU time before steps counted what they take.
TEST(ScaleSimFigures, AreNotWalkedForMoreThanSomeSeconds) {
  const ScaleSimConfig config{"c", 32, 32, 64, 64, 64, ScaleSimDataflow::kWeight, {{10, 10, 10}}};
  EXPECT_FALSE(scalesim_figures(config, {"l", 28, 28, 3, 3, 16, 2'000'000, 1, 1, false}).walked);
}

// By hand, from the closed forms: M 17, N 33, K 65 on 16 x 64, sums stay: 2 folds of 65 + 16 + 64
// - 2.
TEST(ScaleSimFigures, AreTheClosedFormsOfAGemm) {
  const ScaleSimConfig config{"c", 16, 64, 64, 64, 64, ScaleSimDataflow::kOutput, {}};
  const ScaleSimLayer layer{"g", 17, 65, 1, 65, 1, 33, 1, 1, true};
  const ScaleSimFigures figures = scalesim_figures(config, layer);
  EXPECT_EQ(figures.cycles, 2 * 143 - 1);
  EXPECT_EQ(figures.ifmap, (ScaleSimTraffic{17 * 65, 17 * 65, -131}));
  EXPECT_EQ(figures.filter, (ScaleSimTraffic{2 * 65 * 33, 65 * 33, -262}));
  EXPECT_EQ(figures.ofmap.sram, 17 * 33 + 2 * (16 + 64));
  EXPECT_EQ(figures.ofmap.dram, 17 * 33);
  EXPECT_DOUBLE_EQ(figures.mapping_efficiency, 100.0 * 17 * 33 / (2 * 16 * 64));
}

}  // namespace
}  // namespace mapsim::scalesim_figures_test
