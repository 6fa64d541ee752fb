// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "mapper/why.hpp"

namespace mapsim {

// "12.0 % above the proven optimum; of that: 9.1 % I read from DRAM, ..." in energy, and where the
// given mapping stands in the objective; then the reliefs. Of a mapping outside of the space it
// says so, and by how much it is better or worse than what is inside; without a proof, what the
// bound leaves open.
std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given);

// Which capacity or bandwidth, doubled, would help first.
std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs);

}  // namespace mapsim
