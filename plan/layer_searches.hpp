// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/plan_searches.hpp"

namespace mapsim {

// The searches of layers behind the prices of a plan, and those for plans.
struct LayerSearches {
  std::int64_t count = 0;
  // Those that memory or time was too short for: their prices may be above the least.
  std::int64_t ended_early = 0;
  double least_share = 1;      // of each price that is proven to be needed; 0: nothing is proven
  std::size_t peak_bytes = 0;  // of tables and labels
  PlanSearches plans{};

  // Whether nothing was left out for want of memory or time.
  bool are_complete() const {
    return ended_early == 0 && plans.ended_early == 0 && !plans.are_groups_cut;
  }
  // The share of a bound on the plans of these groups at these prices that also bounds plans at the
  // least prices and of groups that were not looked at.
  double share_of_bound() const { return plans.are_groups_cut ? 0 : least_share; }
};

// Lines that say how far prices may be above the least, and that better plans may have been
// dropped; "" where memory and time sufficed.
std::string ended_early_text(const LayerSearches& searches);
// The statistics of a plan, as far as layers go.
nlohmann::ordered_json layer_searches_json(const LayerSearches& searches);

}  // namespace mapsim
