// SPDX-License-Identifier: Apache-2.0
#include "campaign/input_widths.hpp"

#include <set>
#include <variant>
#include <vector>

#include "report/widths.hpp"
#include "workloads/load.hpp"

namespace mapsim {

const std::string& InputWidths::of(const std::string& id) {
  const auto [known, is_new] = known_.try_emplace(id);
  if (is_new) {
    const std::string text = store_.input_text(id);
    known->second =
        text.starts_with("name:") ? widths_text(widths_of(parse_workload(text, id))) : "";
  }
  return known->second;
}

std::string input_widths_text(Store& store, const std::string& campaign) {
  std::set<std::string> ids;
  store.read({"answers", campaign, {"workload", "latency_seconds", "latency_cycles"}},
             [&ids](const Record& row) {
               const bool kernel = !std::holds_alternative<std::monostate>(row[1]) &&
                                   std::holds_alternative<std::monostate>(row[2]);
               if (const auto* id = std::get_if<std::string>(&row[0]); id != nullptr && !kernel) {
                 ids.insert(*id);
               }
             });
  InputWidths widths{store};
  std::vector<std::string> texts;
  for (const std::string& id : ids) {
    if (const std::string& text = widths.of(id); !text.empty()) {
      texts.push_back(text);
    }
  }
  return texts.empty() ? "" : counted_widths(texts) + "\n";
}

}  // namespace mapsim
