// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "validate/kernels/source.hpp"

namespace mapsim {

// The parts of kernel_source(), not_generated() and kernel_buffers() that kernels of the path mma
// have of their own.

// What tells one text from another: the problem's extents, slices and raster are arguments.
std::string mma_name(const KernelSpec& spec);
std::string mma_text();
std::string mma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name);
std::int64_t mma_reduce_blocks(const KernelSpec& spec);
std::optional<std::string> not_generated_mma(const KernelSpec& spec);
// The problem as arguments, and the buffers that take them.
void add_run_time(const KernelSpec& spec, KernelBuffers& buffers);

}  // namespace mapsim
