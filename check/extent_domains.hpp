// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

// Every ceil(bound/n), ascending.
std::vector<std::int64_t> even_extents(std::int64_t bound);

// Imperfect factors: the extents that tiles may have, per dim, ascending from 1 to the bound D.
// They are every ceil(D/n), or only those with n <= `pieces` and the divisors, and the extents that
// the rules list.
using ExtentDomains = PerDim<std::vector<std::int64_t>>;
ExtentDomains list_extent_domains(const Workload& workload, const Rules& rules);

// The extent to which a parallel loop over `instances` cuts a tile. nullopt: fewer instances would
// suffice, or tiles may not have that extent.
std::optional<std::int64_t> block_of(const std::vector<std::int64_t>& domain, std::int64_t tile,
                                     std::int64_t instances);

}  // namespace mapsim::check
