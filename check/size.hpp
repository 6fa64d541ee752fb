// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "check/spatial.hpp"

namespace mapsim::check {

// Exact number of mappings in the declared mapspace, decimal: docs/certificates.md.
std::string count_mappings(const Problem& problem, const Rules& rules,
                           const std::vector<Unrolling>& unrollings, int threads);

}  // namespace mapsim::check
