// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "interop/scalesim_ifmap.hpp"
#include "interop/scalesim_import.hpp"
#include "tests/interop/scalesim_walk.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::json;

// A run of the tool: what went in, and what it printed.
struct ToolRun {
  std::string text;
  ScaleSimConfig config;
  ScaleSimLayer layer;
  ScaleSimFigures printed;
  double seconds = 0;
};

ScaleSimTraffic traffic_of(const Json& access, const std::string& operand, const char* count) {
  const Json& sram = access.at("sram_" + operand);
  const Json& dram = access.at("dram_" + operand);
  const auto whole = [](const Json& number) {
    return static_cast<std::int64_t>(std::llround(number.get<double>()));
  };
  return {whole(sram.at(count)), whole(dram.at(count)), whole(dram.at("start_cycle"))};
}

ToolRun run_of(const Json& json) {
  const Json& job = json.at("job");
  const Json& layer = job.at("layer");
  ToolRun run;
  run.text = job.dump();
  const std::map<std::string, ScaleSimDataflow> dataflows{{"os", ScaleSimDataflow::kOutput},
                                                          {"ws", ScaleSimDataflow::kWeight},
                                                          {"is", ScaleSimDataflow::kInput}};
  run.config = {"scalesim",
                job.at("rows"),
                job.at("cols"),
                job.at("sram_kb")[0],
                job.at("sram_kb")[1],
                job.at("sram_kb")[2],
                dataflows.at(job.at("df")),
                {}};
  run.layer.name = layer.at("name");
  if (layer.contains("M")) {
    run.layer.gemm = true;
    run.layer.ifmap_height = layer.at("M");
    run.layer.ifmap_width = run.layer.filter_width = layer.at("K");
    run.layer.filters = layer.at("N");
  } else {
    run.layer = {layer.at("name"),
                 layer.at("H"),
                 layer.at("W"),
                 layer.at("R"),
                 layer.at("S"),
                 layer.at("C"),
                 layer.at("K"),
                 layer.at("stride"),
                 1,
                 false};
  }
  run.printed.cycles = std::llround(json.at("total_cycles").get<double>());
  run.printed.cycles_with_prefetch =
      std::llround(json.at("total_cycles_incl_prefetch").get<double>());
  run.printed.overall_utilization = json.at("overall_util_pct");
  run.printed.mapping_efficiency = json.at("mapping_eff_pct");
  run.printed.compute_utilization = json.at("compute_util_pct");
  run.printed.ifmap = traffic_of(json.at("access"), "ifmap", "reads");
  run.printed.filter = traffic_of(json.at("access"), "filter", "reads");
  run.printed.ofmap = traffic_of(json.at("access"), "ofmap", "writes");
  run.seconds = json.at("wall_s");
  return run;
}

// Runs in which the tool computes the bandwidth; of the collection that MAPSIM_GOLDENS names.
std::vector<ToolRun> collected_runs() {
  std::vector<ToolRun> runs;
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  if (folder == nullptr) {
    return runs;
  }
  std::ifstream file{std::string{folder} + "/systolic/scalesim_runs.jsonl"};
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    if (!json.at("job").contains("bw")) {
      runs.push_back(run_of(json));
    }
  }
  return runs;
}

void expect_equal(const ScaleSimFigures& ours, const ScaleSimFigures& theirs,
                  const std::string& what) {
  EXPECT_EQ(ours.cycles, theirs.cycles) << what;
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
  const std::vector<ToolRun> runs = collected_runs();
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

// A small layer and machine of a seed; buffers of 1 and 2 KiB, so that they fill and drain.
ToolRun random_run(std::uint64_t seed) {
  Rng rng{seed};
  ToolRun run;
  run.config = {"random",
                rng.between(1, 9),
                rng.between(1, 9),
                rng.between(1, 2),
                rng.between(1, 2),
                rng.between(1, 2),
                static_cast<ScaleSimDataflow>(seed % 3),
                {}};
  const std::int64_t height = rng.between(1, 16);
  const std::int64_t width = rng.between(1, 16);
  run.layer = {"random",
               height,
               width,
               rng.between(1, std::min<std::int64_t>(height, 4)),
               rng.between(1, std::min<std::int64_t>(width, 4)),
               rng.between(1, 6),
               rng.between(1, 20),
               rng.between(1, 3),
               1,
               false};
  run.text = fmt::format("seed {}", seed);
  return run;
}

TEST(ScaleSimFigures, AreThoseOfAWalkThroughTheRequests) {
  int rounded = 0;
  int flushed = 0;
  int drained = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const ToolRun run = random_run(seed);
    ScaleSimFigures walked = walk_scalesim(run.config, run.layer);
    ScaleSimFigures figures = scalesim_figures(run.config, run.layer);
    const ScaleSimGemm gemm = scalesim_gemm(run.layer);
    const bool whole = gemm == whole_gemm(run.layer);
    const std::int64_t folds = scalesim_folding(run.config, gemm).folds();
    rounded += whole ? 0 : 1;
    flushed += figures.ifmap.dram_start > -103 && figures.ifmap.dram > 500 ? 1 : 0;
    drained += figures.ofmap.dram_start < figures.cycles ? 1 : 0;
    if (run.config.dataflow == ScaleSimDataflow::kOutput) {
      walked.ofmap.sram += folds * (run.config.rows + run.config.columns);
    }
    if (!whole) {  // requests beyond the ifmap are counted, but not made
      EXPECT_GT(figures.ifmap.sram, walked.ifmap.sram - 1) << run.text;
      walked.ifmap.sram = figures.ifmap.sram;
    }
    expect_equal(figures, walked, run.text);
  }
  EXPECT_GT(rounded, 50);
  EXPECT_GT(flushed, 50);
  EXPECT_GT(drained, 50);
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
    Tally& tally = tallies_[figure];
    ++tally.rows;
    tally.equal += theirs == ours ? 1 : 0;
    for (const auto& [name, difference] : slips) {
      ours += difference;
      tally.slips[name] += difference != 0 ? 1 : 0;
    }
    EXPECT_EQ(theirs, ours) << figure << " of " << what;
  }
  // In the form of docs/validation.md.
  std::string text() const {
    std::string text = "| figure | rows | equal | explained | slips, with rows that have them |\n";
    text += "|---|---:|---:|---:|---|\n";
    for (const auto& [figure, tally] : tallies_) {
      std::vector<std::string> names;
      for (const auto& [name, rows] : tally.slips) {
        if (rows > 0) {
          names.push_back(fmt::format("{} {}", name, rows));
        }
      }
      text += fmt::format("| {} | {} | {} | {} | {} |\n", figure, tally.rows, tally.equal,
                          tally.rows - tally.equal, fmt::join(names, "; "));
    }
    return text;
  }

 private:
  struct Tally {
    int rows = 0;
    int equal = 0;
    std::map<std::string, int> slips;
  };
  std::map<std::string, Tally> tallies_;
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
    return ifmap_pixel_reads(run.config, run.layer, gemm);
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
  const std::vector<ToolRun> runs = collected_runs();
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
  std::ifstream file{MAPSIM_SOURCE_DIR "/docs/validation.md"};
  const std::string kept{std::istreambuf_iterator<char>{file}, {}};
  if (kept.find(fmt::format("of {} runs", runs.size())) != std::string::npos) {
    EXPECT_NE(kept.find(text), std::string::npos) << "docs/validation.md keeps another table";
  }
}

// Runs at a given bandwidth. Its stalls are not reproduced: docs/validation.md.
TEST(ScaleSimImport, IsComparedWithRunsAtAGivenBandwidth) {
  const char* folder = std::getenv("MAPSIM_GOLDENS");
  if (folder == nullptr) {
    GTEST_SKIP() << "MAPSIM_GOLDENS names no folder with systolic/scalesim_runs.jsonl; 0 runs "
                    "compared";
  }
  std::vector<std::pair<double, std::string>> ratios;
  std::ifstream file{std::string{folder} + "/systolic/scalesim_runs.jsonl"};
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    if (!json.at("job").contains("bw")) {
      continue;
    }
    ToolRun run = run_of(json);
    const std::int64_t bandwidth = json.at("job").at("bw");
    const ScaleSimGemm gemm = whole_gemm(run.layer);
    const Own own = own_figures(run.config, gemm);
    const std::int64_t most =
        std::max({ifmap_pixel_reads(run.config, run.layer, gemm), own.at(0, 1).reads,
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
    ToolRun run = random_run(seed);
    run.printed = scalesim_figures(run.config, run.layer);
    compare_with_ours(run, slips);
    compare_dram(run, slips);
  }
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
    ToolRun run = random_run(seed);
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
}  // namespace mapsim
