// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mapsim {

// The searches of layers behind the prices of a plan.
struct LayerSearches {
  std::int64_t count = 0;
  // Those that memory was too short for: their prices may be above the least.
  std::int64_t short_of_memory = 0;
  double least_share = 1;      // of each price that is proven to be needed; 0: nothing is proven
  std::size_t peak_bytes = 0;  // of tables and labels
};

// A line that says how far prices may be above the least; "" where all are the least.
std::string short_of_memory_text(const LayerSearches& searches);
// The statistics of a plan, as far as layers go.
nlohmann::ordered_json layer_searches_json(const LayerSearches& searches);

}  // namespace mapsim
