// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arch/physical.hpp"
#include "campaign/network.hpp"
#include "campaign/network_widths.hpp"
#include "campaign/report_energy.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/roofline.hpp"
#include "report/json_head.hpp"
#include "report/names.hpp"
#include "report/text.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json layer_json(const Arch& arch, const NetworkLayer& layer, const SearchResult& found,
                LatencyMode mode) {
  Json json{{"name", layer.name},
            {"workload", layer.workload.name},
            {"count", layer.count},
            {"macs", layer.workload.macs()},
            {"status", to_string(found.certificate.status)},
            {"search_seconds", found.statistics.seconds}};
  add_widths(json, widths_of(layer.workload));
  if (found.certificate.status == Proof::kOptimal &&
      found.certificate.bound_but_for_free_boundaries) {
    json["ties_proven"] = false;
  }
  if (!found.cost) {
    json["problem"] = brief_infeasible_text(found.infeasible);
    return json;
  }
  const Latency& latency = found.cost->latency;
  json["energy_pj"] = found.cost->energy.total.count();
  json["latency_cycles"] = latency.steady.count();
  json["latency_cycles_ramped"] = latency.ramped.count();
  json["latency_seconds"] =
      static_cast<double>(latency_of(mode, latency).count()) / arch.clock.count();
  json["utilization"] = found.cost->utilization;
  json["bottleneck"] = resource_name(arch, latency.resources[latency.bottleneck]);
  for (const Resource& resource : latency.resources) {
    json.emplace("resource_cycles", Json::object());
    json["resource_cycles"][resource_name(arch, resource)] = resource.time.count();
  }
  if (const auto& stays = latency.compute.stationary) {
    json["stationary"] = layer.workload.tensors[*stays].name;
  }
  if (found.form != Form{}) {
    json["form"] = to_string(found.form);
  }
  if (found.form.kind == FormKind::kBatch) {
    json["frames"] = found.form.count;
  }
  const Workload workload = in_form(layer.workload, found.form).value();
  json["breakdown"] = breakdown_json(arch, workload, *found.cost);
  const Roofline bounds = roofline(arch, layer.workload);
  json["roofline"] = {{"ops", bounds.ops},
                      {"bytes", bounds.bytes},
                      {"peak_ops_per_second", bounds.peak.ops_per_second},
                      {"peak_bytes_per_second", bounds.peak.bytes_per_second}};
  json["mapping"] = print_mapping(arch, workload, *found.best);
  return json;
}

Json all_widths_json(const Arch& arch, const Network& network) {
  const NetworkWidths widths = network_widths(arch, network);
  Json json = widths_json(widths.tensors);
  json["word_bits"] = widths.word ? Json(widths.word->count()) : Json();
  return json;
}

Json total_json(const Arch& arch, const Network& network, const NetworkOptions& options,
                const NetworkResult& result) {
  const NetworkTotals sums = totals(arch, network, result, options.search.objective.mode);
  const double seconds = static_cast<double>(sums.latency.count()) / arch.clock.count();
  const auto inferences = static_cast<double>(network.batch);
  Json json{{"energy_pj", sums.energy.count()},
            {"latency_cycles", sums.latency.count()},
            {"latency_seconds", seconds},
            {"inferences_per_second", seconds > 0 && sums.missing == 0 && network.unpriced.empty()
                                          ? Json(inferences / seconds)
                                          : Json()},
            {"macs", sums.macs},
            {"streams_energy_pj", sums.streams.energy.count()},
            {"streams_latency_cycles", sums.streams.latency.count()},
            {"streams_timed", times_streams(arch)},
            {"layers_missing", sums.missing},
            {"layers_searched", sums.distinct},
            {"proven", sums.proven},
            {"search_seconds", sums.seconds}};
  if (result.joint) {
    const double clock = arch.clock.count();
    json["edp_pj_s"] = result.joint->edp / clock;
    json["edp_lower_bound_pj_s"] = result.joint->lower_bound / clock;
    json["edp_by_layer_pj_s"] = result.joint->by_layer / clock;
    json["joint_searches"] = result.joint->searches;
  }
  return json;
}

}  // namespace

std::string network_json(const Provenance& origin, const Arch& arch, const Network& network,
                         const NetworkOptions& options, const NetworkResult& result) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["network"] = network.name;
  const auto area = total_area(arch).sum;
  json["clock_hz"] = arch.clock.count();
  json["mac_units"] = arch.mac_units();
  json["area_mm2"] = area ? Json(area->count()) : Json();
  json["objective"] = to_string(options.search.objective);
  json["latency_mode"] = to_string(options.search.objective.mode);
  json["strategy"] = options.strategy;
  json["interrupted"] = result.interrupted;
  json["batch"] = network.batch;
  json["widths"] = all_widths_json(arch, network);
  std::vector<std::string> warnings = origin.warnings;
  for (std::string& warning : network_warnings(arch, network)) {
    warnings.push_back(std::move(warning));
  }
  json["warnings"] = warnings;
  json["total"] = total_json(arch, network, options, result);
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    json["layers"].push_back(
        layer_json(arch, network.layers[i], result.layers[i], options.search.objective.mode));
  }
  json["streams"] = Json::array();
  for (const Stream& stream : network.streams) {
    const StreamCost cost = stream_cost(arch, stream.in, stream.out);
    json["streams"].push_back(
        {{"name", stream.name},
         {"kind", stream.kind},
         {"count", stream.count},
         {"bits_in", stream.in.count()},
         {"bits_out", stream.out.count()},
         {"energy_pj", cost.energy.count()},
         {"latency_cycles", cost.latency.count()},
         {"latency_seconds", static_cast<double>(cost.latency.count()) / arch.clock.count()},
         {"bottleneck", arch.levels.begin()->name}});
  }
  json["unpriced"] = network.unpriced;
  return json.dump(2) + '\n';
}

}  // namespace mapsim
