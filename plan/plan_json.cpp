// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "report/json_head.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json load_json(const Load& load) {
  return {
      {"latency_seconds", load.latency}, {"energy_pj", load.energy}, {"memory_bytes", load.bytes}};
}

Json busy_json(const Soc& soc, const Plan& plan) {
  Json busy = Json::object();
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    busy[soc.engines[e].name] = plan.busy[e];
  }
  return busy;
}

Json groups_json(const Soc& soc, const PlanAnswer& answer) {
  Json groups = Json::array();
  for (const PlannedGroup& each : answer.plan.groups) {
    const Group& group = answer.groups.all[each.group];
    Json nodes = Json::array();
    for (const std::size_t i : group.operations) {
      nodes.push_back(answer.operations.node(i).name);
    }
    Json json = {{"nodes", nodes},
                 {"engine", soc.engines[answer.places[each.place].engine].name},
                 {"copy", each.copy},
                 {"precision", width_name(answer.places[each.place].width)},
                 {"format", answer.places[each.place].format},
                 {"fusion", to_string(group.by)},
                 {"reason", group.reason},
                 {"elided", group.elided},
                 {"start_seconds", each.start}};
    json.update(load_json(each.price.load));
    json["kernel"] = each.price.how.empty() ? Json() : Json(each.price.how);
    groups.push_back(std::move(json));
  }
  return groups;
}

Json moves_json(const Soc& soc, const PlanAnswer& answer) {
  Json moves = Json::array();
  for (const PlannedGroup& each : answer.plan.groups) {
    for (const PlannedMove& move : each.moves) {
      const auto& by = move.load.engine;
      Json json = {{"tensor", answer.operations.graph->tensors[move.move.tensor].name},
                   {"from", name_of(soc, answer.places, move.move.from)},
                   {"to", name_of(soc, answer.places, move.move.to)},
                   {"reformat", by ? Json(soc.engines[*by].name) : Json()},
                   {"start_seconds", move.start}};
      json.update(load_json(move.load));
      moves.push_back(std::move(json));
    }
  }
  return moves;
}

Json engines_json(const Soc& soc, const PlanAnswer& answer) {
  Json engines = Json::array();
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    const EngineAlone& alone = answer.alone[e];
    engines.push_back({{"name", soc.engines[e].name},
                       {"count", soc.engines[e].count},
                       {"busy_seconds", answer.plan.busy[e]},
                       {"alone", alone.total ? load_json(*alone.total) : Json()},
                       {"alone_impossible", alone.problem.empty() ? Json() : Json(alone.problem)}});
  }
  return engines;
}

Json tensors_json(const MemoryMap& memory) {
  Json tensors = Json::array();
  for (const Buffer& each : memory.buffers) {
    tensors.push_back({{"name", each.name},
                       {"bytes", each.bytes},
                       {"offset", each.offset},
                       {"first", each.first},
                       {"last", each.last}});
  }
  return tensors;
}

Json question_json(const Provenance& origin, const Soc& soc, const Network& network,
                   const PlanOptions& options) {
  Json json = provenance_json(origin);
  json["soc"] = soc.name;
  json["network"] = network.name;
  json["batch"] = network.batch;
  json["objective"] = to_string(options.objective);
  return json;
}

}  // namespace

std::string no_plan_json(const Provenance& origin, const Soc& soc, const Network& network,
                         const PlanOptions& options, const std::string& misfit) {
  Json json = question_json(origin, soc, network, options);
  json["feasible"] = false;
  json["infeasible"] = Json::array({{{"reason", misfit}}});
  return json.dump(2) + '\n';
}

std::string plan_json(const Provenance& origin, const Soc& soc, const Network& network,
                      const PlanOptions& options, const PlanAnswer& answer) {
  Json json = question_json(origin, soc, network, options);
  json["launch"] = to_string(options.launch);
  json["fusion"] = to_string(options.fusion);
  json.update(load_json(answer.plan.total));
  json["frames_per_second"] = static_cast<double>(network.batch) / answer.plan.total.latency;
  const auto power = power_limit(soc, options);
  json["power_limit_watts"] = power ? Json(*power) : Json();
  json["clock_share"] = answer.clock_share;
  json["proven"] = answer.proven;
  json["bound"] = answer.bound;
  json["given"] = answer.given ? load_json(answer.given->total) : Json();
  json["in_turn_seconds"] = answer.in_turn;
  if (answer.at_once) {
    json["at_once"] = {{"latency_seconds", answer.at_once->latency},
                       {"bound_seconds", answer.at_once->bound},
                       {"gap", answer.at_once->latency / answer.at_once->bound - 1},
                       {"blocks", answer.at_once->blocks},
                       {"nodes", answer.at_once->nodes}};
  }
  json["passes"] = Json::array();
  for (const PlanPass& pass : answer.passes) {
    Json each = {{"fusion", to_string(pass.fusion)}};
    each.update(load_json(pass.total));
    json["passes"].push_back(std::move(each));
  }
  json["engines"] = engines_json(soc, answer);
  json["best_engine_of_each"] = answer.greedy ? load_json(*answer.greedy) : Json();
  if (options.front) {
    json["front"] = Json::array();
    for (const Plan& plan : answer.front) {
      json["front"].push_back(load_json(plan.total));
      json["front"].back()["busy_seconds"] = busy_json(soc, plan);
    }
  }
  json["if_moves_were_free"] = answer.free_moves;
  if (!answer.what_if.empty()) {
    json["what_if"] = Json::array();
    for (const WhatIf& each : answer.what_if) {
      json["what_if"].push_back({{"what", each.what}});
      json["what_if"].back().update(load_json(each.total));
    }
  }
  json["memory"] = {{"peak_bytes", answer.memory.peak},
                    {"bound_bytes", answer.memory.bound},
                    {"naive_bytes", answer.memory.naive},
                    {"weights_bytes", answer.weights}};
  json["tensors"] = tensors_json(answer.memory);
  json["groups"] = groups_json(soc, answer);
  json["moves"] = moves_json(soc, answer);
  json["moves_seconds"] = answer.plan.moves_latency;
  json["unpriced"] = answer.unpriced;
  json["statistics"] = layer_searches_json(answer.searches);
  json["statistics"]["labels"] = answer.plan.labels;
  return json.dump(2) + '\n';
}

}  // namespace mapsim
