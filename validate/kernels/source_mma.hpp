// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "validate/kernels/source_parts.hpp"

namespace mapsim {

// The parts of kernel_source(), not_generated() and kernel_buffers() that kernels of the path mma
// have of their own.

// What kernels with sizes at run time share, those of the path wgmma, too: types, layouts and
// widths of accesses; the epilogue; its constants in a text; why the epilogue cannot be.
std::string type_letters(const KernelSpec& spec);
std::string epilogue_letters(const KernelSpec& spec);
void add_constants(const KernelSpec& spec, SpecText& text);
std::optional<std::string> bad_epilogue(const KernelSpec& spec);

// What tells one text from another: the problem's extents, slices and raster are arguments.
std::string mma_name(const KernelSpec& spec);
std::string mma_text();
std::string mma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name);
std::int64_t mma_reduce_blocks(const KernelSpec& spec);
std::optional<std::string> not_generated_mma(const KernelSpec& spec);
// The problem as arguments, and the buffers that take them.
void add_run_time(const KernelSpec& spec, KernelBuffers& buffers);

}  // namespace mapsim
