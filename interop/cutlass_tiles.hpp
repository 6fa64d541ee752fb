// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// The kernels that CUTLASS's generator (python/cutlass_library/generator.py of 4.x) makes at its
// default level of instantiation. Problems and kernels are in the form of its library: C
// column-major. Paths are mma and wgmma, and SIMT in f32.

// Is there a kernel with these tiles, stages and warps? Kernels for Hopper choose their own stages.
bool cutlass_makes(const Gpu& gpu, GpuPrecision precision, const KernelChoice& kernel);

// The widest copies [elements] of a kernel for a problem, which the end of its name states. The
// contiguous extents of A, B and C are multiples of them. 0: no kernel has copies that are narrow
// enough.
std::int64_t cutlass_alignment(const Gpu& gpu, const GemmProblem& problem, GpuPath path);

}  // namespace mapsim
