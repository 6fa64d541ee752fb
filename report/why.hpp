// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "mapper/why.hpp"

namespace mapsim {

// "12.0 % above the proven optimum; of that: 9.1 % I read from DRAM, ..." in energy, and where the
// given mapping stands in the objective.
std::string gap_text(const Problem& problem, const Objective& objective, const Cost& given,
                     const Cost& best);

// Which capacity or bandwidth, doubled, would help first.
std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs);

}  // namespace mapsim
