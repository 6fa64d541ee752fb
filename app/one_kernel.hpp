// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "app/gpu_request.hpp"
#include "interop/gpu_kernel.hpp"

namespace mapsim {

// The kernel of `wish`, on `path` where that names none. Where nothing was said: warps of 64 x 64,
// or of 64 rows across the whole block for a warpgroup; 3 stages where copies are asynchronous
// (sm_80), else 2; blocks in groups of 8 columns; the rest as completed() has it. May be illegal().
KernelChoice kernel_of(const Gpu& gpu, const GemmProblem& problem, const KernelWish& wish,
                       GpuPath path);

// As request_of() of two options; what they leave open is that of the form `wish` is from. (How the
// tensors of a convolution lie, forms do not say.)
GpuRequest request_of(const std::string& precision, const std::string& layout,
                      const KernelWish& wish, const Workload& workload);

}  // namespace mapsim
