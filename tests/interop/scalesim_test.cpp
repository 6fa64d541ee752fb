// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "interop/scalesim_ifmap.hpp"
#include "interop/scalesim_import.hpp"
#include "tests/interop/scalesim_runs.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::scalesim_test {
namespace {

// Our own figures of a run, on the machine that the import writes.
struct Own {
  Cost cost;
  const AccessCounts& at(std::size_t level, std::size_t tensor) const {
    return cost.counts.levels[static_cast<LevelId>(level)][static_cast<TensorId>(tensor)].total;
  }
};

Own own_figures(const ScaleSimConfig& config, const ScaleSimGemm& gemm) {
  const Problem problem{parse_arch(scalesim_arch_text(config), "arch.yaml"),
                        parse_workload(scalesim_gemm_text(gemm, 1, "g"), "g.yaml")};
  return {std::get<Cost>(evaluate(problem, scalesim_mapping(problem, config)))};
}

// The tool's figure, ours, and what each slip adds to ours, in order; all of it must add up.
class Slips {
 public:
  void row(const std::string& figure, std::int64_t theirs, std::int64_t ours,
           const std::vector<std::pair<std::string, std::int64_t>>& slips,
           const std::string& what) {
    SampleStatistics& statistics = statistics_[figure];
    ++statistics.rows;
    statistics.equal += theirs == ours ? 1 : 0;
    for (const auto& [name, difference] : slips) {
      ours += difference;
      statistics.slips[name] += difference != 0 ? 1 : 0;
    }
    EXPECT_EQ(theirs, ours) << figure << " of " << what;
  }
  // In the form of docs/validation.md.
  std::string text() const {
    std::string text =
        "| figure | runs | equal | explained | rules, with the number of runs that they affect |\n";
    text += "|---|---:|---:|---:|---|\n";
    for (const auto& [figure, statistics] : statistics_) {
      std::vector<std::string> names;
      for (const auto& [name, rows] : statistics.slips) {
        if (rows > 0) {
          names.push_back(fmt::format("{} {}", name, rows));
        }
      }
      text += fmt::format("| {} | {} | {} | {} | {} |\n", figure, statistics.rows, statistics.equal,
                          statistics.rows - statistics.equal, fmt::join(names, "; "));
    }
    return text;
  }

 private:
  struct SampleStatistics {
    int rows = 0;
    int equal = 0;
    std::map<std::string, int> slips;
  };
  std::map<std::string, SampleStatistics> statistics_;
};

// Cycles and SRAM accesses of our closed form are the tool's but for its slips.
void compare_with_ours(const ToolRun& run, Slips& slips) {
  const ScaleSimGemm rounded = scalesim_gemm(run.layer);
  const Own ours = own_figures(run.config, whole_gemm(run.layer));
  const Own grown = own_figures(run.config, rounded);
  const ScaleSimFigures& printed = run.printed;
  const auto row = [&](const char* figure, std::int64_t theirs, const auto& count,
                       std::vector<std::pair<std::string, std::int64_t>> more) {
    more.insert(more.begin(), {"pixels rounded up", count(grown) - count(ours)});
    slips.row(figure, theirs, count(ours), more, run.text);
  };
  row("cycles", printed.cycles, [](const Own& own) { return own.cost.latency.steady.count(); },
      {{"last cycle's number", -1}});
  const ScaleSimFigures compat = scalesim_figures(run.config, run.layer);
  // What does not fit an SRAM by half, not even for one moment of a fold, goes past it.
  const auto past = [&](std::size_t level, std::size_t tensor, std::int64_t accesses) {
    const auto& at = grown.cost.counts.levels[static_cast<LevelId>(level)];
    return std::pair<std::string, std::int64_t>{
        "a fold does not fit", at[static_cast<TensorId>(tensor)].kept ? 0 : accesses};
  };
  row("SRAM reads of the ifmap", printed.ifmap.sram,
      [](const Own& own) { return own.at(1, 0).reads; }, {past(1, 0, compat.ifmap.sram)});
  row("SRAM reads of the filter", printed.filter.sram,
      [](const Own& own) { return own.at(2, 1).reads; }, {past(2, 1, compat.filter.sram)});
  const std::int64_t folds = scalesim_folding(run.config, rounded).folds();
  const bool sums_stay = run.config.dataflow == ScaleSimDataflow::kOutput;
  row("SRAM writes of the ofmap", printed.ofmap.sram,
      [](const Own& own) { return own.at(3, 2).updates; },
      {{"rows + columns a fold", sums_stay ? folds * (run.config.rows + run.config.columns) : 0},
       past(3, 2,
            rounded.m * rounded.n *
                (sums_stay ? 1 : scalesim_folding(run.config, rounded).row_folds))});
}

// Buffers differ where something does not fit: where all of an operand does, it comes once, here
// and there.
void compare_dram(const ToolRun& run, Slips& slips) {
  const ScaleSimGemm rounded = scalesim_gemm(run.layer);
  const Own ours = own_figures(run.config, whole_gemm(run.layer));
  const Own grown = own_figures(run.config, rounded);
  const ScaleSimFigures& printed = run.printed;
  const ScaleSimFigures compat = scalesim_figures(run.config, run.layer);
  const auto dram = [&](const char* figure, std::int64_t theirs, std::int64_t emulated,
                        std::int64_t own, std::int64_t own_grown, std::int64_t kilobytes,
                        std::int64_t whole) {
    const bool fits = whole <= 50 * (1024 * kilobytes / 100);
    const std::int64_t flushed = fits ? 0 : emulated - own_grown;
    slips.row(figure, theirs, own,
              {{"pixels rounded up", own_grown - own}, {"flushed sets", flushed}}, run.text);
  };
  const auto pixels = [&](const ScaleSimGemm& gemm) {
    return ifmap_pixel_reads(run.config, run.layer, gemm).value();
  };
  dram("DRAM reads of the ifmap", printed.ifmap.dram, compat.ifmap.dram,
       pixels(whole_gemm(run.layer)), pixels(rounded), run.config.ifmap_kb,
       run.layer.ifmap_height * run.layer.ifmap_width * run.layer.channels);
  dram("DRAM reads of the filter", printed.filter.dram, compat.filter.dram, ours.at(0, 1).reads,
       grown.at(0, 1).reads, run.config.filter_kb, rounded.k * rounded.n);
  // Sums that leave once differ by the lines that are padded: less than one for each time that half
  // of the buffer has filled, and at the end. Where several row folds add to them, the tool writes
  // them all.
  const auto writes = [](const Own& own) { return own.at(0, 2).updates; };
  const std::int64_t padded = compat.ofmap.dram - writes(grown);
  const bool sums_stay = run.config.dataflow == ScaleSimDataflow::kOutput;
  if (sums_stay || scalesim_folding(run.config, rounded).row_folds == 1) {
    const std::int64_t drains = 1 + rounded.m * rounded.n / (512 * run.config.ofmap_kb);
    EXPECT_GE(padded, 0) << run.text;
    EXPECT_LE(padded, drains * run.config.columns) << run.text;
  }
  slips.row("DRAM writes of the ofmap", printed.ofmap.dram, writes(ours),
            {{"pixels rounded up", writes(grown) - writes(ours)},
             {"half a buffer drained, lines padded", padded}},
            run.text);
}

TEST(ScaleSimImport, DiffersFromTheToolByItsSlips) {
  const std::vector<ToolRun> runs = collected_scalesim_runs();
  if (runs.empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/scalesim_runs.jsonl; 0 runs "
                    "compared";
  }
  Slips slips;
  for (const ToolRun& run : runs) {
    compare_with_ours(run, slips);
    compare_dram(run, slips);
  }
  const std::string text = slips.text();
  std::cout << runs.size() << " runs\n" << text;
  std::ifstream file{source_path("docs/validation.md")};
  const std::string kept{std::istreambuf_iterator<char>{file}, {}};
  if (kept.find(fmt::format("of {} runs", runs.size())) != std::string::npos) {
    EXPECT_NE(kept.find(text), std::string::npos) << "docs/validation.md keeps another table";
  }
}

// Our own time, of ports that never wait for one another, beside the tool's with its stalls.
TEST(ScaleSimImport, IsComparedWithRunsAtAGivenBandwidth) {
  const std::vector<ToolRun> runs = collected_scalesim_runs(true);
  if (runs.empty()) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/scalesim_runs.jsonl; 0 runs "
                    "compared";
  }
  std::vector<std::pair<double, std::string>> ratios;
  for (const ToolRun& run : runs) {
    const std::int64_t bandwidth = run.config.bandwidth->ofmap;
    const ScaleSimGemm gemm = whole_gemm(run.layer);
    ScaleSimConfig unlimited = run.config;
    unlimited.bandwidth.reset();
    const Own own = own_figures(unlimited, gemm);
    const std::int64_t most =
        std::max({*ifmap_pixel_reads(run.config, run.layer, gemm), own.at(0, 1).reads,
                  own.at(0, 2).updates + own.at(0, 2).readbacks});
    const std::int64_t array = own.cost.latency.resources.front().time.count();
    const std::int64_t ours = std::max(array, (most + bandwidth - 1) / bandwidth);
    // No port that works from the first cycle to the last, and no array, is faster.
    EXPECT_GE(ours, array) << run.text;
    ratios.emplace_back(
        static_cast<double>(ours) / static_cast<double>(run.printed.cycles),
        fmt::format("{} (array {}, port {})", run.text, array, (most + bandwidth - 1) / bandwidth));
  }
  ASSERT_FALSE(ratios.empty());
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))].first;
  };
  std::cout << fmt::format(
      "{} runs, ours / the tool's cycles: least {:.3f}, quartiles {:.3f} {:.3f} {:.3f}, most "
      "{:.3f}\n",
      ratios.size(), at(0), at(0.25), at(0.5), at(0.75), at(1));
  for (const auto& [ratio, text] : ratios) {
    if (ratio < 0.8 || ratio > 1.25) {
      std::cout << fmt::format("  {:.3f} {}\n", ratio, text);
    }
  }
  EXPECT_NEAR(at(0.5), 1, 0.05);
}

TEST(ScaleSimImport, DiffersFromSmallRunsByTheirSlips) {
  Slips slips;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ToolRun run = random_scalesim_run(seed);
    run.printed = scalesim_figures(run.config, run.layer);
    compare_with_ours(run, slips);
    compare_dram(run, slips);
  }
}

// A topology's walks share their steps; short ones come first, and equal layers are walked once.
TEST(ScaleSimImport, WalksTheShortLayersOfATopologyFirst) {
  const ScaleSimConfig config{"c", 16, 16, 64, 64, 64, ScaleSimDataflow::kWeight, {}};
  const ScaleSimLayer small{"small", 16, 16, 3, 3, 8, 16, 1, 1, false};
  const ScaleSimLayer large{"large", 64, 64, 3, 3, 16, 32, 1, 1, false};
  ScaleSimLayer again = small;
  again.name = "again";
  const std::vector<ScaleSimLayer> layers{large, small, again};
  const auto all = scalesim_walks(config, layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_TRUE(all[i].figures.walked);
    EXPECT_EQ(all[i].figures.cycles_with_prefetch,
              scalesim_figures(config, layers[i]).cycles_with_prefetch);
    EXPECT_EQ(all[i].pixels, ifmap_pixel_reads(config, layers[i], whole_gemm(layers[i])));
  }
  std::int64_t left = kMostWalkSteps;
  scalesim_figures(config, small, left);
  ifmap_pixel_reads(config, small, whole_gemm(small), left);
  const std::int64_t of_small = kMostWalkSteps - left;
  ASSERT_GT(of_small, 0);
  const auto few = scalesim_walks(config, layers, of_small + 1);
  EXPECT_FALSE(few[0].figures.walked);
  EXPECT_TRUE(few[1].figures.walked);
  EXPECT_TRUE(few[2].figures.walked);
  EXPECT_EQ(few[2].pixels, few[1].pixels);
}

// By hand: where half of the SRAM holds all pixels, each comes once, however often the unfolded
// ifmap has it; where it holds a row fold of them, each fold's come for each column fold.
TEST(ScaleSimImport, CountsPixelsOfAConvolutionAndNotTheUnfoldedOnes) {
  ScaleSimConfig config{"c", 128, 128, 256, 256, 256, ScaleSimDataflow::kOutput, {}};
  const ScaleSimLayer yolo{"Conv6", 13, 13, 3, 3, 256, 512, 1, 1, false};
  EXPECT_EQ(ifmap_pixel_reads(config, yolo, whole_gemm(yolo)), 13 * 13 * 256);
  EXPECT_GT(own_figures(config, whole_gemm(yolo)).at(0, 0).reads, 25 * 13 * 13 * 256);
  // 1 KiB: half of it has room for the 4 x 8 pixels that a fold of two lines of 6 reads, not for
  // the 8 x 8 of all. 3 such folds for each of 2 column folds.
  config = {"c", 12, 8, 1, 1, 1, ScaleSimDataflow::kOutput, {}};
  const ScaleSimLayer small{"small", 8, 8, 3, 3, 16, 16, 1, 1, false};
  EXPECT_EQ(ifmap_pixel_reads(config, small, whole_gemm(small)), 2 * 3 * 4 * 8 * 16);
}

TEST(ScaleSimImport, CountsAGemmAsItsMappingDoes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ToolRun run = random_scalesim_run(seed);
    Rng rng{seed};
    const auto m = 1 + static_cast<std::int64_t>(rng.below(60));
    const auto k = 1 + static_cast<std::int64_t>(rng.below(200));
    run.layer = {"g", m, k, 1, k, 1, run.layer.filters, 1, 1, true};
    const ScaleSimGemm gemm = whole_gemm(run.layer);
    EXPECT_EQ(ifmap_pixel_reads(run.config, run.layer, gemm),
              own_figures(run.config, gemm).at(0, 0).reads)
        << run.text;
  }
}

// Version 2 uses the first of the bandwidths for all, version 3 those of the banks for operands.
TEST(ScaleSimImport, TakesThePortsThatTheToolTakes) {
  const std::string sizes =
      "[architecture_presets]\nArrayHeight: 8\nArrayWidth: 8\nIfmapSramSzkB: 1\n"
      "FilterSramSzkB: 1\nOfmapSramSzkB: 1\nDataflow: ws\nBandwidth: 16, 4\n";
  const std::string mode = "[run_presets]\nInterfaceBandwidth: USER\n";
  using Ports = ScaleSimConfig::Ports;
  EXPECT_EQ(parse_scalesim_config(sizes + mode, "c.cfg").bandwidth, (Ports{16, 16, 16}));
  const std::string layout = "[layout]\nIfmapSRAMBankBandwidth: 5\nFilterSRAMBankBandwidth: 6\n";
  const ScaleSimConfig config = parse_scalesim_config(sizes + layout + mode, "c.cfg");
  EXPECT_EQ(config.bandwidth, (Ports{5, 6, 16}));
  const Arch arch = parse_arch(scalesim_arch_text(config), "arch.yaml");
  for (const auto& [level, bytes] : {std::pair{1, 5}, std::pair{2, 6}, std::pair{3, 16}}) {
    EXPECT_EQ(arch.levels[static_cast<LevelId>(level)].bandwidth.link, BitsPerCycle{8. * bytes});
  }
}

// A machine on which two of our rows fit by hand: 64 words of a tile, 128 in the SRAM.
TEST(ScaleSimImport, CutsTimeWhereNotEvenAFoldFits) {
  const ScaleSimConfig config{"c", 32, 16, 1, 1, 1, ScaleSimDataflow::kWeight, {}};
  const Problem problem{parse_arch(scalesim_arch_text(config), "arch.yaml"),
                        parse_workload("name: g\ngemm: {m: 100, n: 32, k: 64}\n", "g.yaml")};
  const Mapping mapping = scalesim_mapping(problem, config);
  const Cost cost = std::get<Cost>(evaluate(problem, mapping));
  // 512 words of the ifmap SRAM: 16 moments of 32 rows. Time runs on in the array: 4 folds, not 28.
  EXPECT_EQ(cost.latency.compute.folds, 4);
  EXPECT_EQ(cost.counts.levels[LevelId{1}][TensorId{0}].footprint, 16 * 32);
  EXPECT_EQ(cost.latency.steady, Cycles{4 * (100 + 2 * 32 + 16 - 2)});
}

}  // namespace
}  // namespace mapsim::scalesim_test
