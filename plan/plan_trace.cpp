// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicroseconds = 1e6;  // in a second; the unit of trace events

Json row_json(std::size_t row, const std::string& name) {
  return {
      {"ph", "M"}, {"name", "thread_name"}, {"pid", 1}, {"tid", row}, {"args", {{"name", name}}}};
}

Json event_json(std::size_t row, const std::string& name, double start, const Load& load) {
  return {{"ph", "X"},
          {"name", name},
          {"pid", 1},
          {"tid", row},
          {"ts", start * kMicroseconds},
          {"dur", load.latency * kMicroseconds},
          {"args", {{"energy_pj", load.energy}, {"memory_bytes", load.bytes}}}};
}

// Bytes of the tensors that are alive in a step.
std::int64_t alive_in(const MemoryMap& memory, std::size_t step) {
  std::int64_t bytes = 0;
  for (const Buffer& each : memory.buffers) {
    bytes += each.first <= step && step <= each.last ? each.bytes : 0;
  }
  return bytes;
}

}  // namespace

std::string plan_trace(const Soc& soc, const Network& network, const PlanAnswer& answer) {
  Json events = Json::array();
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", 1},
                    {"args", {{"name", network.name + " on " + soc.name}}}});
  std::vector<std::size_t> first_row;  // by engine: of its first copy
  std::size_t transitions = 0;
  for (const Engine& engine : soc.engines) {
    first_row.push_back(transitions);
    for (std::int64_t copy = 1; copy <= engine.count; ++copy) {
      events.push_back(row_json(transitions++, engine.count == 1
                                                   ? engine.name
                                                   : engine.name + " " + std::to_string(copy)));
    }
  }
  events.push_back(row_json(transitions, "transitions"));
  for (std::size_t step = 0; step < answer.plan.groups.size(); ++step) {
    const PlannedGroup& each = answer.plan.groups[step];
    for (const PlannedMove& move : each.moves) {
      events.push_back(event_json(transitions,
                                  answer.operations.graph->tensors[move.move.tensor].name,
                                  move.start, move.load));
    }
    std::string name;
    for (const std::size_t i : answer.groups.all[each.group].operations) {
      name += (name.empty() ? "" : " + ") + answer.operations.node(i).name;
    }
    events.push_back(event_json(first_row[answer.places[each.place].engine] + each.copy, name,
                                each.start, each.price.load));
    events.push_back({{"ph", "C"},
                      {"name", "tensors [B]"},
                      {"pid", 1},
                      {"ts", each.start * kMicroseconds},
                      {"args", {{"alive", alive_in(answer.memory, step)}}}});
  }
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump(1) + '\n';
}

}  // namespace mapsim
