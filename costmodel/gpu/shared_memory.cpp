// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/shared_memory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "costmodel/gpu/simt_access.hpp"

namespace mapsim {
namespace {

// Is K the contiguous index of a tile in shared memory?
bool along_k(const GemmProblem& problem, bool of_a) {
  return of_a ? problem.a == MatrixLayout::kRow : problem.b == MatrixLayout::kColumn;
}

// Bytes that one load instruction of a warp brings: ldmatrix.x4, or .x2 on sm_75; where WMMA's
// fragments are no 16-bit or 8-bit integers to the compiler, one word per lane (two for f64). From
// the opcodes in goldens/gpu/nvrtc_resources/sass_opcode_counts.csv. ldmatrix transposes 16-bit
// elements alone (PTX ISA, ldmatrix): of another operand that lies across K a lane loads its
// elements one by one (LDS.U8 in the SASS of WMMA kernels of s8 in layouts nn, tt and nt).
std::int64_t load_bytes(const Gpu& gpu, const GemmProblem& problem, GpuPath path, bool of_a) {
  constexpr std::int64_t kLanes = 32;
  const std::int64_t size = operand_size(problem.precision).count();
  const bool plain = path == GpuPath::kWmma && (problem.precision == GpuPrecision::kBf16 ||
                                                problem.precision == GpuPrecision::kTf32);
  if (problem.precision == GpuPrecision::kF64) {
    return 256;
  }
  if (!along_k(problem, of_a) && size != 2) {
    return kLanes * size;
  }
  if (plain || gpu.compute_capability < 75) {
    return 128;
  }
  return gpu.compute_capability < 80 ? 256 : 512;
}

// One operand of a warp: `count` fragments of `bytes` each.
void add_fragments(FragmentLoads& loads, std::int64_t count, std::int64_t bytes,
                   std::int64_t conflict, std::int64_t per_load) {
  const std::int64_t per_wavefront = std::min(kWavefront, per_load);
  loads.wavefronts += static_cast<double>(count * conflict) * static_cast<double>(bytes) /
                      static_cast<double>(per_wavefront);
  loads.instructions += static_cast<double>(count * ((bytes + per_load - 1) / per_load));
}

// Threads that share an operand share its broadcast: a row of the warp's tile is read once, in
// pieces of 16 B per lane.
FragmentLoads simt_loads(const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.simt.is_said()) {
    return explicit_loads(problem, kernel);
  }
  const std::int64_t size = operand_size(problem.precision).count();
  FragmentLoads loads;
  for (const auto& [per_thread, per_warp] :
       {std::pair{kernel.fragment.m, kernel.warp.m}, {kernel.fragment.n, kernel.warp.n}}) {
    const double count = static_cast<double>((per_thread * size + 15) / 16);
    const double bytes = static_cast<double>(per_warp * size);
    loads.instructions += count;
    loads.wavefronts += std::max(count, bytes / static_cast<double>(kWavefront));
  }
  return loads;
}

}  // namespace

std::int64_t shared_row_bytes(const GemmProblem& problem, const KernelChoice& kernel, bool of_a) {
  const std::int64_t across = of_a ? kernel.block.m : kernel.block.n;
  const std::int64_t elements = along_k(problem, of_a) ? kernel.block.k : across;
  return (elements + kernel.padding) * operand_size(problem.precision).count();
}

Bytes shared_tile_bytes(const GemmProblem& problem, const KernelChoice& kernel) {
  const std::int64_t a_rows = along_k(problem, true) ? kernel.block.m : kernel.block.k;
  const std::int64_t b_rows = along_k(problem, false) ? kernel.block.n : kernel.block.k;
  const double b = static_cast<double>(b_rows * shared_row_bytes(problem, kernel, false));
  return Bytes{a_rows * shared_row_bytes(problem, kernel, true) +
               static_cast<std::int64_t>(std::ceil(b * kept_of_b(problem)))};
}

Bytes shared_bytes(const GemmProblem& problem, const KernelChoice& kernel) {
  constexpr std::int64_t kBarriers = 2 * 8;  // bytes; PTX ISA, mbarrier
  return shared_tile_bytes(problem, kernel) * kernel.stages +
         Bytes{kernel.path == GpuPath::kWgmma ? kBarriers * kernel.stages : 0};
}

std::int64_t bank_conflict(std::int64_t row_bytes) {
  return std::gcd(row_bytes / 16, std::int64_t{8});
}

FragmentLoads fragment_loads(const Gpu& gpu, const GemmProblem& problem,
                             const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kSimt) {
    return simt_loads(problem, kernel);
  }
  const std::int64_t size = operand_size(problem.precision).count();
  const bool padded = kernel.path == GpuPath::kWmma;  // the others swizzle
  const std::int64_t conflict_a =
      padded ? bank_conflict(shared_row_bytes(problem, kernel, true)) : 1;
  const std::int64_t conflict_b =
      padded ? bank_conflict(shared_row_bytes(problem, kernel, false)) : 1;
  const GemmTile& fragment = kernel.fragment;
  const std::int64_t rows = kernel.warp.m / fragment.m;
  const std::int64_t columns = kernel.warp.n / fragment.n;
  FragmentLoads loads;
  if (kernel.path == GpuPath::kWgmma) {  // every MMA reads both operands itself
    add_fragments(loads, rows * columns, (fragment.m + fragment.n) * fragment.k * size, 1,
                  kWavefront);
    loads.instructions = 0;
    return loads;
  }
  add_fragments(loads, rows, fragment.m * fragment.k * size, conflict_a,
                load_bytes(gpu, problem, kernel.path, true));
  add_fragments(loads, columns, fragment.n * fragment.k * size, conflict_b,
                load_bytes(gpu, problem, kernel.path, false));
  return loads;
}

double copy_wavefronts(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.simt.is_said()) {
    return explicit_copies(problem, kernel).wavefronts;
  }
  const std::int64_t size = operand_size(problem.precision).count();
  const bool by_rows = gpu.compute_capability >= 80 &&
                       (kernel.path == GpuPath::kWmma || kernel.path == GpuPath::kMma);
  std::int64_t wavefronts = 0;
  for (const bool of_a : {true, false}) {
    const std::int64_t across = of_a ? kernel.block.m : kernel.block.n;
    const std::int64_t row = (along_k(problem, of_a) ? kernel.block.k : across) * size;
    const std::int64_t rows = along_k(problem, of_a) ? across : kernel.block.k;
    wavefronts += by_rows ? rows * ((row + kWavefront - 1) / kWavefront)
                          : (rows * row + kWavefront - 1) / kWavefront;
  }
  return static_cast<double>(wavefronts);
}

double mma_instructions(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  const GemmTile& fragment = kernel.fragment;
  const double macs = static_cast<double>(fragment.m * fragment.n * fragment.k);
  if (kernel.path == GpuPath::kWgmma) {
    return 1;
  }
  // HFMA2 and DP4A take 4 B of each operand; a warp's instruction works on its 32 tiles at once.
  if (kernel.path == GpuPath::kSimt) {
    // With sums of fp32 halves are multiplied one by one.
    const bool alone =
        problem.precision == GpuPrecision::kF16 || problem.precision == GpuPrecision::kBf16;
    const std::int64_t at_once = 4 / operand_size(problem.precision).count();
    return macs / 32 / static_cast<double>(alone ? 1 : std::max<std::int64_t>(1, at_once));
  }
  // MACs of one instruction: m16n8k16 (f16, bf16, s8 as WMMA splits it), half of it on sm_75, a
  // fourth on sm_70; m16n8k4 (tf32); m8n8k4 (f64). From the cubins of sass_opcode_counts.csv.
  double per_instruction = gpu.compute_capability >= 80   ? 2048
                           : gpu.compute_capability >= 75 ? 1024
                                                          : 256;
  if (problem.precision == GpuPrecision::kF64) {
    per_instruction = 256;
  } else if (problem.precision == GpuPrecision::kTf32) {
    per_instruction = kernel.path == GpuPath::kWmma ? 512 : 1024;
  } else if (problem.precision == GpuPrecision::kFp8 ||
             (problem.precision == GpuPrecision::kS8 && kernel.path == GpuPath::kMma)) {
    const bool as_halves =  // costmodel/gpu/estimate.cpp, unpacked()
        gpu.compute_capability == 90 && problem.precision == GpuPrecision::kFp8;
    per_instruction = as_halves ? 2048 : gpu.compute_capability >= 80 ? 4096 : 1024;
  }
  return macs / per_instruction / (problem.pruned_b ? 2 : 1);  // mma.sp covers twice the K
}

}  // namespace mapsim
