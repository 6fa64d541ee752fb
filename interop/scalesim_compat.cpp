// SPDX-License-Identifier: Apache-2.0
// Everything in which SCALE-Sim (scalesim-project/SCALE-Sim 1d62b68) differs from the machine that
// it describes. docs/validation.md has the list.
#include "interop/scalesim_compat.hpp"

#include <algorithm>

#include "core/arithmetic.hpp"
#include "interop/scalesim_drain.hpp"
#include "interop/scalesim_flush.hpp"
#include "interop/scalesim_prefetch.hpp"

namespace mapsim {

namespace {

// Slip: every fold takes as long as one that fills the array.
std::int64_t fold_cycles(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  const bool loads = config.dataflow != ScaleSimDataflow::kOutput;
  return folding.time + config.rows + config.columns - 2 + (loads ? config.rows : 0);
}

// Words of the ofmap that leave the array in cycle `x` of a fold: column after column, a cycle
// apart.
std::int64_t sums_of(const ScaleSimConfig& config, const ScaleSimFolding& folding,
                     std::int64_t row_fold, std::int64_t column_fold, std::int64_t x) {
  const bool stays = config.dataflow == ScaleSimDataflow::kOutput;
  const std::int64_t rows = std::min(config.rows, folding.rows - row_fold * config.rows);
  const std::int64_t columns =
      std::min(config.columns, folding.columns - column_fold * config.columns);
  const std::int64_t wait = stays ? folding.time - 1 + config.rows - rows : 2 * config.rows - 1;
  const std::int64_t length = stays ? rows : folding.time;
  const std::int64_t at = x - wait;
  if (at < 0 || at >= length + columns - 1) {
    return 0;
  }
  return std::min(at, columns - 1) - std::max<std::int64_t>(0, at - length + 1) + 1;
}

void add_sram(const ScaleSimConfig& config, const ScaleSimFolding& folding,
              const ScaleSimGemm& gemm, ScaleSimFigures& figures) {
  const std::int64_t by_column = folding.column_folds;
  const std::int64_t by_row = folding.row_folds;
  switch (config.dataflow) {
    case ScaleSimDataflow::kOutput:
      figures.ifmap.sram = gemm.m * gemm.k * by_column;
      figures.filter.sram = gemm.k * gemm.n * by_row;
      // Slip: rows + columns are added once more for every fold.
      figures.ofmap.sram = gemm.m * gemm.n + folding.folds() * (config.rows + config.columns);
      break;
    case ScaleSimDataflow::kWeight:
      figures.ifmap.sram = gemm.m * gemm.k * by_column;
      figures.filter.sram = gemm.k * gemm.n;
      figures.ofmap.sram = gemm.m * gemm.n * by_row;  // read back: never
      break;
    case ScaleSimDataflow::kInput:
      figures.ifmap.sram = gemm.m * gemm.k;
      figures.filter.sram = gemm.k * gemm.n * by_column;
      figures.ofmap.sram = gemm.m * gemm.n * by_row;
      break;
  }
}

void add_utilizations(const ScaleSimConfig& config, const ScaleSimFolding& folding,
                      const ScaleSimGemm& gemm, ScaleSimFigures& figures) {
  const auto units = static_cast<double>(config.rows * config.columns);
  const auto folds = static_cast<double>(folding.folds());
  const auto used = static_cast<double>(folding.rows * folding.columns);
  // Slip: not the cycles of a fold where an operand stays, but columns - 1 more.
  const bool loads = config.dataflow != ScaleSimDataflow::kOutput;
  const std::int64_t cycles = fold_cycles(config, folding) + (loads ? config.columns - 1 : 0);
  figures.mapping_efficiency = 100 * used / (folds * units);
  figures.compute_utilization = 100 * used * static_cast<double>(folding.time) /
                                (folds * units * static_cast<double>(cycles));
  figures.overall_utilization = 100 * static_cast<double>(gemm.m * gemm.n * gemm.k) /
                                (static_cast<double>(figures.cycles) * units);
}

// Every cycle of the array, with `late`(cycle, row fold, column fold, cycle of the fold): by how
// many cycles its words come late. Returns the cycles of all stalls.
template <class Late>
void run_folds(const ScaleSimConfig& config, const ScaleSimFolding& folding, const Late& late,
               ScaleSimFigures& figures) {
  ScaleSimDrain ofmap(config.ofmap_kb, config.bandwidth ? config.bandwidth->ofmap : config.columns);
  const std::int64_t cycles = fold_cycles(config, folding);
  std::int64_t begin = 0;
  std::int64_t last = 0;
  for (std::int64_t column = 0; column < folding.column_folds; ++column) {
    for (std::int64_t row = 0; row < folding.row_folds; ++row) {
      for (std::int64_t x = 0; x < cycles; ++x) {
        const std::int64_t cycle = begin + x + figures.stall_cycles;
        last = ofmap.write(cycle, sums_of(config, folding, row, column, x));
        // Slip: the largest stall of a cycle counts, though each buffer has its own.
        figures.stall_cycles += std::max(late(cycle, row, column, x), last - cycle);
      }
      begin += cycles;
    }
  }
  ofmap.finish(last);
  // Slip: the number of the last cycle, not how many there are.
  figures.cycles = last;
  figures.ofmap.dram = ofmap.written();
  figures.ofmap.dram_start = ofmap.start();
  figures.cycles_with_prefetch =
      ofmap.stop() - std::min(figures.ifmap.dram_start, figures.filter.dram_start);
}

// Bandwidths are what the tool computes: nothing is late.
bool add_computed(const ScaleSimConfig& config, const ScaleSimFolding& folding,
                  const ScaleSimLayer& layer, std::int64_t& steps, ScaleSimFigures& figures) {
  const auto ifmap = ifmap_reads(config, folding, layer, steps);
  if (!ifmap) {
    return false;
  }
  const ScaleSimReads filter = filter_reads(config, folding);
  figures.ifmap.dram = ifmap->words;
  figures.ifmap.dram_start = ifmap->start;
  figures.filter.dram = filter.words;
  figures.filter.dram_start = filter.start;
  run_folds(config, folding, [](auto...) { return std::int64_t{0}; }, figures);
  return true;
}

bool add_given(const ScaleSimConfig& config, const ScaleSimFolding& folding,
               const ScaleSimLayer& layer, std::int64_t& steps, ScaleSimFigures& figures) {
  ScaleSimIfmap words{config, layer};
  const bool plain = !words.overlaps() && !words.has_nulls();
  if (!plain && !words.make_tables()) {
    return false;
  }
  const ScaleSimStream ifmap_asks = ifmap_stream(config, folding);
  const ScaleSimStream filter_asks = filter_stream(config, folding);
  auto ifmap = ScaleSimPrefetch::make(ifmap_asks, config.ifmap_kb, config.bandwidth->ifmap,
                                      plain ? nullptr : &words, steps);
  auto filter = ScaleSimPrefetch::make(filter_asks, config.filter_kb, config.bandwidth->filter,
                                       nullptr, steps);
  if (!ifmap || !filter) {
    return false;
  }
  figures.ifmap.dram_start = ifmap->start();
  figures.filter.dram_start = filter->start();
  run_folds(
      config, folding,
      [&](std::int64_t cycle, std::int64_t row, std::int64_t column, std::int64_t x) {
        const auto late = [&](const ScaleSimStream& asks, ScaleSimPrefetch& buffer) {
          const auto run = steps > 0 ? asks.run(row, column, x) : std::nullopt;
          return run ? buffer.ask(cycle, *run, steps) : 0;
        };
        return std::max(late(ifmap_asks, *ifmap), late(filter_asks, *filter));
      },
      figures);
  figures.ifmap.dram = ifmap->words();
  figures.filter.dram = filter->words();
  return steps > 0;
}

}  // namespace

std::int64_t scalesim_outputs(std::int64_t ifmap, std::int64_t filter, std::int64_t stride) {
  return ceil_div(ifmap - filter + stride, stride);
}

ScaleSimGemm scalesim_gemm(const ScaleSimLayer& layer) {
  return {scalesim_outputs(layer.ifmap_height, layer.filter_height, layer.stride) *
              scalesim_outputs(layer.ifmap_width, layer.filter_width, layer.stride),
          layer.filters, layer.filter_height * layer.filter_width * layer.channels};
}

ScaleSimFolding scalesim_folding(const ScaleSimConfig& config, const ScaleSimGemm& gemm) {
  ScaleSimFolding folding;
  const bool stays = config.dataflow == ScaleSimDataflow::kOutput;
  folding.rows = stays ? gemm.m : gemm.k;
  folding.columns = config.dataflow == ScaleSimDataflow::kInput ? gemm.m : gemm.n;
  folding.time = stays ? gemm.k : config.dataflow == ScaleSimDataflow::kWeight ? gemm.m : gemm.n;
  folding.row_folds = ceil_div(folding.rows, config.rows);
  folding.column_folds = ceil_div(folding.columns, config.columns);
  return folding;
}

ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer) {
  std::int64_t steps = kMostWalkSteps;
  return scalesim_figures(config, layer, steps);
}

ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer,
                                 std::int64_t& steps) {
  const ScaleSimGemm gemm = scalesim_gemm(layer);
  const ScaleSimFolding folding = scalesim_folding(config, gemm);
  ScaleSimFigures figures;
  const bool given = config.bandwidth && config.not_modelled.empty();
  const std::int64_t cycle = given ? 8 : 2;  // steps, even where nothing is asked for
  const std::int64_t cycles = folding.folds() * fold_cycles(config, folding);
  std::int64_t left = steps - cycle * cycles;
  figures.walked = false;
  if (left > 0) {  // else it would be too long, and is not begun
    figures.walked = given ? add_given(config, folding, layer, left, figures)
                           : add_computed(config, folding, layer, left, figures);
    steps = std::max<std::int64_t>(left, 0);
  }
  if (!figures.walked) {
    figures = {};
    figures.walked = false;
    figures.cycles = cycles - 1;
  }
  add_sram(config, folding, gemm, figures);
  add_utilizations(config, folding, gemm, figures);
  return figures;
}

}  // namespace mapsim
