// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "tests/validate/kernels/machine.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

// A kernel that is run on the CPU.
struct KernelCase {
  std::string name;  // letters, digits and underscores
  KernelSpec spec;
  bool has_async = true;                  // sm_80, else sm_75
  double alpha = 1, beta = 1, scale = 1;  // of the path mma
};
// A GEMM whose output is as wide as its operands; tiles are left to the caller.
KernelCase gemm_case(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                     GpuPrecision precision, MatrixLayout a, MatrixLayout b);
std::vector<KernelCase> kernel_cases();
std::vector<KernelCase> mma_cases();    // of the path mma
std::vector<KernelCase> wgmma_cases();  // of the path wgmma

// The same with a fault built in, that must be found.
struct KernelMutant {
  std::string name;
  std::string from, to;  // of the kernel text: stands there once
  KernelCase on;
};
std::vector<KernelMutant> kernel_mutants();
std::vector<KernelMutant> mma_mutants();
std::vector<KernelMutant> wgmma_mutants();

// Only what kernels are written for: compute capability and rates.
Gpu case_gpu(bool has_async);
Gpu case_gpu(const KernelCase& of);  // sm_90 for the path wgmma

// What the emitter made of them, in the same order: one thread of a block.
using Launch = void (*)(const KernelArguments& arguments, bool reduces);
std::vector<Launch> case_launches();
std::vector<Launch> mutant_launches();
std::vector<Launch> mma_case_launches();
std::vector<Launch> mma_mutant_launches();
std::vector<Launch> wgmma_case_launches();
std::vector<Launch> wgmma_mutant_launches();

}  // namespace mapsim
