// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "workloads/workload.hpp"

namespace mapsim {

// Read a workload (docs/formats.md). What comes back satisfies the invariants of Workload; anything
// else throws a ConfigError with all that is wrong with the file. In place of a file: a layer as
// workloads/inline_layer.hpp has it, gemm:64x64x64.
Workload load_workload(const std::string& path);
Workload parse_workload(const std::string& text, const std::string& filename);
// The same of a proof, which may have moved with its masks and has hashes of them to compare.
Workload parse_proven_workload(const std::string& text, const std::string& filename);

}  // namespace mapsim
