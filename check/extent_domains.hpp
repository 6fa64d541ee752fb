// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/rules.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// Extents that tiles may have where factors are imperfect, per dim, ascending from 1 to the bound
// D: every ceil(D/n), or those of the first `pieces` n and the divisors, and what the rules list.
using ExtentDomains = PerDim<std::vector<std::int64_t>>;
ExtentDomains list_extent_domains(const Workload& workload, const Rules& rules);

// What a parallel loop over so many instances leaves of a tile; nullopt: fewer would do, or tiles
// may not have that extent.
std::optional<std::int64_t> block_of(const std::vector<std::int64_t>& domain, std::int64_t tile,
                                     std::int64_t instances);

// Every unrolling of an imperfect space, each once, with its axes: any number of instances that
// some tile gives work to. X splits a tile before Y does.
std::vector<Unrolling> list_imperfect_unrollings(const Problem& problem, const Rules& rules);

}  // namespace mapsim::check
