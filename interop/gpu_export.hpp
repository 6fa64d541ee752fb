// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Kernels for other tools; each is written once, in the order given.

// Python: a list of triton.Config with BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M and SPLIT_K, which
// Triton's matmul tutorial calls BLOCK_SIZE_M, GROUP_SIZE_M and so on. Triton groups block rows
// where we group columns: GROUP_M is the number of block rows that a wave covers, so that waves
// have the same shape. Blocks below 16 are left out: tl.dot takes none before Triton 3.4.
std::string triton_configs(const Gpu& gpu, const GemmProblem& problem,
                           const std::vector<KernelChoice>& kernels);

// The name that CUTLASS's generator (python/cutlass_library of 4.x) gives a kernel.
// - Up to Ada: cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align8; the type of C stands in
//   front if it differs from that of the sums.
// - Hopper (warpgroup MMA): cutlass3x_sm90_tensorop_gemm_bf16_bf16_f32_bf16_bf16_...
// The library's kernels write C column-major, so the name is that of C^T = B^T A^T. Empty: at its
// default level the generator makes no kernel with these tiles, stages and warps.
std::string cutlass_name(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

// CSV for cutlass_profiler --testlist-file: a header of the profiler's own argument names, then one
// line per kernel, at most `most`. swizzle_size is 1, 2, 4 or 8, the greatest that is not above the
// kernel's.
struct CutlassList {
  std::string text;
  std::size_t written = 0;
  std::size_t left_out = 0;  // kernels before the last one written that CUTLASS does not have
};
CutlassList cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels, std::size_t most = 1'000);

}  // namespace mapsim
