// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "mapper/gpu/search.hpp"
#include "report/json.hpp"

namespace mapsim {

// A search of kernels: what was asked, and what came of it.
struct KernelReport {
  Gpu gpu;
  Workload workload;
  GpuSearchResult result;
};

// For people: the ranked kernels, each with its predicted time, what bounds it, what it takes;
// which are as good as the first; how far to trust it; constraints that the layer violates.
std::string kernels_text(const KernelReport& report);

// For programs: docs/results.md.
std::string kernels_json(const Provenance& origin, const KernelReport& report);

}  // namespace mapsim
