// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/estimate.hpp"

namespace mapsim {
namespace {

// The rectangle of `slots` consecutive blocks: along M within groups of `raster` columns, or along
// N, row by row. A group that is shorter than a wave takes the next group along.
// Clusters stay whole.
void set_rectangle(GpuWaves& waves, std::int64_t raster, std::int64_t cluster) {
  const std::int64_t clusters = std::max<std::int64_t>(1, waves.slots / cluster);
  const std::int64_t group =
      std::min({waves.columns, clusters, raster == 0 ? waves.columns : raster});
  const std::int64_t rows = std::max(cluster, waves.slots / group / cluster * cluster);
  waves.wave_rows = std::clamp<std::int64_t>(rows, 1, waves.rows);
  waves.wave_columns = group;
  if (waves.wave_rows == waves.rows) {
    waves.wave_columns = std::clamp(waves.slots / waves.rows, group, waves.columns);
  }
}

}  // namespace

GpuWaves waves(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel,
               std::int64_t blocks_per_sm) {
  GpuWaves result;
  result.rows = ceil_div(problem.m, kernel.block.m);
  result.columns = ceil_div(problem.n, kernel.block.n);
  const std::int64_t columns = result.columns * kernel.split_k * problem.batch;
  result.blocks = result.rows * columns;
  // Clusters are launched whole: blocks that have no part of C take their slots all the same.
  const std::int64_t launched = ceil_div(result.rows, kernel.cluster) * kernel.cluster * columns;
  result.slots = gpu.sms * blocks_per_sm;
  result.full = launched / result.slots;
  result.rest = launched % result.slots;
  set_rectangle(result, kernel.raster, kernel.cluster);
  return result;
}

// docs/gpu.md, Traffic. S slices of K are S problems of K/S; with G x H blocks in the grid, g x h
// in a wave: DRAM reads of A are M K ceil(H/h) unless L2 keeps it, those of B K N ceil(G/g); the
// operand that the outer loop over waves holds still is read once if L2 keeps the group's part.
GpuTraffic traffic(const GemmProblem& problem, const KernelChoice& kernel, const GpuWaves& waves) {
  const double size = real(operand_size(problem.precision).count());
  const double sum = real(sum_size(problem.precision).count());
  const double slices = real(problem.batch * kernel.split_k);
  const double depth = real(problem.k) / real(kernel.split_k);
  const double a = real(problem.m) * depth * size;  // of one slice
  const double b_size = size * kept_of_b(problem);
  const double b = real(problem.n) * depth * b_size;
  const double stored =
      problem.stored_a ? real(*problem.stored_a) / (real(problem.m) * real(problem.k)) : 1;
  const double row_waves = real(ceil_div(waves.rows, waves.wave_rows));
  const double column_waves = real(ceil_div(waves.columns, waves.wave_columns));
  const double wave_m = std::min(real(waves.wave_rows * kernel.block.m), real(problem.m));
  const double wave_n = std::min(real(waves.wave_columns * kernel.block.n), real(problem.n));
  const bool by_columns = kernel.raster != 0;

  GpuTraffic result;
  // The blocks of a wave are a step apart at most: however many are on their way, two are in use.
  const double step = real(2 * kernel.block.k) * size;
  const double b_step = real(2 * kernel.block.k) * b_size;
  result.holds[0] = {wave_m * stored * step + wave_n * b_step,
                     slices * (a * stored * column_waves + b * row_waves)};
  result.holds[1] = by_columns ? GpuTraffic::Hold{wave_n * depth * b_size + wave_m * stored * step,
                                                  slices * (a * stored * column_waves + b)}
                               : GpuTraffic::Hold{wave_m * stored * depth * size + wave_n * b_step,
                                                  slices * (a * stored + b * row_waves)};
  result.holds[2] = {a * stored + b, slices * (a * stored + b)};

  const double outputs = real(problem.batch) * real(problem.m) * real(problem.n);
  const double written = outputs * real(problem.output.count());
  result.dram_sums = written * (problem.adds_to_output ? 2 : 1);
  result.workspace = kernel.split_k > 1 ? outputs * real(kernel.split_k) * sum : 0;
  const double readers = real(ceil_div(waves.rows, kernel.cluster));  // of B
  result.l2_read = slices * (a * real(waves.columns) + b * readers) + result.workspace +
                   (problem.adds_to_output ? written : 0);
  result.l2_write = written + result.workspace;

  const double block_steps = real(ceil_div(ceil_div(problem.k, kernel.split_k), kernel.block.k));
  const double warp_steps = real(waves.blocks * kernel.warps()) * block_steps;
  const double tile =
      real(kernel.block.k) * (real(kernel.block.m) * size + real(kernel.block.n) * b_size);
  result.shared_write = real(waves.blocks) * block_steps * tile;
  const GemmTile& fragment = kernel.fragment;
  const double operands = real((fragment.m + fragment.n) * fragment.k) * size;
  const double per_warp_step = real(kernel.warp.m / fragment.m * (kernel.warp.n / fragment.n)) *
                               real(kernel.block.k / fragment.k);
  const double operations = warp_steps * per_warp_step;
  if (kernel.path == GpuPath::kWgmma) {
    result.shared_read = operations * operands;
  } else {
    result.shared_read = warp_steps * real((kernel.warp.m + kernel.warp.n) * kernel.block.k) * size;
    result.register_read = operations * operands;
  }
  result.register_write = operations * real(fragment.m * fragment.n) * sum;
  result.register_read += result.register_write;
  return result;
}

}  // namespace mapsim
