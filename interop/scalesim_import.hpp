// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "interop/scalesim.hpp"
#include "interop/scalesim_compat.hpp"

namespace mapsim {

// A SCALE-Sim machine and its layers as YAML of mapsim.

// The machine: DRAM, an SRAM for each operand, the array, a register for the stationary tensor, and
// MACs with the systolic timing model. Energies are those of 45 nm, because the tool has none.
std::string scalesim_arch_text(const ScaleSimConfig& config);

// The layer: a convolution (a depthwise one with all its channels) or a GEMM. `name` must be valid
// as a workload's name.
std::string scalesim_workload_text(const ScaleSimLayer& layer, const std::string& name);

// The layer as the tool computes it: a GEMM on the unfolded ifmap, `copies` times in turn.
std::string scalesim_gemm_text(const ScaleSimGemm& gemm, std::int64_t copies,
                               const std::string& name);
// The GEMM of a layer without the pixels that the tool's rounding up adds.
ScaleSimGemm whole_gemm(const ScaleSimLayer& layer);

// The tool's dataflow as a mapping of such a GEMM: loops over column folds, row folds and time.
// Each operand is kept in its SRAM as far out as it fits; if not even a fold fits, time is tiled.
Mapping scalesim_mapping(const Problem& problem, const ScaleSimConfig& config);

}  // namespace mapsim
