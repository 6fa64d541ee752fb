// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mapper/why.hpp"

namespace mapsim {

// What a mapping is held against: the optimum of a mapspace, and what would better that.
struct GapReport {
  Objective objective = Objective::kEnergy;
  std::optional<Cost> best;  // nullopt: nothing in the searched mapspace fits, or was found
  std::vector<Relief> reliefs;
  std::string outside{};                // why the mapping is not in that space; empty: it is
  std::optional<double> lower_bound{};  // of the objective over the space; nullopt: best is proven
};

// "12.0 % above the proven optimum; of that: 9.1 % I read from DRAM, ..." in energy, and where the
// given mapping stands in the objective; then the reliefs. Of a mapping outside of the space it
// says so, and by how much it is better or worse than what is inside; without a proof, what the
// bound leaves open.
std::string gap_text(const Problem& problem, const GapReport& gap, const Cost& given);

// Which capacity or bandwidth, doubled, would help first.
std::string relief_text(const Objective& objective, const std::vector<Relief>& reliefs);

}  // namespace mapsim
