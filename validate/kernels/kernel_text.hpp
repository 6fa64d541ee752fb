// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "validate/kernels/source.hpp"

namespace mapsim {

// The .cuh files of this folder, embedded when the program is built.
namespace kernel_text {
extern const char* const device;
extern const char* const common;
extern const char* const operand;
extern const char* const gemm;
extern const char* const device_mma;
extern const char* const tile_loader;
extern const char* const epilogue;
extern const char* const mma_gemm;
extern const char* const device_wgmma;
extern const char* const wgmma_gemm;
extern const char* const harness;
extern const char* const harness_maps;
}  // namespace kernel_text

// The part of the kernel text before its constants (the Spec).
std::string kernel_body(const KernelSpec& spec);

// The constants of a kernel, a struct of this name in the namespace of the kernels. They tell one
// kernel from another.
std::string spec_text(const Gpu& gpu, const KernelSpec& spec, const std::string& name);

}  // namespace mapsim
