// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/workload.hpp"

namespace mapsim {

// A file that says where the zeros of a tensor are. A workload's text names it, no more: the hash
// tells whether it still says the same.
struct MaskFile {
  std::string tensor;
  std::string path;
  std::uint64_t hash = 0;  // FNV-1a of which elements are nonzero, in whatever format
};
std::vector<MaskFile> masks_of(const Workload& workload);

}  // namespace mapsim
