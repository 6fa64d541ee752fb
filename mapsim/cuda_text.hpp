// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapsim/written_kernels.hpp"

namespace mapsim {

// The CUDA C++ of a kernel of this layer, with what it takes to launch it as comments: grid,
// threads, arguments, and the predicted time. `before`: before_text() of a search; empty: it is the
// first. `spec` must not be not_generated().
std::string cuda_text(const Gpu& gpu, const Workload& workload, const KernelSpec& spec,
                      const std::string& before = "");

// A program in CUDA C++ that checks and times these kernels; none may be of the path wmma.
std::string cuda_program(const Gpu& gpu, const WrittenKernels& written);

}  // namespace mapsim
