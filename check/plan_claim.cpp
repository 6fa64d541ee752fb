// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "check/mask_files.hpp"
#include "check/plan_at_once.hpp"
#include "check/plan_needs.hpp"
#include "check/plan_proof.hpp"
#include "core/diagnostic.hpp"
#include "core/hash.hpp"
#include "workloads/pattern.hpp"

namespace mapsim::check {

namespace {

// Reads whole numbers only where they are wanted: what is none, or too large, has no conversion.
template <class T, class = void>
struct WholeNumbers : nlohmann::adl_serializer<T> {};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct WholeNumbers<T, void> : nlohmann::adl_serializer<T> {
  template <class Json>
  static void from_json(const Json& json, T& whole) {
    if (!json.is_number_unsigned()) {
      throw Json::type_error::create(302, json.dump() + " is no whole number", &json);
    }
    whole = static_cast<T>(*json.template get_ptr<const std::uint64_t*>());
  }
};
using Json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, double, std::allocator, WholeNumbers>;

std::optional<PlanPrice> price_of(const Json& json) {
  if (json.is_null()) {
    return std::nullopt;
  }
  PlanPrice price{json.at(0), json.at(1), json.at(2), json.at(3), std::nullopt};
  if (!json.at(4).is_null()) {
    price.engine = json.at(4).get<std::size_t>();
  }
  return price;
}

std::vector<std::optional<PlanPrice>> prices_of(const Json& json) {
  std::vector<std::optional<PlanPrice>> prices;
  for (const Json& each : json) {
    prices.push_back(price_of(each));
  }
  return prices;
}

PlanWeights weights_of(const Json& json) {
  return {json.at("latency"), json.at("energy"), json.at("bytes"), {}};
}

PlanClaim::AtOnce at_once_of(const Json& json) {
  PlanClaim::AtOnce found{json.at("engine_of"), json.at("counts"), {}, json.at("bound")};
  for (const Json& each : json.at("tasks")) {
    PlanClaim::Task task{{}, each.at(1), each.at(2), each.at(3), each.at(4), each.at(5)};
    if (!each.at(0).is_null()) {
      task.group = each.at(0).get<std::size_t>();
    }
    found.tasks.push_back(task);
  }
  return found;
}

PlanClaim::MemoryLimit memory_limit_of(const Json& json) {
  PlanClaim::MemoryLimit limit{
      json.at("most"), json.at("bound"), json.at("least"), {}, json.at("inputs")};
  for (const Json& each : json.at("whole")) {
    limit.whole.push_back(each.is_null() ? std::nullopt : std::optional{each.get<std::size_t>()});
  }
  return limit;
}

PlanClaim claim_of(const Json& json) {
  PlanClaim claim;
  claim.soc = json.at("soc");
  claim.network = json.at("network");
  claim.objective = json.at("objective");
  claim.operations = json.at("operations");
  claim.engines = json.at("engines");
  claim.places = json.at("places").size();
  for (const Json& each : json.at("tensors")) {
    claim.tensors.push_back({each.at("readers"), prices_of(each.at("moves"))});
  }
  for (const Json& each : json.at("groups")) {
    claim.groups.push_back({each.at("operations"), each.at("reads"), each.at("writes"),
                            each.at("anchor"), prices_of(each.at("on"))});
  }
  claim.weights = weights_of(json.at("weights"));
  claim.plan = json.at("plan").get<PlanChoices>();
  claim.value = json.at("value");
  if (json.contains("ties")) {
    claim.ties = weights_of(json.at("ties"));
    claim.tie = json.at("tie");
  }
  if (json.contains("limits")) {
    for (const Json& each : json.at("limits")) {
      claim.limits.push_back({weights_of(each), each.at("most"), each.at("multiplier")});
    }
    claim.moves = json.at("moves").get<std::vector<PlanSources>>();
  }
  if (json.contains("stream")) {
    const Json& stream = json.at("stream");
    claim.capacities = stream.at("rooms").get<std::vector<double>>();
    claim.duals = stream.at("duals").get<std::vector<double>>();
    for (const Json& each : stream.at("mix")) {
      claim.mix.emplace_back(each.at("rate").get<double>(), each.at("plan").get<PlanChoices>());
    }
  }
  if (json.contains("memory")) {
    for (const Json& each : json.at("memory").at("buffers")) {
      claim.buffers.push_back(
          {each.at("bytes"), each.at("offset"), each.at("first"), each.at("last")});
    }
    claim.peak = json.at("memory").at("peak");
    claim.alive = json.at("memory").at("alive");
  }
  if (json.contains("at_once")) {
    claim.at_once = at_once_of(json.at("at_once"));
  }
  if (json.contains("clock_share")) {
    claim.clock = {json.at("clock_share"), json.at("most_watts")};
  }
  if (json.contains("memory_limit")) {
    claim.memory_limit = memory_limit_of(json.at("memory_limit"));
  }
  return claim;
}

// A layer's mask that does not hold any more what it held when the layer was priced.
std::optional<std::string> changed_mask(const Json& json, const std::string& name) {
  for (const Json& mask : json.value("masks", Json::array())) {
    const std::string path = mask_path(name, mask.at("path").get<std::string>());
    const auto zeros = read_mask(path, mask.at("extents").get<std::vector<std::int64_t>>());
    if (fmt::format("{:016x}", fnv1a({zeros.data(), zeros.size()})) !=
        mask.at("hash").get<std::string>()) {
      return check::changed_mask(path, fmt::format("{} of {}", mask.at("tensor").get<std::string>(),
                                                   mask.at("layer").get<std::string>()));
    }
  }
  return std::nullopt;
}

// What the objective of a frame weighs, and the other figure or nothing between equal plans. Of a
// stream the first weights only choose among moves.
bool is_weighed(const PlanClaim& claim) {
  const bool is_energy = claim.objective == "energy";
  const auto are = [](const PlanWeights& weights, double latency, double energy) {
    return weights.latency == latency && weights.energy == energy && weights.bytes == 0;
  };
  return claim.objective == "throughput" ||
         ((is_energy || claim.objective == "latency") &&
          are(claim.weights, is_energy ? 0 : 1, is_energy ? 1 : 0) &&
          (are(claim.ties, 0, 0) || are(claim.ties, is_energy ? 1 : 0, is_energy ? 0 : 1)));
}

// Energy less what the power gives in the time is at most 0.
bool is_of_power(const PlanLimit& limit) {
  return limit.of.latency <= 0 && limit.of.energy == 1 && limit.of.bytes == 0 && limit.most == 0;
}

// A clock that is not lowered has no claim, and the power of a stream is its last capacity.
bool is_clock(const PlanClaim& claim) {
  const auto& [share, most] = *claim.clock;
  const bool limits_stream =
      claim.capacities.size() == claim.engines + 2 &&
      std::abs(claim.capacities.back() / kPicojoules / most - 1) <= kPlanClose;
  return share > 0 && share < 1 && most > 0 && (claim.mix.empty() || limits_stream);
}

// Finds weights, limits and capacities that are not those of the objective.
std::optional<std::string> wrong_question(const PlanClaim& claim) {
  for (const PlanLimit& limit : claim.limits) {
    if (!(limit.multiplier >= 0) || (!limit.is_of_latency() && !is_of_power(limit))) {
      return "a limit is neither of latency nor of mean power, or has a multiplier below 0";
    }
  }
  if (!claim.limits.empty() && claim.moves.size() != claim.plan.size()) {
    return "with limits, each group of the plan has its moves";
  }
  if (!is_weighed(claim)) {
    return "it weighs other figures than those of its objective";
  }
  if (claim.clock && !is_clock(claim)) {
    return "a clock has a share between 0 and 1, and the limit on power that the plan keeps";
  }
  if ((claim.objective == "throughput") == claim.mix.empty()) {
    return "a stream has a mix of plans, and a frame has none";
  }
  const std::size_t rows = claim.capacities.size();  // engines, memory, and power if it is limited
  if (!claim.mix.empty() &&
      ((rows != claim.engines + 1 && rows != claim.engines + 2) || claim.duals.size() != rows)) {
    return "a stream has a capacity and a dual of every engine and of the memory";
  }
  return std::nullopt;
}

bool has_control(const std::string& name) {
  return printable(name) != name || name.find_first_of("\t\n") != std::string::npos;
}

// Finds indices that are out of range, and prices that none has.
std::optional<std::string> damage(const PlanClaim& claim) {
  const auto within = [](const std::vector<std::size_t>& list, std::size_t limit) {
    return std::all_of(list.begin(), list.end(), [limit](std::size_t i) { return i < limit; });
  };
  const auto is_price = [&](const std::optional<PlanPrice>& price) {
    return !price || (price->latency >= 0 && price->energy >= 0 && price->bytes >= 0 &&
                      price->busy >= 0 && (!price->engine || *price->engine < claim.engines));
  };
  const auto are_prices = [&](const std::vector<std::optional<PlanPrice>>& prices) {
    return std::all_of(prices.begin(), prices.end(), is_price);
  };
  if (claim.engines > claim.places) {
    return "more engines than places";
  }
  if (has_control(claim.network) || has_control(claim.soc)) {
    return "a name has control characters";
  }
  for (const PlanTensor& tensor : claim.tensors) {
    if (!within(tensor.readers, claim.operations)) {
      return "a tensor is read by an operation that is not there";
    }
    if (!are_prices(tensor.moves)) {
      return "a move has a price below 0, or of an engine that is not there";
    }
  }
  std::size_t named = 0;
  for (const PlanGroup& group : claim.groups) {
    named += group.operations.size();
    if (group.operations.empty() || !within(group.operations, claim.operations) ||
        !within(group.reads, claim.tensors.size()) || !within(group.writes, claim.tensors.size()) ||
        group.on.size() != claim.places || group.anchor >= claim.operations) {
      return "a group has operations, tensors or places that are not there";
    }
    const auto& own = group.operations;
    if (std::find(own.begin(), own.end(), group.anchor) == own.end()) {
      return "a group stands at an operation that is not its own";
    }
    if (!are_prices(group.on)) {
      return "a group has a price below 0, or of an engine that is not there";
    }
  }
  if (claim.operations > named) {
    return "an operation is in no group";
  }
  auto wrong = wrong_question(claim);
  wrong = wrong || !claim.at_once ? wrong : wrong_engines(claim);
  return wrong || !claim.memory_limit ? wrong : wrong_needs(claim);
}

}  // namespace

bool is_plan_certificate(const std::string& text) {
  return text.starts_with("{\"plan_certificate\"");
}

PlanClaim load_plan_claim(const std::string& path) {
  std::ifstream file{path};
  return parse_plan_claim({std::istreambuf_iterator<char>{file}, {}}, path);
}

PlanClaim parse_plan_claim(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text).at("plan_certificate");
    PlanClaim claim = claim_of(json);
    auto wrong = damage(claim);
    wrong = wrong ? wrong : changed_mask(json, name);
    if (!wrong) {
      return claim;
    }
    throw ConfigError{{{name, 0, 0, "", *wrong, ""}}};
  } catch (const Json::exception& error) {
    throw ConfigError{{{name, 0, 0, "", fmt::format("no certificate of a plan: {}", error.what()),
                        "mapsim plan --certificate writes one"}}};
  }
}

}  // namespace mapsim::check
