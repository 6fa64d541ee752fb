// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "plan/throughput.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json price_json(const std::optional<Load>& load) {
  if (!load) {
    return {};
  }
  return {load->latency, load->energy, load->bytes, load->busy,
          load->engine ? Json(*load->engine) : Json()};
}

Json prices_json(const std::vector<std::optional<Load>>& loads) {
  Json prices = Json::array();
  for (const auto& load : loads) {
    prices.push_back(price_json(load));
  }
  return prices;
}

// What a plan is chosen from: operations, tensors and places by their numbers.
Json head_json(const Soc& soc, const Network& network, const PlanOptions& options,
               const std::vector<Place>& places, const PlanProblem& problem) {
  Json json = {{"soc", soc.name},
               {"network", network.name},
               {"objective", to_string(options.objective)},
               {"operations", problem.operations},
               {"engines", problem.engines},
               {"places", Json::array()},
               {"tensors", Json::array()},
               {"groups", Json::array()}};
  for (std::size_t p = 0; p < places.size(); ++p) {
    json["places"].push_back(name_of(soc, places, p));
  }
  for (const PlanProblem::Tensor& tensor : problem.tensors) {
    json["tensors"].push_back({{"readers", tensor.readers}, {"moves", prices_json(tensor.moves)}});
  }
  for (const PlanProblem::Choice& choice : problem.choices) {
    json["groups"].push_back({{"operations", choice.operations},
                              {"reads", choice.reads},
                              {"writes", choice.writes},
                              {"anchor", choice.anchor},
                              {"on", prices_json(choice.on)}});
  }
  return json;
}

Json plan_list(const Plan& plan) {
  Json list = Json::array();
  for (const PlannedGroup& each : plan.groups) {
    list.push_back({each.group, each.place});
  }
  return list;
}

std::string text_of(Json certificate) {
  return Json{{"plan_certificate", std::move(certificate)}}.dump() + '\n';
}

}  // namespace

std::string plan_certificate(const Soc& soc, const Network& network, const PlanOptions& options,
                             const PlanAnswer& answer) {
  Json json = head_json(soc, network, options, answer.places, answer.problem);
  const bool energy = options.objective == PlanObjective::kEnergy;
  json["weights"] = {{"latency", energy ? 0 : 1}, {"energy", energy ? 1 : 0}, {"bytes", 0}};
  json["plan"] = plan_list(answer.plan);
  json["value"] = energy ? answer.plan.total.energy : answer.plan.total.latency;
  Json buffers = Json::array();
  for (const Buffer& each : answer.memory.buffers) {
    buffers.push_back({{"name", each.name},
                       {"bytes", each.bytes},
                       {"offset", each.offset},
                       {"first", each.first},
                       {"last", each.last}});
  }
  json["memory"] = {{"peak", answer.memory.peak},
                    {"alive", answer.memory.bound},
                    {"buffers", std::move(buffers)}};
  return text_of(std::move(json));
}

std::string stream_certificate(const Soc& soc, const Network& network, const PlanOptions& options,
                               const StreamAnswer& answer) {
  Json json = head_json(soc, network, options, answer.places, answer.problem);
  json["weights"] = {{"latency", 1}, {"energy", 0}, {"bytes", 0}};
  json["plan"] = Json::array();
  json["value"] = answer.rate;
  Json mix = Json::array();
  for (const PlanShare& share : answer.mix) {
    mix.push_back({{"rate", share.rate}, {"plan", plan_list(share.plan)}});
  }
  json["stream"] = {{"rooms", answer.rooms}, {"duals", answer.duals}, {"mix", std::move(mix)}};
  return text_of(std::move(json));
}

}  // namespace mapsim
