// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "plan/throughput.hpp"
#include "workloads/masks.hpp"

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

std::vector<std::int64_t> extents_of_mask(const Workload& workload, const std::string& name) {
  const auto tensor = std::find_if(workload.tensors.begin(), workload.tensors.end(),
                                   [&](const Tensor& each) { return each.name == name; });
  return tensor->pattern->box;
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
  for (const NetworkLayer& layer : network.layers) {
    for (const MaskFile& mask : masks_of(layer.workload)) {
      json["masks"].push_back({{"layer", layer.name},
                               {"tensor", mask.tensor},
                               {"path", mask.path},
                               {"extents", extents_of_mask(layer.workload, mask.tensor)},
                               {"hash", fmt::format("{:016x}", mask.hash)}});
    }
  }
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

Json weights_json(const Weights& weights) {
  return {{"latency", weights.latency}, {"energy", weights.energy}, {"bytes", weights.bytes}};
}

// Limits, and from where each tensor moves: of several sources each may be best for one of the
// figures.
void add_limits(const PlanAnswer& answer, Json& json) {
  if (answer.limits.empty()) {
    return;
  }
  json["limits"] = Json::array();
  for (std::size_t k = 0; k < answer.limits.size(); ++k) {
    Json limit = weights_json(answer.limits[k].of);
    limit["most"] = answer.limits[k].most;
    limit["multiplier"] = answer.multipliers[k];
    json["limits"].push_back(std::move(limit));
  }
  json["moves"] = Json::array();
  for (const PlannedGroup& each : answer.plan.groups) {
    Json moves = Json::array();
    for (const PlannedMove& move : each.moves) {
      moves.push_back({move.move.tensor, move.move.from});
    }
    json["moves"].push_back(std::move(moves));
  }
}

// The clock of all prices, if a limit on power lowers it, and the limit.
void add_clock(double share, double most_watts, Json& json) {
  if (share < 1) {
    json["clock_share"] = share;
    json["most_watts"] = most_watts;
  }
}

// What tensors may take, and what each takes wherever it lies.
void add_memory_limit(const PlanAnswer& answer, Json& json) {
  if (!answer.most_least) {
    return;
  }
  Json least = Json::array(), whole = Json::array(), inputs = Json::array();
  for (const PlanProblem::Choice& choice : answer.problem.choices) {
    inputs.push_back(choice.inputs);
  }
  for (const PlanProblem::Tensor& tensor : answer.problem.tensors) {
    least.push_back(tensor.least);
    whole.push_back(tensor.whole ? Json(*tensor.whole) : Json());
  }
  json["memory_limit"] = {{"most", *answer.most_least},
                          {"bound", answer.bound},
                          {"least", std::move(least)},
                          {"whole", std::move(whole)},
                          {"inputs", std::move(inputs)}};
}

// The schedule, if it is faster than the plan whose groups run one after the other.
Json at_once_json(const AtOnceAnswer& answer, const PlanProblem& problem) {
  std::vector<std::size_t> engine_of(problem.places), counts(problem.engines);
  for (const Server& server : answer.servers) {
    engine_of[server.place] = server.engine;
    counts[server.engine] = std::max(counts[server.engine], server.copy + 1);
  }
  Json tasks = Json::array();
  for (const Task& task : answer.tasks) {
    tasks.push_back({task.choice ? Json(*task.choice) : Json(), task.server, task.tensor, task.from,
                     task.clock, task.start});
  }
  return {{"engine_of", engine_of},
          {"counts", counts},
          {"bound", answer.bound},
          {"tasks", std::move(tasks)}};
}

std::string text_of(Json certificate) {
  return Json{{"plan_certificate", std::move(certificate)}}.dump() + '\n';
}

}  // namespace

bool has_certificate(const PlanOptions& options, const PlanAnswer& answer) {
  const double value = weights_of(options.objective).of(answer.plan.total);
  constexpr double kRound = 1e-9;
  if (!answer.misfit.empty() || options.at_once || answer.is_within_memory) {
    return answer.misfit.empty() && !(options.at_once && answer.is_within_memory);
  }
  return !answer.is_tie_open && answer.bound >= value * (1 - kRound);
}

std::string plan_certificate(const Soc& soc, const Network& network, const PlanOptions& options,
                             const PlanAnswer& answer) {
  Json json = head_json(soc, network, options, answer.places, answer.problem);
  const Weights weights = weights_of(options.objective);
  const Weights ties = ties_of(options.objective);
  json["weights"] = weights_json(weights);
  json["ties"] = weights_json(ties);
  json["plan"] = plan_list(answer.plan);
  json["value"] = weights.of(answer.plan.total);
  json["tie"] = ties.of(answer.plan.total);
  add_limits(answer, json);
  add_clock(answer.clock_share, power_limit(soc, options).value_or(0), json);
  add_memory_limit(answer, json);
  if (answer.at_once) {
    json["at_once"] = at_once_json(*answer.at_once, answer.problem);
  }
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
  add_clock(answer.clock_share, power_limit(soc, {}).value_or(0), json);
  json["stream"] = {{"rooms", answer.capacities}, {"duals", answer.duals}, {"mix", std::move(mix)}};
  return text_of(std::move(json));
}

}  // namespace mapsim
