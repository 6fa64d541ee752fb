// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "core/units.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

struct HarnessKernel {
  KernelSpec spec;
  Seconds predicted{0};
};

// A program in CUDA C++ that checks and times these kernels, of one problem and of the path mma;
// none may be not_generated(). nvcc builds it alone.
std::string harness_source(const Gpu& gpu, std::span<const HarnessKernel> kernels);

}  // namespace mapsim
