// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "validate/kernels/source_parts.hpp"

namespace mapsim {

// The parts of kernel_source(), not_generated() and kernel_buffers() for kernels of the path mma.

// Parts that kernels of the paths mma and wgmma share: types, layouts and widths of accesses in a
// name; the epilogue in a name; constants of both in a text; why an epilogue cannot be written.
std::string type_letters(const KernelSpec& spec);
std::string epilogue_letters(const KernelSpec& spec);
void add_constants(const KernelSpec& spec, SpecText& text);
std::optional<std::string> bad_epilogue(const KernelSpec& spec);

// The name of a kernel, which tells texts apart: extents, slices and raster are arguments.
std::string mma_name(const KernelSpec& spec);
std::string mma_text();  // the part of the text that all kernels share
// The struct `name` of a kernel's constants.
std::string mma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name);
// Blocks of the kernel that sums the slices of a split K.
std::int64_t mma_reduce_blocks(const KernelSpec& spec);
// Why there is no such kernel; nothing: there is.
std::optional<std::string> not_generated_mma(const KernelSpec& spec);
// Sets the arguments of a problem, and the sizes of its buffers.
void add_run_time(const KernelSpec& spec, KernelBuffers& buffers);

}  // namespace mapsim
