// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "plan/throughput.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json mix_json(const Soc& soc, const StreamAnswer& answer) {
  Json mix = Json::array();
  for (const PlanShare& share : answer.mix) {
    Json busy = Json::object();
    for (std::size_t e = 0; e < soc.engines.size(); ++e) {
      busy[soc.engines[e].name] = share.plan.busy[e];
    }
    Json groups = Json::array();
    for (const PlannedGroup& each : share.plan.groups) {
      Json nodes = Json::array();
      for (const std::size_t i : answer.groups.all[each.group].operations) {
        nodes.push_back(answer.operations.node(i).name);
      }
      groups.push_back({{"nodes", nodes},
                        {"engine", soc.engines[answer.places[each.place].engine].name},
                        {"place", name_of(soc, answer.places, each.place)},
                        {"latency_seconds", each.price.load.latency}});
    }
    mix.push_back({{"frames_per_second", share.rate},
                   {"busy_seconds", busy},
                   {"energy_pj", share.plan.total.energy},
                   {"memory_bytes", share.plan.total.bytes},
                   {"groups", groups}});
  }
  return mix;
}

}  // namespace

std::string stream_json(const Provenance& origin, const Soc& soc, const Network& network,
                        const PlanOptions& options, const StreamAnswer& answer) {
  Json json = provenance_json(origin);
  json["soc"] = soc.name;
  json["network"] = network.name;
  json["objective"] = to_string(options.objective);
  json["launch"] = to_string(options.launch);
  json["fusion"] = to_string(options.fusion);
  json["frames_per_second"] = answer.rate;
  json["bound_frames_per_second"] = answer.bound;
  json["gap"] = answer.bound / answer.rate - 1;
  json["clock_share"] = answer.clock_share;
  json["limits"] = Json::array();
  for (std::size_t r = 0; r < answer.limits.size(); ++r) {
    const StreamLimit& limit = answer.limits[r];
    const bool engine = r < soc.engines.size();
    json["limits"].push_back(
        {{"name", limit.name},
         {"unit", limit.unit},
         {"available", limit.capacity},
         {"used", limit.used},
         {"gain_frames_per_second", limit.gain},
         {"batch", engine ? Json(answer.batches[r]) : Json()},
         {"alone_frames_per_second", engine ? Json(answer.alone[r]) : Json()}});
  }
  json["mix"] = mix_json(soc, answer);
  json["unpriced"] = answer.unpriced;
  json["statistics"] = layer_searches_json(answer.searches);
  json["statistics"]["rounds"] = answer.rounds;
  return json.dump(2) + '\n';
}

}  // namespace mapsim
