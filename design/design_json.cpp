// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "campaign/point.hpp"
#include "costmodel/mapping_text.hpp"
#include "design/search.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPicojoulesPerMillijoule = 1e9;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json layers_json(const Campaign& campaign, const BestDesign& best) {
  Json layers = Json::array();
  const std::vector<DistinctLayer> distinct = distinct_layers(campaign);
  for (std::size_t l = 0; l < distinct.size(); ++l) {
    const LayerFigures& figures = best.layers[l];
    const Workload& workload = distinct[l].layer->workload;
    layers.push_back(
        {{"name", distinct[l].layer->name},
         {"network", distinct[l].layer->network},
         {"count", distinct[l].count},
         {"energy_pj", figures.energy},
         {"latency_cycles", figures.cycles},
         {"mapping",
          figures.mapping ? Json(print_mapping(best.arch, workload, *figures.mapping)) : Json()}});
  }
  return layers;
}

Json figures_json(const BestDesign& best) {
  return {{"arch", best.arch.name},
          {"design", best.number},
          {"settings", Json::parse(settings_text(best.settings))},
          {"value", best.value},
          {"energy_pj", best.energy},
          {"latency_cycles", best.cycles},
          {"latency_seconds", best.cycles / best.arch.clock.count()},
          {"clock_hz", best.arch.clock.count()},
          {"power_mw", best.energy / best.seconds() / kPicojoulesPerMillijoule},
          {"area_mm2", best.area ? Json(*best.area) : Json()}};
}

Json best_json(const Campaign& campaign, const BestDesign& best) {
  Json json = figures_json(best);
  json["layers"] = layers_json(campaign, best);
  return json;
}

Json branched_json(const DesignAnswer& result) {
  Json axes = Json::array();
  for (const auto& [axis, why] : result.branched) {
    axes.push_back({{"axis", axis}, {"reason", why}});
  }
  return axes;
}

Json statistics_json(const DesignAnswer& result) {
  return {{"layers", result.layers},
          {"searches", result.searches},
          {"answered", result.answered},
          {"boxes", result.boxes},
          {"short_of_memory", result.short_of_memory},
          {"out_of_memory", result.out_of_memory},
          {"peak_bytes", result.peak_bytes},
          {"seconds", result.seconds}};
}

}  // namespace

std::string design_json(const Provenance& origin, const Campaign& campaign,
                        const DesignOptions& options, const DesignAnswer& result) {
  Json json = provenance_json(origin);
  const DesignCounts& counts = result.counts;
  json["campaign"] = campaign.name;
  json["objective"] = to_string(options.objective);
  json["latency_mode"] = to_string(campaign.questions.front().objective.mode);
  const DesignLimits& limits = options.limits;
  json["max_area_mm2"] = limits.area ? Json(limits.area->count()) : Json();
  json["max_energy_pj"] = limits.energy ? Json(limits.energy->count()) : Json();
  json["max_latency_seconds"] = limits.latency ? Json(limits.latency->count()) : Json();
  json["max_power_mw"] = limits.power ? Json(limits.power->count()) : Json();
  json["wanted"] = options.wanted == Wanted::kFront ? "front" : "best";
  json["top"] = options.top;
  json["gap_allowed"] = options.gap;
  json["proven"] = result.proven;
  json["interrupted"] = result.interrupted;
  json["lower_bound"] = finite(result.lower_bound);
  json["gap"] = result.best() != nullptr && result.lower_bound > 0
                    ? Json(std::max(0.0, result.best()->value / result.lower_bound - 1))
                    : Json();
  json["best"] = result.best() != nullptr ? best_json(campaign, *result.best()) : Json();
  json["answers"] = Json::array();
  for (const BestDesign& design : result.designs) {
    json["answers"].push_back(figures_json(design));
  }
  json["designs"] = {{"total", counts.designs},
                     {"valued", counts.valued},
                     {"excluded_by_bound", counts.by_bound},
                     {"excluded_by_area", counts.by_area},
                     {"excluded_by_limit", counts.by_limit},
                     {"infeasible", counts.infeasible},
                     {"unreadable", counts.unreadable},
                     {"open", counts.open}};
  json["edges"] = Json::array();
  for (const EdgeAxis& edge : result.edges) {
    json["edges"].push_back(
        {{"axis", edge.name}, {"value", edge.value}, {"end", edge.is_high ? "last" : "first"}});
  }
  json["steps"] = Json::array();
  for (const AxisStep& step : result.steps) {
    json["steps"].push_back({{"axis", step.name},
                             {"value", step.value},
                             {"least_share", finite(step.least)},
                             {"most_share", finite(step.most)},
                             {"area_mm2", step.area ? Json(*step.area) : Json()},
                             {"excluded", step.excluded}});
  }
  json["branched"] = branched_json(result);
  json["areas_not_given"] = result.unknown_areas;
  json["warnings"] = origin.warnings;
  json["statistics"] = statistics_json(result);
  return json.dump(2) + '\n';
}

}  // namespace mapsim
