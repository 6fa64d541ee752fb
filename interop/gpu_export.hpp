// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Kernels for other tools; each kernel once, in the order given.

// Python: a list of triton.Config with BLOCK_M, BLOCK_N, BLOCK_K, GROUP_M and SPLIT_K, as Triton's
// matmul tutorial names them. Triton groups block rows where we group columns: GROUP_M is the
// number of block rows that a wave covers, so that waves have the same shape.
std::string triton_configs(const Gpu& gpu, const GemmProblem& problem,
                           const std::vector<KernelChoice>& kernels);

// CUTLASS's name of a kernel: cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align8 up to Ada,
// cutlass3x_sm90_tensorop_... for warpgroup MMA. CUTLASS's warpgroups take rows; a kernel whose
// warpgroups take columns is that of C^T = B^T A^T, with m and n exchanged. Empty: CUTLASS has none
// of this shape.
std::string cutlass_name(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

// CSV for cutlass_profiler's test lists: a header, then one line per kernel: its name and
// m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,swizzle,raster_order.
// At most `most`. swizzle is 1, 2, 4 or 8, the greatest that is not above the kernel's.
struct CutlassList {
  std::string text;
  std::size_t written = 0;
  std::size_t left_out = 0;  // kernels before the last one written that CUTLASS does not have
};
CutlassList cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels, std::size_t most = 1'000);

}  // namespace mapsim
