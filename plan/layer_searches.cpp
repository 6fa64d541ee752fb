// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_searches.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/figures.hpp"

namespace mapsim {

std::string short_of_memory_text(const LayerSearches& searches) {
  if (searches.short_of_memory == 0) {
    return "";
  }
  return fmt::format(
      "  memory was short in {} of {} searches of layers (--memory): a price may be above the "
      "least by {}\n",
      searches.short_of_memory, searches.count,
      searches.least_share > 0 ? percent(1 / searches.least_share - 1)
                               : "an amount that is not known");
}

nlohmann::ordered_json layer_searches_json(const LayerSearches& searches) {
  return {{"layer_searches", searches.count},
          {"layer_searches_short_of_memory", searches.short_of_memory},
          {"least_share_of_prices", searches.least_share},
          {"peak_bytes", searches.peak_bytes}};
}

}  // namespace mapsim
