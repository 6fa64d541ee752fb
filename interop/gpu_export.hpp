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
// cutlass3x_sm90_tensorop_... for warpgroup MMA. Empty: CUTLASS has none of this shape.
std::string cutlass_name(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

// CSV for cutlass_profiler's test lists: a header, then one line per kernel: its name and
// m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,swizzle,raster_order.
// Kernels that CUTLASS does not have are left out.
std::string cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels);

}  // namespace mapsim
