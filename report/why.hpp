// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "mapper/why.hpp"

namespace mapsim {

// How far a mapping is above the optimum, for people: "12.0 % above the proven optimum; of
// that: 9.1 % I read from DRAM, ..." in energy, the value of the objective, then the reliefs. For a
// mapping outside of the mapspace the text states how much better or worse it is than the best
// inside; without a proof, what the bound leaves open.
std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given);

// How much each capacity and bandwidth would help if it were doubled, the most useful first.
std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs);

}  // namespace mapsim
