// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// The kernels that a library such as cuBLAS chooses from, as far as its users see them: block tiles
// of powers of two, K steps of 128 B, as many stages as fit, up to 32 slices of K. They use
// warpgroup MMA where the chip has it, else mma.sync, else FMA units. A library does not say which
// kernel it takes, so the time of its GEMM is predicted as the least time of these. All are legal.
// Tiles that lie outside of the problem by more than half are left out unless they are the
// smallest.
std::vector<KernelChoice> library_kernels(const Gpu& gpu, const GemmProblem& problem);

}  // namespace mapsim
