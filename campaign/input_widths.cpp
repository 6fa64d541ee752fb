// SPDX-License-Identifier: Apache-2.0
#include "campaign/input_widths.hpp"

#include <set>
#include <variant>

#include "workloads/load.hpp"

namespace mapsim {

const std::optional<Widths>& InputWidths::of(const std::string& id) {
  const auto [known, is_new] = known_.try_emplace(id);
  if (is_new) {
    const std::string text = store_.input_text(id);
    if (text.starts_with("name:")) {
      known->second = widths_of(parse_workload(text, id));
    }
  }
  return known->second;
}

std::vector<Widths> input_widths(Store& store, const std::string& campaign) {
  std::set<std::string> ids;
  store.read({"answers", campaign, {"workload", "latency_seconds", "latency_cycles"}},
             [&ids](const Record& row) {
               const bool kernel = !std::holds_alternative<std::monostate>(row[1]) &&
                                   std::holds_alternative<std::monostate>(row[2]);
               if (const auto* id = std::get_if<std::string>(&row[0]); id != nullptr && !kernel) {
                 ids.insert(*id);
               }
             });
  InputWidths known{store};
  std::vector<Widths> widths;
  for (const std::string& id : ids) {
    if (const std::optional<Widths>& one = known.of(id); one) {
      widths.push_back(*one);
    }
  }
  return widths;
}

}  // namespace mapsim
