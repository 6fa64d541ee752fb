// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/gpu/estimate.hpp"

namespace mapsim {

// The legal kernels among those that vendor libraries choose from: the block and warp tiles that
// CUTLASS's profiler and cuBLAS's kernel names show (ampere_*_256x128_32x3, sm90_xmma_*_128x256x64
// and so on), with K whole or split by a power of two. On Hopper warpgroup MMA, before it ldmatrix
// and mma.sync; FMA kernels where a precision has no tensor cores (f32). Never empty for a
// precision that the chip multiplies on one of them.
std::vector<KernelChoice> library_kernels(const Gpu& gpu, const GemmProblem& problem);

// The fastest of them: what a library that chose well would take. `kernels` must not be empty.
struct LibraryChoice {
  KernelChoice kernel;
  GpuEstimate estimate;
};
LibraryChoice library_estimate(const Gpu& gpu, const GpuCalibration& calibration,
                               const GemmProblem& problem);

}  // namespace mapsim
