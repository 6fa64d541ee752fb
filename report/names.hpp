// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "costmodel/evaluate.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

// Words for values, the same on the command line, in text and in JSON.
const char* to_string(Proof proof);  // optimal, infeasible, bounded, none
// The same, and ties_open: the latency is proven, but of equally fast mappings not all were looked
// at, and one may need less energy.
const char* status_of(const Certificate& certificate);

// "MAC", "DRAM", "GLB read", "GLB write": a resource by the node that it belongs to.
std::string resource_name(const Arch& arch, const Resource& resource);
std::string port_name(const Arch& arch, LevelId level, PortKind kind);
// "weight-stationary": by what stays in the array of a timing model; empty: nothing does.
std::string dataflow_name(const Workload& workload, const ComputeTime& time);
// "GLB: needs 120 KiB for its tiles, has 108 KiB"
std::string infeasible_text(const Arch& arch, const Infeasible& reason);

}  // namespace mapsim
