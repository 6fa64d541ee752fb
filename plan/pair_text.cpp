// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "plan/pair.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

// Stretches of groups on one engine: "conv1 ... pool3".
struct Stretch {
  std::string first, last;
  std::size_t place = 0;
  double start = 0, end = 0;
};

std::vector<Stretch> stretches_of(const PlanAnswer& answer, const Plan& plan) {
  std::vector<Stretch> found;
  for (const PlannedGroup& each : plan.groups) {
    const auto& operations = answer.groups.all[each.group].operations;
    const double end = each.start + each.price.load.latency;
    const std::string& last = answer.operations.node(operations.back()).name;
    if (found.empty() || found.back().place != each.place) {
      found.push_back(
          {answer.operations.node(operations.front()).name, last, each.place, each.start, end});
    }
    found.back().last = last;
    found.back().end = std::max(found.back().end, end);
  }
  return found;
}

double end_of(const Plan& plan) {
  double end = 0;
  for (const PlannedGroup& each : plan.groups) {
    end = std::max(end, each.start + each.price.load.latency);
  }
  return end;
}

std::string tried_text(const PairAnswer& answer) {
  const std::string pairs = grouped(static_cast<std::int64_t>(answer.pairs));
  return answer.tried == answer.pairs
             ? fmt::format("{} pairs of plans tried", pairs)
             : fmt::format("{} of {} pairs of plans tried (--budget)",
                           grouped(static_cast<std::int64_t>(answer.tried)), pairs);
}

}  // namespace

std::string pair_text(const Soc& soc, const std::array<const Network*, 2>& networks,
                      const PairAnswer& answer) {
  std::string text =
      fmt::format("{} and {} on {}, at the same time\n  both done after {}\n", networks[0]->name,
                  networks[1]->name, soc.name, scaled(answer.makespan, "s"));
  constexpr double kRound = 1e-9;
  const double gap = answer.makespan / answer.bound - 1;
  text += gap < kRound ? "  no plans of these groups at these prices are done before\n"
                       : fmt::format(
                             "  no plans of these groups at these prices are done before "
                             "{} (gap {}); {}\n",
                             scaled(answer.bound, "s"), percent(gap), tried_text(answer));
  for (const PlanAnswer& network : answer.networks) {
    text += ended_early_text(network.searches);
  }
  text += fmt::format("  with many of both in flight: {} frames/s of each\n",
                      count_text(std::round(answer.rate)));
  std::vector<Row> rows{{"network", "done", "alone on the chip"}};
  for (std::size_t n = 0; n < 2; ++n) {
    rows.push_back({networks[n]->name, scaled(end_of(answer.plans[n]), "s"),
                    scaled(answer.networks[n].in_turn, "s")});
  }
  text += fmt::format("\n{}", table(rows));
  for (const PairAnswer::InTurn& each : answer.in_turn) {
    text +=
        fmt::format("  one behind the other on {}: {}\n", each.engine, scaled(each.makespan, "s"));
  }
  std::vector<Row> parts{{"network", "from", "to", "engine", "start", "end"}};
  for (std::size_t n = 0; n < 2; ++n) {
    for (const Stretch& each : stretches_of(answer.networks[n], answer.plans[n])) {
      parts.push_back({networks[n]->name, each.first, each.last,
                       name_of(soc, answer.networks[n].places, each.place), scaled(each.start, "s"),
                       scaled(each.end, "s")});
    }
  }
  return text + "\n" + table(parts);
}

std::string pair_json(const Provenance& origin, const Soc& soc,
                      const std::array<const Network*, 2>& networks, const PairAnswer& answer) {
  using Json = nlohmann::ordered_json;
  Json json = provenance_json(origin);
  json["soc"] = soc.name;
  json["latency_seconds"] = answer.makespan;
  json["bound_seconds"] = answer.bound;
  json["gap"] = answer.makespan / answer.bound - 1;
  json["frames_per_second_of_each"] = answer.rate;
  json["networks"] = Json::array();
  for (std::size_t n = 0; n < 2; ++n) {
    Json parts = Json::array();
    for (const Stretch& each : stretches_of(answer.networks[n], answer.plans[n])) {
      parts.push_back({{"from", each.first},
                       {"to", each.last},
                       {"place", name_of(soc, answer.networks[n].places, each.place)},
                       {"start_seconds", each.start},
                       {"end_seconds", each.end}});
    }
    json["networks"].push_back({{"name", networks[n]->name},
                                {"done_seconds", end_of(answer.plans[n])},
                                {"alone_seconds", answer.networks[n].in_turn},
                                {"statistics", layer_searches_json(answer.networks[n].searches)},
                                {"parts", std::move(parts)}});
  }
  json["in_turn"] = Json::array();
  for (const PairAnswer::InTurn& each : answer.in_turn) {
    json["in_turn"].push_back({{"engine", each.engine}, {"latency_seconds", each.makespan}});
  }
  return json.dump(2) + '\n';
}

}  // namespace mapsim
