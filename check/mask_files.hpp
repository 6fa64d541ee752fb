// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "core/reader.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// A workload names the files of its zeros; a proof is about what they held when it was written.

// Reports the masks of a workload whose content is not the one that `masks` (tensor: hash) has.
void compare_masks(Reader& reader, const mapsim::Node& masks, const Workload& workload);

// What is wrong with a proof that has no hashes of a workload's masks; empty: it needs none.
std::string unproven_mask(const Workload& workload);

// What is wrong with a mask that held this.
std::string changed_mask(const std::string& path, const std::string& tensor);

}  // namespace mapsim::check
