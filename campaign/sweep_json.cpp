// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "campaign/sweep.hpp"
#include "report/json_head.hpp"

namespace mapsim {

std::string summary_json(const Provenance& origin, const Campaign& campaign,
                         const SweepSummary& summary) {
  const SweepProgress& progress = summary.progress;
  nlohmann::ordered_json json = provenance_json(origin);
  json["campaign"] = campaign.name;
  json["interrupted"] = summary.interrupted;
  json["points"] = progress.points;
  json["known"] = progress.known;
  json["computed"] = progress.computed;
  json["elsewhere"] = progress.elsewhere;
  json["mapped"] = summary.statistics.mapped;
  json["unmapped"] = summary.statistics.unmapped;
  json["missing"] = summary.statistics.missing;
  json["reasons"] = nlohmann::ordered_json::object();
  for (const auto& [reason, times] : summary.statistics.reasons) {
    json["reasons"][reason] = times;
  }
  json["networks"] = {{"known", progress.networks_known},
                      {"chosen", progress.networks_chosen},
                      {"open", progress.networks_open},
                      {"given_up", progress.networks_given_up},
                      {"searches", progress.searches}};
  json["unpriced"] = nlohmann::ordered_json::array();
  for (const auto& [network, kind, times] : campaign.unpriced) {
    json["unpriced"].push_back({{"network", network}, {"kind", kind}, {"count", times}});
  }
  json["out_of_memory"] = summary.short_of_memory;
  json["failures"] = summary.failures;
  json["statistics"] = {{"seconds", progress.seconds + progress.choosing_seconds}};
  return json.dump(2) + "\n";
}

}  // namespace mapsim
