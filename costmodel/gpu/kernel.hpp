// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "arch/gpu.hpp"
#include "core/bytes.hpp"

namespace mapsim {

// Which index of a matrix is contiguous in memory. C is row-major.
enum class MatrixLayout : std::uint8_t { kRow, kColumn };

// C[h][m][n] (+)= sum over k of A[h][m][k] * B[h][k][n].
struct GemmProblem {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  GpuPrecision precision = GpuPrecision::kF16;
  Bytes output{2};                         // of an element of C in memory
  MatrixLayout a = MatrixLayout::kRow;     // [m][k]; CUTLASS and BLAS call row A, column B "TN"
  MatrixLayout b = MatrixLayout::kColumn;  // [n][k]
  bool adds_to_output = false;             // beta != 0: C is read, too
  // Of four neighbours of B along K two are zero (of two of tf32 one), and sparse tensor cores skip
  // them: memory and shared memory hold the others, and where they are.
  bool pruned_b = false;
  // Elements of A that memory holds, where that is less than m x k: an implicit GEMM reads each
  // input point several times, from L2.
  std::optional<std::int64_t> stored_a{};
  // Elements of A and of B that lie together in memory, where that is not a row of theirs: padded
  // rows; of an implicit GEMM the channels.
  std::optional<std::int64_t> run_a{};
  std::optional<std::int64_t> run_b{};
  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// The share of B's bits that is kept: half, and 2 bits per element kept (tf32: 4). 9/16 of operands
// of 16 b, 5/8 of 8 b (CUTLASS, mma_sparse_sm80.h).
double kept_of_b(const GemmProblem& problem);
// Of A (as memory holds it), B and C in memory [B].
std::array<double, 3> matrix_bytes(const GemmProblem& problem);
// Elements that lie together: run_a, or the contiguous extent of A; the same of B.
std::int64_t run_of_a(const GemmProblem& problem);
std::int64_t run_of_b(const GemmProblem& problem);
// The TMA, which feeds warpgroup MMA, takes strides of multiples of 16 B only (CUDA driver API,
// cuTensorMapEncodeTiled, globalStrides).
bool is_for_tma(const GemmProblem& problem);
// Can this path read A, or B, as it lies? Warpgroup MMA reads 16-bit operands along K or across,
// all others along K only: row-major A, column-major B (PTX ISA, wgmma: imm-trans-a and -b are for
// .f16 and .bf16). mma.sync of 8 bits is row.col, and ldmatrix transposes 16-bit elements only;
// wider ones are read word by word.
bool reads_as_it_lies(const GemmProblem& problem, GpuPath path, bool of_a);
bool is_for_wgmma(const GemmProblem& problem);  // both, and the TMA takes them

struct GemmTile {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  friend auto operator<=>(const GemmTile&, const GemmTile&) = default;
};

// How an FMA kernel moves its operands through registers, if stated; a thread's part of a row is
// contiguous. 0: not stated, then pieces of 16 B without bank conflicts are assumed.
struct SimtAccess {
  std::int64_t vector_m = 0;  // elements of A that one instruction moves; of B
  std::int64_t vector_n = 0;
  std::int64_t loaders_m = 0;  // adjacent threads that copy a row of A's tile; of B's
  std::int64_t loaders_n = 0;
  bool is_said() const { return vector_m > 0 || vector_n > 0; }
  friend auto operator<=>(const SimtAccess&, const SimtAccess&) = default;
};

// A GEMM kernel. Extents in elements.
struct KernelChoice {
  GpuPath path = GpuPath::kWmma;
  GemmTile block{128, 128, 32};   // C tile of a block, and its step along K
  GemmTile warp{64, 64, 32};      // C tile of a warp; k is the block's
  GemmTile fragment{16, 16, 16};  // of one MMA operation
  std::int64_t stages = 2;        // K steps of shared memory in flight and in use
  std::int64_t split_k = 1;       // slices of K, each a block of its own; sums through a workspace
  // Blocks are numbered along M within groups of this many block columns (Triton's GROUP_M with the
  // sides exchanged); 0: along N, row by row, as unswizzled grids are.
  std::int64_t raster = 8;
  std::int64_t padding = 8;  // elements after each row of shared memory, against bank conflicts
  std::int64_t cluster = 1;  // blocks along M to which one read of L2 brings their common B (wgmma)
  SimtAccess simt{};
  // From the compiler (NVRTC's log); absent: estimated.
  std::optional<std::int64_t> registers{};
  std::optional<std::int64_t> spilled_bytes{};  // per thread, stores and loads

  // Tiles of a block that go to a warp each; with kWgmma to a warpgroup, and one more loads.
  std::int64_t warps() const { return (block.m / warp.m) * (block.n / warp.n); }
  std::int64_t threads() const {
    return path == GpuPath::kWgmma ? 128 * (warps() + 1) : 32 * warps();
  }
  friend auto operator<=>(const KernelChoice&, const KernelChoice&) = default;
};

// "wmma 128x128x32 warp 64x64 frag 16x16x16 stages 3 split 1 raster 8 pad 8"
std::string to_string(const KernelChoice& kernel);

// A prefix of the path's name: "2:4 " for kernels of sparse tensor cores.
inline const char* before_path(const GemmProblem& problem) {
  return problem.pruned_b ? "2:4 " : "";
}

// Why `kernel` cannot run `problem` on `gpu`, and what would be right; nullopt: it can.
std::optional<std::string> illegal(const Gpu& gpu, const GemmProblem& problem,
                                   const KernelChoice& kernel);

// The kernel that a calibration which is good for times only prefers to the model's choice
// (best_fixed), if there is one and it can run `problem`.
std::optional<KernelChoice> best_on_average(const Gpu& gpu, const GemmProblem& problem,
                                            GpuPath path);

// The fragments that WMMA has for a precision; none for f32.
std::span<const GemmTile> wmma_fragments(GpuPrecision precision);

// The resources of one block, and the number of blocks that fit an SM.
enum class OccupancyLimit : std::uint8_t { kRegisters, kShared, kWarps, kBlocks };
struct GpuResources {
  std::int64_t registers = 0;  // per thread, measured or estimated
  bool registers_measured = false;
  Bytes shared{0};  // dynamic, per block, without what the system reserves
  std::int64_t blocks_per_sm = 0;
  OccupancyLimit limit = OccupancyLimit::kWarps;
};
GpuResources resources(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

// Estimated registers per thread, for kernels that were not compiled and have no limit.
std::int64_t estimated_registers(const GemmProblem& problem, const KernelChoice& kernel);

// The most registers per thread with which the block can be launched: instructions can name 255,
// and all threads share an SM's. The compiler obeys this limit (__launch_bounds__).
std::int64_t most_registers(const Gpu& gpu, const KernelChoice& kernel);

// `kernel` as a compiler must have built it, given that it ran: registers of `estimated_registers`
// above most_registers() that cannot be saved are spilled, in every step along K.
KernelChoice as_it_ran(const Gpu& gpu, const GemmProblem& problem, KernelChoice kernel);

// Blocks per SM of a kernel of `threads`, `registers` per thread and `shared` dynamic bytes; 0: it
// cannot be launched. Equals NVIDIA's cuda_occupancy.h.
std::int64_t blocks_per_sm(const Gpu& gpu, std::int64_t threads, std::int64_t registers,
                           Bytes shared, OccupancyLimit* limit = nullptr);

}  // namespace mapsim
