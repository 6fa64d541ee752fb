// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// Words for values, the same on the command line, in texts and in JSON.
const char* to_string(Proof proof);  // optimal, infeasible, bounded, none
// The same, or ties_open: the latency is proven, but not all equally fast mappings were compared,
// so one may need less energy.
const char* status_of(const Certificate& certificate);

// A resource by its node: "MAC", "DRAM", "GLB read", "GLB write".
std::string resource_name(const Arch& arch, const Resource& resource);
std::string port_name(const Arch& arch, LevelId level, PortKind kind);
// "weight-stationary": named by the tensor that stays in the array of a timing model. Empty: none
// stays.
std::string dataflow_name(const Workload& workload, const ComputeTime& time);
// Why a mapping does not fit: "GLB: needs 120 KiB for its tiles, has 108 KiB".
std::string infeasible_text(const Arch& arch, const Infeasible& reason);

}  // namespace mapsim
