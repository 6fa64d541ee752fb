// SPDX-License-Identifier: Apache-2.0
#include "tests/plan/plan_claim.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const std::vector<std::optional<check::PlanPrice>>& prices) {
  Json json = Json::array();
  for (const auto& price : prices) {
    json.push_back(price ? Json{price->latency, price->energy, price->bytes, price->busy,
                                or_null(price->engine)}
                         : Json());
  }
  return json;
}

Json json_of(const check::PlanWeights& weights) {
  return {{"latency", weights.latency}, {"energy", weights.energy}, {"bytes", weights.bytes}};
}

Json json_of(const check::PlanClaim::AtOnce& at_once) {
  Json tasks = Json::array();
  for (const auto& task : at_once.tasks) {
    tasks.push_back(
        {or_null(task.group), task.server, task.tensor, task.from, task.clock, task.start});
  }
  return {{"engine_of", at_once.engine_of},
          {"counts", at_once.counts},
          {"bound", at_once.bound},
          {"tasks", tasks}};
}

}  // namespace

Json json_of(const check::PlanClaim& claim) {
  Json json = {{"soc", "s"},
               {"network", "n"},
               {"objective", claim.objective},
               {"operations", claim.operations},
               {"engines", claim.engines},
               {"places", std::vector<std::string>(claim.places, "p")},
               {"tensors", Json::array()},
               {"groups", Json::array()},
               {"weights", json_of(claim.weights)},
               {"ties", json_of(claim.ties)},
               {"plan", claim.plan},
               {"value", claim.value},
               {"tie", claim.tie}};
  for (const check::PlanTensor& tensor : claim.tensors) {
    json["tensors"].push_back({{"readers", tensor.readers}, {"moves", json_of(tensor.moves)}});
  }
  for (const check::PlanGroup& group : claim.groups) {
    json["groups"].push_back({{"operations", group.operations},
                              {"reads", group.reads},
                              {"writes", group.writes},
                              {"anchor", group.anchor},
                              {"on", json_of(group.on)}});
  }
  if (claim.at_once) {
    json["at_once"] = json_of(*claim.at_once);
  }
  if (claim.memory_limit) {
    Json whole = Json::array();
    for (const auto& each : claim.memory_limit->whole) {
      whole.push_back(or_null(each));
    }
    json["memory_limit"] = {{"most", claim.memory_limit->most},
                            {"bound", claim.memory_limit->bound},
                            {"least", claim.memory_limit->least},
                            {"whole", whole},
                            {"inputs", claim.memory_limit->inputs}};
  }
  if (!claim.buffers.empty()) {
    Json buffers = Json::array();
    for (const auto& each : claim.buffers) {
      buffers.push_back({{"bytes", each.bytes},
                         {"offset", each.offset},
                         {"first", each.first},
                         {"last", each.last}});
    }
    json["memory"] = {{"peak", claim.peak}, {"alive", claim.alive}, {"buffers", buffers}};
  }
  return {{"plan_certificate", json}};
}

check::PlanClaim claim_of(const PlanProblem& problem, const std::vector<std::size_t>& engine_of,
                          const std::vector<Server>& servers) {
  check::PlanClaim claim = mapsim::claim_of(problem);
  claim.objective = "latency";
  claim.weights = {1, 0, 0, {}};
  claim.at_once.emplace();
  claim.at_once->engine_of = engine_of;
  claim.at_once->counts.resize(problem.engines);
  for (const Server& server : servers) {
    std::size_t& count = claim.at_once->counts[server.engine];
    count = std::max(count, server.copy + 1);
  }
  return claim;
}

void add_schedule(const AtOnce& schedule, check::PlanClaim& claim) {
  claim.value = schedule.value;
  claim.at_once->bound = schedule.bound;
  claim.at_once->tasks.clear();
  for (const Task& task : schedule.tasks) {
    claim.at_once->tasks.push_back(
        {task.choice, task.server, task.tensor, task.from, task.clock, task.start});
  }
}

PlanProblem problem_of(const check::PlanClaim& claim) {
  PlanProblem problem;
  problem.operations = claim.operations;
  problem.engines = claim.engines;
  problem.places = claim.places;
  const auto loads_of = [](const std::vector<std::optional<check::PlanPrice>>& prices) {
    std::vector<std::optional<Load>> loads;
    for (const auto& price : prices) {
      loads.push_back(price ? std::optional{Load{price->latency, price->energy, price->bytes,
                                                 price->engine, price->busy}}
                            : std::nullopt);
    }
    return loads;
  };
  for (const check::PlanTensor& tensor : claim.tensors) {
    problem.tensors.push_back({tensor.readers, loads_of(tensor.moves), {}});
  }
  if (claim.memory_limit) {
    problem.most_least = claim.memory_limit->most;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
      problem.tensors[t].least = claim.memory_limit->least[t];
      problem.tensors[t].whole = claim.memory_limit->whole[t];
    }
  }
  for (std::size_t g = 0; g < claim.groups.size(); ++g) {
    const check::PlanGroup& group = claim.groups[g];
    problem.choices.push_back(
        {group.operations, group.anchor, group.reads, group.writes, loads_of(group.on)});
    if (claim.memory_limit) {
      problem.choices.back().inputs = claim.memory_limit->inputs[g];
    }
  }
  return problem;
}

namespace {

void for_each_damage(const Json& json,
                     const std::function<void(const Json&, const std::string&)>& look) {
  const Json flat = json.flatten();
  for (const auto& [where, value] : flat.items()) {
    if (!value.is_number()) {
      continue;
    }
    const auto was = value.get<double>();
    for (const double now : {0., 1., 2., was + 1, was - 1, was / 2, 2 * was, 1e6}) {
      const bool is_whole = now == std::floor(now) && now >= 0;
      if (now == was || (value.is_number_integer() && !is_whole)) {
        continue;
      }
      Json changed = json;
      Json& at = changed[Json::json_pointer(where)];
      at = value.is_number_integer() ? Json(static_cast<std::uint64_t>(now)) : Json(now);
      look(changed, where + ": " + at.dump());
    }
  }
}

}  // namespace

void for_each_accepted_damage(
    const check::PlanClaim& claim, Damaged& counted,
    const std::function<void(const check::PlanClaim&, const check::PlanVerdict&,
                             const std::string&)>& look) {
  for_each_damage(json_of(claim), [&](const Json& text, const std::string& what) {
    check::PlanClaim changed;
    try {
      changed = check::parse_plan_claim(text.dump(), "p");
    } catch (const ConfigError&) {
      ++counted.unreadable;
      return;
    }
    const check::PlanVerdict verdict = check::check_plan(changed);
    if (!verdict.problems.empty()) {
      ++counted.refused;
      return;
    }
    ++counted.accepted;
    look(changed, verdict, what);
  });
}

}  // namespace mapsim
