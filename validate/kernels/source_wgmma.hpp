// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "validate/kernels/source.hpp"

namespace mapsim {

// The parts of kernel_source() and not_generated() that kernels of the path wgmma have of their
// own; add_run_time() of source_mma.hpp is theirs, too.

std::string wgmma_name(const KernelSpec& spec);
std::string wgmma_text();
// The MMA instruction of the kernel's sizes, which no template can write.
std::string wgmma_instruction(const KernelSpec& spec);
std::string wgmma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name);
std::string wgmma_entry(const KernelSpec& spec, const std::string& name, std::int64_t threads);
// Of a tensor map, in the words of the CUDA driver's header.
const char* map_type_name(GpuPrecision precision);
std::int64_t wgmma_blocks(const KernelSpec& spec);
std::optional<std::string> not_generated_wgmma(const KernelSpec& spec);

}  // namespace mapsim
