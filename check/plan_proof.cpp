// SPDX-License-Identifier: Apache-2.0
#include "check/plan_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "check/mask_files.hpp"
#include "check/plan_at_once.hpp"
#include "check/plan_demands.hpp"
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

constexpr std::size_t kMostLabels = 5'000'000;

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

bool is_of_latency(const PlanLimit& limit) {
  return limit.of.latency == 1 && limit.of.energy == 0 && limit.of.bytes == 0 && limit.most >= 0;
}
// Energy less what the power gives in the time is at most 0.
bool is_of_power(const PlanLimit& limit) {
  return limit.of.latency <= 0 && limit.of.energy == 1 && limit.of.bytes == 0 && limit.most == 0;
}

std::string limits_text(const PlanClaim& claim) {
  constexpr double kPicojoules = 1e12;  // in a joule
  std::string text;
  for (const PlanLimit& limit : claim.limits) {
    text += text.empty() ? "" : " and ";
    text += is_of_latency(limit)
                ? fmt::format("a latency of {:.9g} s", limit.most)
                : fmt::format("a mean power of {:.9g} W", -limit.of.latency / kPicojoules);
  }
  return text;
}

// Finds weights, limits and capacities that are not those of the objective.
std::optional<std::string> wrong_question(const PlanClaim& claim) {
  for (const PlanLimit& limit : claim.limits) {
    if (!(limit.multiplier >= 0) || (!is_of_latency(limit) && !is_of_power(limit))) {
      return "a limit is neither of latency nor of mean power, or has a multiplier below 0";
    }
  }
  if (!claim.limits.empty() && claim.moves.size() != claim.plan.size()) {
    return "with limits, each group of the plan has its moves";
  }
  if (!is_weighed(claim)) {
    return "it weighs other figures than those of its objective";
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
    return "an engine has no place";
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
    if (!are_prices(group.on)) {
      return "a group has a price below 0, or of an engine that is not there";
    }
  }
  if (claim.operations > named) {
    return "an operation is in no group";
  }
  const auto wrong = wrong_question(claim);
  return wrong || !claim.at_once ? wrong : wrong_engines(claim);
}

// The resources that a plan takes: per engine, bytes and energy; and its value.
struct Walked {
  std::vector<double> loads;
  double value = 0, tie = 0;
  double latency = 0;
  std::string problem;
};

class Walk {
 public:
  Walk(const PlanClaim& claim, const PlanWeights& weights)
      : claim_{claim},
        weights_{weights},
        there_(claim.tensors.size()),
        covered_(claim.operations, false) {
    walked_.loads.resize(claim.engines + 2);
  }

  Walked run(const PlanChoices& plan) {
    for (std::size_t k = 0; k < plan.size(); ++k) {
      const auto& [group, place] = plan[k];
      if (group >= claim_.groups.size() || place >= claim_.places ||
          !claim_.groups[group].on[place]) {
        walked_.problem = "it runs a group where that does not run";
      }
      if (!walked_.problem.empty()) {
        return walked_;
      }
      step(claim_.groups[group], place, claim_.moves.empty() ? nullptr : &claim_.moves[k]);
    }
    if (std::find(covered_.begin(), covered_.end(), false) != covered_.end()) {
      walked_.problem = "an operation is in no group of it";
    }
    return walked_;
  }

 private:
  void add(const PlanPrice& price) {
    walked_.value += weights_.value(price);
    walked_.tie += claim_.ties.value(price);
    walked_.latency += price.latency;
    if (price.engine && *price.engine < claim_.engines) {
      walked_.loads[*price.engine] += price.busy;
    }
    walked_.loads[claim_.engines] += price.bytes;
    walked_.loads[claim_.engines + 1] += price.energy;
  }

  void step(const PlanGroup& group, std::size_t place, const PlanSources* sources) {
    for (const std::size_t i : group.operations) {
      if (covered_[i]) {
        walked_.problem = "an operation is in two groups of it";
      }
      covered_[i] = true;
    }
    for (const std::size_t tensor : group.reads) {
      fetch(tensor, place, sources);
    }
    add(*group.on[place]);
    for (const std::size_t tensor : group.writes) {
      there_[tensor] = {place};
    }
  }

  // From the cheapest place that has it, or the one that is named.
  void fetch(std::size_t tensor, std::size_t place, const PlanSources* sources) {
    std::vector<std::size_t>& there = there_[tensor];
    if (std::find(there.begin(), there.end(), place) != there.end()) {
      return;
    }
    const auto value = [this](const PlanPrice& price) {
      return PlanValue{weights_.value(price), claim_.ties.value(price)};
    };
    const PlanPrice* least = nullptr;
    for (const std::size_t from : there) {
      const bool may = sources == nullptr || std::find(sources->begin(), sources->end(),
                                                       std::pair{tensor, from}) != sources->end();
      const PlanPrice* move = move_of(claim_, tensor, from, place);
      if (may && move != nullptr && (least == nullptr || value(*move) < value(*least))) {
        least = move;
      }
    }
    if (least == nullptr) {
      walked_.problem = "a group reads a tensor that is not there, and has no way";
      return;
    }
    add(*least);
    there.push_back(place);
  }

  const PlanClaim& claim_;
  const PlanWeights& weights_;
  std::vector<std::vector<std::size_t>> there_;  // by tensor: places
  std::vector<bool> covered_;
  Walked walked_;
};

// Whether the plan keeps its limits, and none that does takes less.
void check_limits(const PlanClaim& claim, const Walked& walked, PlanVerdict& verdict) {
  const std::string most = "at most " + limits_text(claim);
  for (const PlanLimit& limit : claim.limits) {
    const double energy = walked.loads[claim.engines + 1];
    if (!limit.keeps(walked.latency, energy, kPlanClose)) {
      verdict.problems.push_back(
          fmt::format("the plan takes {:.9g} s and {:.9g} pJ, and is to take {}", walked.latency,
                      energy, most));
    }
  }
  const auto less = has_plan_below(claim, {claim.value, claim.tie}, kMostLabels, verdict.labels);
  if (!less) {
    verdict.unverified.push_back(
        "whether another plan that keeps the limits takes less: too many labels");
  } else if (*less) {
    verdict.problems.push_back("another plan keeps the limits and takes less");
  } else {
    verdict.verified.push_back(
        "no plan of these groups at these prices takes less, of those with " + most);
  }
}

void check_frame(const PlanClaim& claim, PlanVerdict& verdict) {
  const Walked walked = Walk{claim, claim.weights}.run(claim.plan);
  if (!walked.problem.empty()) {
    verdict.problems.push_back("the plan is none: " + walked.problem);
    return;
  }
  for (const auto& [takes, claimed] :
       {std::pair{walked.value, claim.value}, std::pair{walked.tie, claim.tie}}) {
    if (!is_close(takes, claimed)) {
      verdict.problems.push_back(
          fmt::format("the plan takes {:.9g}, where {:.9g} is claimed", takes, claimed));
    }
  }
  verdict.verified.push_back("the plan covers every operation once, and takes what is claimed");
  if (!claim.limits.empty()) {
    check_limits(claim, walked, verdict);
    return;
  }
  const auto least = least_plan(claim, claim.weights, claim.ties, kMostLabels, verdict.labels);
  if (!least) {
    verdict.unverified.push_back("whether another plan takes less: too many labels");
  } else if (least->first < claim.value * (1 - kPlanClose)) {
    verdict.problems.push_back(
        fmt::format("another plan takes {:.9g}, less than {:.9g}", least->first, claim.value));
  } else if (least->second < claim.tie * (1 - kPlanClose)) {
    verdict.problems.push_back(
        fmt::format("another plan takes as much, but of the other figure {:.9g}, less than {:.9g}",
                    least->second, claim.tie));
  } else {
    verdict.verified.push_back("no plan of these groups at these prices takes less");
  }
}

// Verifies the plans of a stream: the mix fits; its rate equals the value of the capacities at the
// duals; no plan is worth more than it costs.
void check_stream(const PlanClaim& claim, PlanVerdict& verdict) {
  std::vector<double> used(claim.engines + 2, 0);
  double rate = 0;
  for (const auto& [share, plan] : claim.mix) {
    const Walked walked = Walk{claim, claim.weights}.run(plan);
    if (!walked.problem.empty()) {
      verdict.problems.push_back("the mix has a plan that is not one: " + walked.problem);
      return;
    }
    if (!(share >= 0)) {
      verdict.problems.push_back("a plan of the mix runs at a rate below 0");
    }
    rate += share;
    for (std::size_t r = 0; r < used.size(); ++r) {
      used[r] += share * walked.loads[r];
    }
  }
  double worth = 0;
  for (std::size_t r = 0; r < claim.capacities.size() && r < used.size(); ++r) {
    worth += claim.capacities[r] * claim.duals.at(r);
    if (used[r] > claim.capacities[r] * (1 + kPlanClose) || claim.duals[r] < 0) {
      verdict.problems.push_back("the mix of plans takes more than there is");
    }
  }
  if (!is_close(rate, claim.value)) {
    verdict.problems.push_back("the rates of the mix have another sum than is claimed");
  }
  verdict.verified.push_back("the mix of plans fits, and its rates add up");
  PlanWeights weights;
  weights.busy.assign(claim.duals.begin(),
                      claim.duals.begin() + static_cast<std::ptrdiff_t>(claim.engines));
  weights.bytes = claim.duals.at(claim.engines);
  weights.energy = claim.duals.size() > claim.engines + 1 ? claim.duals[claim.engines + 1] : 0;
  const auto least = least_plan(claim, weights, {}, kMostLabels, verdict.labels);
  constexpr double kRound = 1e-6;  // of duals
  // Duals at which a plan costs nothing bound no mix.
  const double most = least && least->first > 0 ? worth / std::min(1.0, least->first) : HUGE_VAL;
  if (!least) {
    verdict.unverified.push_back("whether another mix gives more: too many labels");
  } else if (most > claim.value * (1 + kRound)) {
    verdict.problems.push_back(
        fmt::format("the duals bound it by {:.6g}, not by {:.6g}", most, claim.value));
  } else {
    verdict.verified.push_back("no mix of plans gives more (duals)");
  }
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

PlanVerdict check_plan(const PlanClaim& claim) {
  PlanVerdict verdict;
  if (claim.at_once) {
    const bool is_in_turn = claim.at_once->tasks.empty();
    const Walked walked = is_in_turn ? Walk{claim, claim.weights}.run(claim.plan) : Walked{};
    if (is_in_turn && (!walked.problem.empty() || !is_close(walked.value, claim.value))) {
      verdict.problems.push_back("the plan is none, or takes another time than is claimed");
    }
    check_at_once(claim, verdict);
  } else if (claim.mix.empty()) {
    check_frame(claim, verdict);
  } else {
    check_stream(claim, verdict);
  }
  if (!claim.buffers.empty() || claim.peak > 0 || claim.alive > 0) {
    check_memory(claim, verdict);
  }
  verdict.unverified.push_back("the prices of groups: mapsim search --certificate proves a layer");
  return verdict;
}

}  // namespace mapsim::check
