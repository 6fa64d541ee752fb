// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "check/boxes.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// The exact number of mappings in a mapspace of perfect factors, decimal (docs/certificates.md).
std::string count_mappings(const Problem& problem, const Rules& rules,
                           const std::vector<Bundle>& bundles, int threads);

// The same for imperfect factors. nullopt: counting takes more than some seconds, or there are
// rules for extents.
std::optional<std::string> count_imperfect(const Problem& problem, const Rules& rules,
                                           const std::vector<Unrolling>& unrollings);

}  // namespace mapsim::check
