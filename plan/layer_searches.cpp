// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_searches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/figures.hpp"

namespace mapsim {

std::string ended_early_text(const LayerSearches& searches) {
  std::string text;
  if (searches.plans.ended_early > 0) {
    text = fmt::format(
        "  {} of {} searches for plans ended early (--memory, --budget): they dropped partial "
        "plans, "
        "and what they found may be above the least\n",
        searches.plans.ended_early, searches.plans.count);
  }
  if (searches.plans.are_groups_cut) {
    text += "  memory was short for groups (--memory): some that the rules allow were not tried\n";
  }
  if (searches.ended_early == 0) {
    return text;
  }
  return text +
         fmt::format(
             "  {} of {} searches of layers ended early (--memory, --budget): a price may be "
             "above the least by {}\n",
             searches.ended_early, searches.count,
             searches.least_share > 0 ? percent(1 / searches.least_share - 1)
                                      : "an amount that is not known");
}

nlohmann::ordered_json layer_searches_json(const LayerSearches& searches) {
  return {{"layer_searches", searches.count},
          {"layer_searches_ended_early", searches.ended_early},
          {"least_share_of_prices", searches.least_share},
          {"plan_searches", searches.plans.count},
          {"plan_searches_ended_early", searches.plans.ended_early},
          {"groups_short_of_memory", searches.plans.are_groups_cut},
          {"peak_bytes", std::max(searches.peak_bytes, searches.plans.peak_bytes)}};
}

}  // namespace mapsim
