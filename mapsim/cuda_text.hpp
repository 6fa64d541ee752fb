// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapsim/written_kernels.hpp"

namespace mapsim {

// The CUDA C++ of a kernel of this layer. Comments state its launch parameters (grid, threads,
// arguments) and its predicted time. `before`: before_text() of a search; empty if the kernel is
// ranked first. Requires that not_generated() does not refuse `spec`.
std::string cuda_text(const Gpu& gpu, const Workload& workload, const KernelSpec& spec,
                      const std::string& before = "");

// A program in CUDA C++ that checks and times these kernels; none may be of the path wmma.
std::string cuda_program(const Gpu& gpu, const WrittenKernels& written);

}  // namespace mapsim
