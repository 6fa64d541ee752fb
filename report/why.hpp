// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mapper/why.hpp"

namespace mapsim {

// What a mapping is held against: the proven optimum, and what would better it.
struct GapReport {
  Objective objective = Objective::kEnergy;
  std::optional<Cost> best;  // nullopt: nothing in the searched mapspace fits
  std::vector<Relief> reliefs;
};

// "12.0 % above the proven optimum; of that: 9.1 % I read from DRAM, ..." in energy, and where the
// given mapping stands in the objective; then the reliefs.
std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given);

// Which capacity or bandwidth, doubled, would help first.
std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs);

}  // namespace mapsim
