// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "core/units.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// A kernel of the program, and its predicted time.
struct HarnessKernel {
  KernelSpec spec;
  Seconds predicted{0};  // of a launch among many in a row
};

// A program in CUDA C++ that checks and times these kernels, which are of one problem and of the
// paths mma and wgmma; none may be not_generated(). Building it takes nvcc alone. `remark`: a
// comment about the first kernel at the head of the file; may be empty.
std::string harness_source(const Gpu& gpu, std::span<const HarnessKernel> kernels,
                           const std::string& remark = "");

}  // namespace mapsim
