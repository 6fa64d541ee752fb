// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/shared_memory.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMaxThreads = 1024;   // per block, every chip since sm_20
constexpr std::int64_t kMaxRegisters = 255;  // per thread, every chip since sm_35
constexpr std::int64_t kMaxCluster = 8;      // portable size, sm_90
constexpr std::int64_t kSmPartitions = 4;    // of an SM, every chip since sm_50
constexpr std::int64_t kRegisterUnit = 256;  // of an allocation for a warp
constexpr std::int64_t kOverhead = 40;       // registers of a thread: addresses, loop control

// Bytes that shared memory is allotted in, and that the system takes of every block
// (cuda_occupancy.h: cudaOccSMemAllocationGranularity, reservedSharedMemPerBlock).
std::int64_t shared_unit(const Gpu& gpu) { return gpu.compute_capability >= 80 ? 128 : 256; }
std::int64_t shared_reserved(const Gpu& gpu) { return gpu.compute_capability >= 80 ? 1024 : 0; }

constexpr std::array kHalfFragments{GemmTile{16, 16, 16}, GemmTile{32, 8, 16}, GemmTile{8, 32, 16}};
constexpr std::array kTf32Fragments{GemmTile{16, 16, 8}};
constexpr std::array kDoubleFragments{GemmTile{8, 8, 4}};

std::string tile_text(const GemmTile& tile) {
  return fmt::format("{}x{}x{}", tile.m, tile.n, tile.k);
}

// Warpgroup MMA: 64 rows of one side, a multiple of 8 up to 256 of the other, 32 B along K.
bool is_wgmma(const GemmTile& fragment, std::int64_t size) {
  const std::int64_t wide = fragment.m == 64 ? fragment.n : fragment.m;
  return (fragment.m == 64 || fragment.n == 64) && wide % 8 == 0 && wide >= 8 && wide <= 256 &&
         fragment.k * size == 32;
}

std::optional<std::string> illegal_fragment(const GemmProblem& problem,
                                            const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kSimt) {
    return kernel.fragment.k == 1 &&
                   kernel.warp.m * kernel.warp.n == 32 * kernel.fragment.m * kernel.fragment.n
               ? std::nullopt
               : std::optional<std::string>{"a thread's tile is a 32nd of its warp's, k 1"};
  }
  if (kernel.path == GpuPath::kWgmma) {
    return is_wgmma(kernel.fragment, operand_size(problem.precision).count())
               ? std::nullopt
               : std::optional<std::string>{"warpgroups multiply 64 x (8 to 256) x 32 B"};
  }
  const std::span<const GemmTile> allowed = wmma_fragments(problem.precision);
  if (std::find(allowed.begin(), allowed.end(), kernel.fragment) != allowed.end()) {
    return std::nullopt;
  }
  std::string all;
  for (const GemmTile& tile : allowed) {
    all += (all.empty() ? "" : ", ") + tile_text(tile);
  }
  return fmt::format("no fragment {} in {}; there is {}", tile_text(kernel.fragment),
                     to_string(problem.precision), all.empty() ? "none" : all);
}

// Of a thread. Warpgroups that multiply take more registers than the launch says (setmaxnreg).
std::int64_t sum_registers(const GemmProblem& problem, const KernelChoice& kernel) {
  const std::int64_t threads = kernel.path == GpuPath::kWgmma ? 128 : 32;
  return kernel.warp.m * kernel.warp.n * sum_size(problem.precision).count() / 4 / threads;
}

bool divides(const GemmTile& inner, const GemmTile& outer) {
  return inner.m > 0 && inner.n > 0 && inner.k > 0 && outer.m % inner.m == 0 &&
         outer.n % inner.n == 0 && outer.k % inner.k == 0;
}

std::optional<std::string> illegal_tiles(const Gpu& gpu, const GemmProblem& problem,
                                         const KernelChoice& kernel) {
  if (!divides(kernel.warp, kernel.block) || kernel.warp.k != kernel.block.k ||
      !divides(kernel.fragment, kernel.warp)) {
    return fmt::format("fragment {}, warp {}, block {}: each must divide the next",
                       tile_text(kernel.fragment), tile_text(kernel.warp), tile_text(kernel.block));
  }
  if (kernel.threads() > kMaxThreads) {
    return fmt::format("{} threads; at most {} per block", kernel.threads(), kMaxThreads);
  }
  if (kernel.stages < 1 || kernel.split_k < 1 || kernel.raster < 0 || kernel.padding < 0) {
    return "stages and slices of K begin at 1, raster and padding at 0";
  }
  if (kernel.cluster != 1 &&
      (kernel.path != GpuPath::kWgmma || kernel.cluster < 1 || kernel.cluster > kMaxCluster)) {
    return fmt::format("clusters of {} blocks; 1, with wgmma up to {}", kernel.cluster,
                       kMaxCluster);
  }
  const std::int64_t rows = (problem.m + kernel.block.m - 1) / kernel.block.m;
  if (kernel.cluster > rows) {
    return fmt::format("clusters of {} blocks along M, but only {} there to share B",
                       kernel.cluster, rows);
  }
  if (kernel.stages > 2 && gpu.compute_capability < 80) {
    return "more than 2 stages need cp.async, which begins with sm_80";
  }
  if (kernel.split_k > (problem.k + kernel.block.k - 1) / kernel.block.k) {
    return fmt::format("{} slices of K, but only {} steps", kernel.split_k,
                       (problem.k + kernel.block.k - 1) / kernel.block.k);
  }
  const std::int64_t row = shared_row_bytes(problem, kernel, true);
  const std::int64_t column = shared_row_bytes(problem, kernel, false);
  if (kernel.path != GpuPath::kSimt && (row % 16 != 0 || column % 16 != 0)) {
    return fmt::format(
        "rows of {} and {} B in shared memory; {} wants multiples of 16 B: change the padding", row,
        column,
        kernel.path == GpuPath::kWmma  ? "load_matrix_sync"
        : kernel.path == GpuPath::kMma ? "ldmatrix"
                                       : "the TMA");
  }
  return std::nullopt;
}

}  // namespace

std::int64_t run_of_a(const GemmProblem& problem) {
  return problem.run_a.value_or(problem.a == MatrixLayout::kRow ? problem.k : problem.m);
}
std::int64_t run_of_b(const GemmProblem& problem) {
  return problem.run_b.value_or(problem.b == MatrixLayout::kColumn ? problem.k : problem.n);
}
bool is_for_tma(const GemmProblem& problem) {
  const std::int64_t size = operand_size(problem.precision).count();
  return run_of_a(problem) * size % 16 == 0 && run_of_b(problem) * size % 16 == 0;
}

bool reads_as_it_lies(const GemmProblem& problem, GpuPath path, bool of_a) {
  const std::int64_t size = operand_size(problem.precision).count();
  const bool along_k = of_a ? problem.a == MatrixLayout::kRow : problem.b == MatrixLayout::kColumn;
  return along_k || (path == GpuPath::kWgmma ? size == 2 : path != GpuPath::kMma || size > 1);
}
bool is_for_wgmma(const GemmProblem& problem) {
  return is_for_tma(problem) && reads_as_it_lies(problem, GpuPath::kWgmma, true) &&
         reads_as_it_lies(problem, GpuPath::kWgmma, false);
}

std::optional<KernelChoice> best_on_average(const Gpu& gpu, const GemmProblem& problem,
                                            GpuPath path) {
  const GpuCalibration calibration = gpu.calibration(problem.precision, path);
  if (!calibration.best_fixed) {
    return std::nullopt;
  }
  const FixedKernel& fixed = *calibration.best_fixed;
  KernelChoice kernel;
  kernel.path = path;
  kernel.block = {fixed.block[0], fixed.block[1], fixed.block[2]};
  kernel.warp = {fixed.warp[0], fixed.warp[1], fixed.block[2]};
  kernel.fragment = {fixed.fragment[0], fixed.fragment[1], fixed.fragment[2]};
  kernel.stages = fixed.stages;
  kernel.split_k = fixed.split_k;
  kernel.raster = fixed.raster;
  kernel.padding = fixed.padding;
  kernel.cluster = fixed.cluster;
  return illegal(gpu, problem, kernel) ? std::nullopt : std::optional{kernel};
}

std::span<const GemmTile> wmma_fragments(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF16:
    case GpuPrecision::kF16Acc16:
    case GpuPrecision::kBf16:
    case GpuPrecision::kS8:
    case GpuPrecision::kFp8:
      return kHalfFragments;
    case GpuPrecision::kTf32:
      return kTf32Fragments;
    case GpuPrecision::kF64:
      return kDoubleFragments;
    case GpuPrecision::kF32:
      return {};
  }
  return {};
}

std::string to_string(const KernelChoice& kernel) {
  return fmt::format("{} {} warp {}x{} frag {} stages {} split {} raster {} pad {}{}",
                     to_string(kernel.path), tile_text(kernel.block), kernel.warp.m, kernel.warp.n,
                     tile_text(kernel.fragment), kernel.stages, kernel.split_k, kernel.raster,
                     kernel.padding,
                     kernel.cluster > 1 ? fmt::format(" cluster {}", kernel.cluster) : "") +
         (kernel.simt.is_said()
              ? fmt::format(" vectors {}x{} loaders {}x{}", kernel.simt.vector_m,
                            kernel.simt.vector_n, kernel.simt.loaders_m, kernel.simt.loaders_n)
              : "");
}

double kept_of_b(const GemmProblem& problem) {
  const double size = real(operand_size(problem.precision).count());
  return !problem.pruned_b ? 1 : 0.5 + (size == 4 ? 1.0 / 16 : 1 / (8 * size));
}

std::array<double, 3> matrix_bytes(const GemmProblem& problem) {
  const double batch = real(problem.batch);
  const double size = real(operand_size(problem.precision).count());
  return {batch * real(problem.stored_a.value_or(problem.m * problem.k)) * size,
          batch * real(problem.k) * real(problem.n) * size * kept_of_b(problem),
          batch * real(problem.m) * real(problem.n) * real(problem.output.count())};
}

std::optional<std::string> illegal(const Gpu& gpu, const GemmProblem& problem,
                                   const KernelChoice& kernel) {
  const auto [a, b, c] = matrix_bytes(problem);
  if (gpu.dram_size > Bytes{0} && a + b + c > real(gpu.dram_size.count())) {
    return fmt::format("A, B and C take {:.4g} GB; {} has {:.4g} GB of memory", (a + b + c) * 1e-9,
                       gpu.name, real(gpu.dram_size.count()) * 1e-9);
  }
  if (gpu.rate(problem.precision, kernel.path) <= 0) {
    return fmt::format("{} has no {} on the path {}", gpu.name, to_string(problem.precision),
                       to_string(kernel.path));
  }
  if (kernel.path == GpuPath::kWgmma && !is_for_tma(problem)) {
    return fmt::format(
        "runs of {} and {} elements in memory; the TMA takes multiples of 16 B: pad them, or use "
        "the path mma",
        run_of_a(problem), run_of_b(problem));
  }
  for (const bool of_a : {true, false}) {
    if (!reads_as_it_lies(problem, kernel.path, of_a)) {
      return fmt::format("{} is contiguous across K; {} of {} reads along K: transpose it",
                         of_a ? "A" : "B", to_string(kernel.path), to_string(problem.precision));
    }
  }
  if (auto reason = illegal_fragment(problem, kernel)) {
    return reason;
  }
  if (auto reason = illegal_tiles(gpu, problem, kernel)) {
    return reason;
  }
  const std::int64_t sums = sum_registers(problem, kernel);
  if (kernel.path != GpuPath::kWgmma && kernel.spilled_bytes.value_or(0) == 0 &&
      kernel.registers.value_or(sums) < sums) {
    return fmt::format("{} registers per thread; its sums alone take {}", *kernel.registers, sums);
  }
  const GpuResources need = resources(gpu, problem, kernel);
  if (need.shared > gpu.shared_per_block) {
    return fmt::format("{} B of shared memory; {} gives a block {}", need.shared.count(), gpu.name,
                       gpu.shared_per_block.count());
  }
  if (need.registers > kMaxRegisters) {
    return fmt::format("about {} registers per thread; at most {}: smaller warp tiles",
                       need.registers, kMaxRegisters);
  }
  if (need.blocks_per_sm == 0) {
    return fmt::format("{} threads of {} registers exceed an SM", kernel.threads(), need.registers);
  }
  return std::nullopt;
}

std::int64_t blocks_per_sm(const Gpu& gpu, std::int64_t threads, std::int64_t registers,
                           Bytes shared, OccupancyLimit* limit) {
  if (threads < 1 || threads > kMaxThreads || registers > kMaxRegisters ||
      shared > gpu.shared_per_block) {
    return 0;
  }
  const std::int64_t warps = (threads + 31) / 32;
  const std::int64_t per_warp = round_up(32 * std::max<std::int64_t>(registers, 1), kRegisterUnit);
  const std::int64_t register_warps = kSmPartitions * (gpu.registers / kSmPartitions / per_warp);
  const std::int64_t block_bytes =
      round_up(shared.count() + shared_reserved(gpu), shared_unit(gpu));
  const std::array<std::int64_t, 4> fits{
      register_warps / warps,
      block_bytes == 0 ? gpu.max_blocks : gpu.shared_per_sm.count() / block_bytes,
      gpu.max_warps / warps, gpu.max_blocks};
  const auto least = std::min_element(fits.begin(), fits.end());
  if (limit != nullptr) {
    *limit = static_cast<OccupancyLimit>(least - fits.begin());
  }
  return *least;
}

// Accumulators, the fragments of this step of K and of the next, and about 40 for addresses and
// loop control; of a thread. Compared with the compiler in docs/gpu.md.
std::int64_t estimated_registers(const GemmProblem& problem, const KernelChoice& kernel) {
  const std::int64_t threads = kernel.path == GpuPath::kWgmma ? 128 : 32;
  const std::int64_t sums = sum_registers(problem, kernel);
  if (kernel.path == GpuPath::kWgmma) {
    return sums + kOverhead;  // operands come from shared memory
  }
  const std::int64_t fragment_bytes = kernel.fragment.k * operand_size(problem.precision).count();
  const bool simt = kernel.path == GpuPath::kSimt;
  const std::int64_t rows =
      simt ? 32 * (kernel.fragment.m + kernel.fragment.n) : kernel.warp.m + kernel.warp.n;
  return sums + 2 * rows * fragment_bytes / 4 / threads + kOverhead;
}

namespace {

// Without copies of the next step's fragments, and with addresses computed anew: what a compiler
// that has to keep to a limit does before it spills.
std::int64_t least_registers(const GemmProblem& problem, const KernelChoice& kernel) {
  constexpr std::int64_t kAddresses = 24;
  const std::int64_t sums = sum_registers(problem, kernel);
  return sums + (estimated_registers(problem, kernel) - sums - kOverhead) / 2 + kAddresses;
}

}  // namespace

std::int64_t most_registers(const Gpu& gpu, const KernelChoice& kernel) {
  constexpr std::int64_t kUnit = 8;
  return std::min(kMaxRegisters, gpu.registers / kernel.threads() / kUnit * kUnit);
}

KernelChoice as_it_ran(const Gpu& gpu, const GemmProblem& problem, KernelChoice kernel) {
  constexpr std::int64_t kThereAndBack = 8;  // bytes of a register
  const std::int64_t most = most_registers(gpu, kernel);
  if (kernel.path != GpuPath::kWgmma && !kernel.registers &&
      least_registers(problem, kernel) > most) {
    const std::int64_t spilled = estimated_registers(problem, kernel) - most;
    kernel.registers = most;
    kernel.spilled_bytes = kThereAndBack * spilled * (kernel.block.k / kernel.fragment.k);
  }
  return kernel;
}

GpuResources resources(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  GpuResources result;
  result.registers_measured = kernel.registers.has_value();
  result.registers = kernel.registers.value_or(estimated_registers(problem, kernel));
  if (const std::int64_t most = most_registers(gpu, kernel);
      !kernel.registers && result.registers > most && kernel.path != GpuPath::kWgmma &&
      least_registers(problem, kernel) <= most) {
    result.registers = most;
  }
  result.shared = shared_bytes(problem, kernel);
  result.blocks_per_sm =
      blocks_per_sm(gpu, kernel.threads(), result.registers, result.shared, &result.limit);
  return result;
}

}  // namespace mapsim
