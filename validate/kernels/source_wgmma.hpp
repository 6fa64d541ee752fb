// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "validate/kernels/source.hpp"

namespace mapsim {

// The parts of kernel_source() and not_generated() for kernels of the path wgmma, which also use
// add_run_time() of source_mma.hpp.

std::string wgmma_name(const KernelSpec& spec);  // tells texts apart
std::string wgmma_text();                        // the part of the text that all kernels share
// The MMA instruction of the kernel's sizes. Its operand list depends on them, so it is generated.
std::string wgmma_instruction(const KernelSpec& spec);
// The struct `name` of a kernel's constants, and the entry that calls the kernel with it.
std::string wgmma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name);
std::string wgmma_entry(const KernelSpec& spec, const std::string& name, std::int64_t threads);
// The type of a tensor map's elements, by its name in cuda.h.
const char* map_type_name(GpuPrecision precision);
// Blocks of the grid, whole clusters.
std::int64_t wgmma_blocks(const KernelSpec& spec);
// Why there is no such kernel; nothing: there is.
std::optional<std::string> not_generated_wgmma(const KernelSpec& spec);

}  // namespace mapsim
