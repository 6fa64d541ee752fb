// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "core/reader.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Reads `density` of a layer into its tensors: a number per tensor or role, or where the elements
// are that are not zero (docs/sparsity.md). `file`: masks are named from its folder. `may_move`: a
// mask may have moved with the file, whose reader compares what it holds (mask_path).
void read_density(Reader& reader, const Node* node, const std::string& file, Workload& workload,
                  bool may_move = false);

}  // namespace mapsim
