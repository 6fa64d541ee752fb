// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/mapping.hpp"
#include "costmodel/problem.hpp"
#include "interop/scalesim.hpp"
#include "interop/scalesim_compat.hpp"

namespace mapsim {

// A SCALE-Sim machine and its layers in our words, as YAML.

// DRAM, an SRAM for each operand, the array, a register for what stays, MACs with a systolic
// timing. Energies are those of 45 nm; the tool has none.
std::string scalesim_arch_text(const ScaleSimConfig& config);

// The layer as it is: a convolution (depthwise with all its channels) or a GEMM. `name` is a name
// of ours.
std::string scalesim_workload_text(const ScaleSimLayer& layer, const std::string& name);

// The layer as the tool sees it: a GEMM on the unfolded ifmap, one after the other for each copy.
std::string scalesim_gemm_text(const ScaleSimGemm& gemm, std::int64_t copies,
                               const std::string& name);
// Without the pixels that the tool rounds up to.
ScaleSimGemm whole_gemm(const ScaleSimLayer& layer);

// The tool's dataflow as a mapping of such a GEMM: column folds, row folds, time. Each operand lies
// in its SRAM from as far out as it fits; where not even a fold fits, time is cut.
Mapping scalesim_mapping(const Problem& problem, const ScaleSimConfig& config);

}  // namespace mapsim
