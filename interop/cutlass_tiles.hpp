// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Which kernels CUTLASS's generator makes (python/cutlass_library/generator.py of 4.x) at its
// default level of instantiation. Problems and kernels here are in the form of its library: C
// column-major. Paths: mma and wgmma, and SIMT in f32.

// Is there a kernel with these tiles, stages and warps? Hopper's choose their stages themselves.
bool cutlass_makes(const Gpu& gpu, GpuPrecision precision, const KernelChoice& kernel);

// The widest copies of a kernel for a problem [elements], which its name ends with: A, B and C are
// a multiple of them along what is contiguous. 0: it has none that are narrow enough.
std::int64_t cutlass_alignment(const Gpu& gpu, const GemmProblem& problem, GpuPath path);

}  // namespace mapsim
